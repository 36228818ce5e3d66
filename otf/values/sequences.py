"""Tuples of any length: each element costs its own size and one more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from otf.values.flat import Flat
from otf.values.tiers import Tiers
from otf.values.tuples import Alone, Both


class Powers:
    """Tuples of a given length with values of one part; each length is put together from two half as long."""

    def __init__(self, part: Tiers) -> None:
        self._known: list[Tiers] = [Flat([()], finite=True), Alone(part)]

    def __getitem__(self, length: int) -> Tiers:
        """Return the tuples of this length."""
        while len(self._known) <= length:
            half = len(self._known) // 2
            self._known.append(Both(self._known[half], self._known[len(self._known) - half]))
        return self._known[length]


class Sequences(Tiers):
    """Tuples of any length within bounds; among those of one size the short ones come first."""

    kinds: frozenset[type] | None = frozenset({tuple})

    def __init__(self, part: Tiers, least: int = 0, most: int | None = None) -> None:
        super().__init__()
        self.parts: tuple[Tiers, ...] = (part,)
        self._powers, self._least, self._most = Powers(part), least, most
        self.endless: bool = most is None

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the tuples of this size, by length."""
        longest = size if self._most is None else min(size, self._most)
        lengths = range(self._least, longest + 1)
        tiers = [tier for length in lengths if (tier := self._powers[length].make(size - length)) is not None]
        # while a tuple may still become longer, one of as many smallest elements is always there
        return chain.from_iterable(tiers) if tiers or size < self._least else None

    def has_value(self, known: Callable[[Tiers], bool]) -> bool:
        """Tell whether the empty one is allowed, or there is an element."""
        return not self._least or super().has_value(known)
