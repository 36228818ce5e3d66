"""What a model gives is counted: one that never ends is told, instead of filling the memory without a word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from otf.errors import ModelError

T = TypeVar("T")

TRANSITIONS: Final = 10_000
"""Transitions of one answer at most, each with its alternatives."""

INPUTS: Final = 100_000
"""Inputs that are worth trying in one state at most."""


def limited(items: Iterable[T], most: int, what: str) -> Iterator[T]:
    """Yield the items. Raises ModelError instead of the one that is more than `most`.

    >>> list(limited("abc", 3, "letters"))
    ['a', 'b', 'c']
    """
    for number, item in enumerate(items):
        if number >= most:
            message = f"more than {most:,} {what}: it seems never to end"
            raise ModelError(message)
        yield item
