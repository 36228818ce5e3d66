"""Tuples with one value of each part, fairly interleaved."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from otf.values.flat import Flat
from otf.values.tiers import Tiers


class Alone(Tiers):
    """The values as tuples of one."""

    kinds: frozenset[type] | None = frozenset({tuple})

    def __init__(self, part: Tiers) -> None:
        super().__init__()
        self.parts: tuple[Tiers, ...] = (part,)

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the values of this size, each alone."""
        tier = self.parts[0].make(size)
        return None if tier is None else [(value,) for value in tier]


class Both(Tiers):
    """Tuples put together from a left and a right part; the size is the sum."""

    kinds: frozenset[type] | None = frozenset({tuple})

    def __init__(self, left: Tiers, right: Tiers) -> None:
        super().__init__()
        self.parts: tuple[Tiers, ...] = (left, right)

    def make(self, size: int) -> Iterable[Any] | None:
        """Return small left parts with large right ones first: a u, a v, b u, a w, b v, c u."""
        left, right = self.parts
        lefts, rights = left.upto(size), right.upto(size)
        low, high = max(0, size + 1 - len(rights)), min(size + 1, len(lefts))
        if low >= high:
            return None
        others = rights[size + 1 - high : size + 1 - low]
        others.reverse()
        return (
            one + other for ones, more in zip(lefts[low:high], others, strict=True) for one in ones for other in more
        )


def together(parts: list[Tiers]) -> Tiers:
    """Return the tuples with one value of each part.

    Two halves of a long tuple are remembered instead of all but one of its parts: their number is the square root.
    """
    if not parts:
        return Flat([()], frozenset({tuple}), finite=True)
    if len(parts) == 1:
        return Alone(parts[0])
    half = len(parts) // 2
    return Both(together(parts[:half]), together(parts[half:]))
