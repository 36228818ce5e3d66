"""Values grouped by size: one tier for each size, made when it is asked for.

The idea is that of Koopman and Plasmeijer, "Testing with Functions as Specifications", section 2.3 (small before
large, fairly interleaved, none twice), ordered by sizes that add up, as in LeanCheck. Sizes that add up make the order
fair for any number of arguments, and let a recursive type be built from its own smaller values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, TypeAlias

Tier: TypeAlias = list[Any]


class Tiers(ABC):
    """The values of a type by size.

    `kinds` are the exact types that its values may have; None: unknown. `parts` are the tiers that it is made of. What
    is said of the tiers alone, without their parts: `fixed`, the values cannot change; `builds`, each is a new object;
    `passes_on`, they are the very values of the parts; `endless`, they have no end; `complete`, there are no others.
    """

    kinds: frozenset[type] | None = None
    parts: tuple[Tiers, ...] = ()
    fixed: bool = True
    builds: bool = False
    passes_on: bool = False
    endless: bool = False
    complete: bool = True

    def __init__(self) -> None:
        self._made: list[Tier] = []
        self._ended = False

    @abstractmethod
    def make(self, size: int) -> Iterable[Any] | None:
        """Return the values of one size, in order; None where no value is of this size or of a larger one.

        A type that contains itself asks for its own smaller values here: whatever holds a part is larger than it.
        """

    def upto(self, size: int) -> list[Tier]:
        """Return the tiers from 0 to `size` (more, if more were made; fewer, if there are no more)."""
        while len(self._made) <= size and not self._ended:
            tier = self.make(len(self._made))
            if tier is None:
                self._ended = True
            else:
                self._made.append(list(tier))
        return self._made

    def walk(self) -> Iterator[Any]:
        """Return all values, tier after tier."""
        return chain.from_iterable(self.tiers())

    def tiers(self) -> Iterator[Iterable[Any]]:
        """Yield one tier after the other."""
        size = 0
        while (tier := self.make(size)) is not None:
            yield tier
            size += 1

    def has_value(self, known: Callable[[Tiers], bool]) -> bool:
        """Tell whether there is a value, if there are values of those parts for which `known` is true."""
        return all(map(known, self.parts))


class Flat(Tiers):
    """A row of values, each as large as its place in the row."""

    def __init__(
        self,
        values: Iterable[Any],
        kinds: frozenset[type] | None = None,
        *,
        finite: bool = False,
        fixed: bool = True,
        complete: bool = True,
    ) -> None:
        super().__init__()
        self.kinds = kinds
        self._values = iter(values)
        self._row: Tier = []
        self.endless: bool = not finite
        self.fixed: bool = fixed
        self.complete: bool = complete

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the value at one place of the row."""
        # a tier may be asked for more than once: the row is read once and kept
        while size >= len(self._row):
            if not self._read_on():
                return None
        return self._row[size : size + 1]

    def walk(self) -> Iterator[Any]:
        """Yield the row; with a tier for each value it would take three times as long."""
        row, place = self._row, 0
        while place < len(row) or self._read_on():
            yield row[place]
            place += 1

    def _read_on(self) -> bool:
        for value in self._values:
            self._row.append(value)
            return True
        return False

    def has_value(self, known: Callable[[Tiers], bool]) -> bool:  # noqa: ARG002 -- a row has no parts
        """Tell whether the row has a first value."""
        return self.make(0) is not None


def everything(tiers: Tiers) -> list[Tiers]:
    """Return tiers and all that they are made of, each once."""
    found: dict[int, Tiers] = {}
    left = [tiers]
    while left:
        each = left.pop()
        if id(each) not in found:
            found[id(each)] = each
            left += each.parts
    return list(found.values())


def is_fixed(tiers: Tiers) -> bool:
    """Tell whether values cannot change, so that one object may serve many times."""
    return all(each.fixed for each in everything(tiers))


def is_anew(tiers: Tiers) -> bool:
    """Tell whether nobody else can change a value that `make` hands out: it cannot change, or it was made for that."""
    if tiers.passes_on:
        return all(map(is_anew, tiers.parts))
    return all(map(is_fixed, tiers.parts)) and (tiers.fixed or tiers.builds)


def is_complete(tiers: Tiers) -> bool:
    """Tell whether there is no other value when they have ended."""
    return all(each.complete for each in everything(tiers))


def is_finite(tiers: Tiers) -> bool:
    """Tell whether they are known to end; what holds itself does not."""
    ending = _least(tiers, lambda each, known: not each.endless and all(map(known, each.parts)))
    return id(tiers) in ending


def filled(tiers: Tiers) -> set[int]:
    """Return the ids of all parts that have a value: one that can be finished without another of the same type."""
    return _least(tiers, lambda each, known: each.has_value(known))


def _least(tiers: Tiers, rule: Callable[[Tiers, Callable[[Tiers], bool]], bool]) -> set[int]:
    """Return the ids of the parts for which a rule holds that asks about their own parts, if only these are known."""
    found = set[int]()
    before = -1
    parts = list(reversed(everything(tiers)))
    while len(found) > before:
        before = len(found)
        found.update(id(each) for each in parts if rule(each, lambda part: id(part) in found))
    return found
