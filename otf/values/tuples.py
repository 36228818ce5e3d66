"""Tuples: with one value of each part, fairly interleaved, and of any length."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from otf.values.tiers import Flat, Tiers


class Alone(Tiers):
    """The values of another type, each as a tuple of one element."""

    kinds: frozenset[type] | None = frozenset({tuple})

    def __init__(self, part: Tiers) -> None:
        super().__init__()
        self.parts: tuple[Tiers, ...] = (part,)

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the values of this size, each as a tuple."""
        tier = self.parts[0].make(size)
        return None if tier is None else [(value,) for value in tier]


class Both(Tiers):
    """Tuples that join one of a left and one of a right part; their sizes add up."""

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

    The two halves of a long tuple are remembered, and not all but one of its parts: their number is the square root.
    """
    if not parts:
        return Flat([()], frozenset({tuple}), finite=True)
    if len(parts) == 1:
        return Alone(parts[0])
    half = len(parts) // 2
    return Both(together(parts[:half]), together(parts[half:]))


class Powers:
    """Tuples of a given length with values of one part; each length is joined from two halves."""

    def __init__(self, part: Tiers) -> None:
        self._known: list[Tiers] = [Flat([()], finite=True), Alone(part)]

    def __getitem__(self, length: int) -> Tiers:
        """Return the tuples of this length."""
        while len(self._known) <= length:
            half = len(self._known) // 2
            self._known.append(Both(self._known[half], self._known[len(self._known) - half]))
        return self._known[length]


class Sequences(Tiers):
    """Tuples of any length within bounds; an element adds its size and one. Within a size, short ones come first."""

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
        # as long as a tuple may become longer, one of smallest elements always has this size
        return chain.from_iterable(tiers) if tiers or size < self._least else None

    def has_value(self, known: Callable[[Tiers], bool]) -> bool:
        """Return whether the empty tuple is allowed, or there is an element."""
        return not self._least or super().has_value(known)
