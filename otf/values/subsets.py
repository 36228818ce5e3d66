"""Sets and tables of values: each element costs its own size and one more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any

from otf.errors import UsageError
from otf.values.text import show
from otf.values.tiers import Tier, Tiers
from otf.values.tuples import Powers


class Subsets(Tiers):
    """Sets of values as tuples; none has two values that Python takes for equal."""

    kinds: frozenset[type] | None = frozenset({tuple})

    def __init__(self, part: Tiers, where: str, least: int = 0, most: int | None = None) -> None:
        super().__init__()
        self.parts: tuple[Tiers, ...] = (part,)
        self.least: int = least
        self._where, self._most = where, most
        self._whole = [0]  # what all elements of the first tiers cost together

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the sets that cost this much, those with a large element first."""
        tiers = self.parts[0].upto(size - 1)[:size]
        for at in range(len(self._whole) - 1, len(tiers)):
            self._whole.append(self._whole[at] + (at + 1) * len(tiers[at]))
        most = size if self._most is None else self._most
        if len(tiers) < size and size > self._reach(len(tiers), most):
            return None
        return (each for each in self._choose(tiers, len(tiers), size, most) if self._fits(each))

    def has_value(self, known: Callable[[Tiers], bool]) -> bool:
        """Tell whether the empty one is allowed, or there is an element."""
        return not self.least or super().has_value(known)

    def _reach(self, below: int, most: int) -> int:
        """Return what the most costly choice from the first `below` tiers costs, or a little more."""
        return min(self._whole[below], below * most)

    def _choose(self, tiers: list[Tier], below: int, budget: int, most: int) -> Iterator[tuple[Any, ...]]:
        """Yield the choices from the first `below` tiers that use up the budget with at most so many elements."""
        if not budget:
            yield ()
        for at in range(min(below, budget) - 1, -1, -1):
            if budget > self._reach(at + 1, most):
                return  # nor can still smaller elements use it up
            for count in range(1, min(len(tiers[at]), budget // (at + 1), most) + 1):
                for rest in self._choose(tiers, at, budget - count * (at + 1), most - count):
                    for chosen in combinations(tiers[at], count):
                        yield rest + chosen

    def _fits(self, chosen: tuple[Any, ...]) -> bool:
        try:
            # Python has True == 1: the set of both would be the set of one of them
            return len(chosen) >= self.least and len(set(chosen)) == len(chosen)
        except TypeError as error:
            message = f"{self._where}: {show(chosen[0])} cannot be in a set or be a key: {error}; use a frozen type"
            raise UsageError(message) from error


class Tables(Tiers):
    """Pairs of a tuple of keys and a tuple of as many values."""

    kinds: frozenset[type] | None = frozenset({tuple})

    def __init__(self, keys: Subsets, values: Tiers) -> None:
        super().__init__()
        self.parts: tuple[Tiers, ...] = (keys, values)
        self._powers, self._least = Powers(values), keys.least
        self._largest: int | None = None

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the tables of this size, those with small keys first."""
        keys, values = self.parts[0].upto(size), self.parts[1].upto(size - 1)
        if len(keys) <= size and (len(values) < size or not _some(keys)) and size > self._end(keys, len(values)):
            return None
        return self._fill(keys[: size + 1], size) if values or not size else None

    def has_value(self, known: Callable[[Tiers], bool]) -> bool:
        """Tell whether the empty one is allowed, or there is an entry."""
        return not self._least or super().has_value(known)

    def _fill(self, keys: list[Tier], size: int) -> Iterator[tuple[Any, Any]]:
        for cost, tier in enumerate(keys):
            for chosen in tier:
                for row in self._powers[len(chosen)].make(size - cost) or ():
                    yield chosen, row

    def _end(self, keys: list[Tier], values: int) -> int:
        """Return the size of the largest table, once all keys and values are known."""
        if self._largest is None:
            sizes = (cost + len(chosen) * (values - 1) for cost, tier in enumerate(keys) for chosen in tier)
            self._largest = max(sizes, default=-1)
        return self._largest


def _some(keys: list[Tier]) -> bool:
    """Tell whether there is a set of keys that is not empty."""
    return any(chosen for tier in keys for chosen in tier)
