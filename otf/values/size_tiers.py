"""Values grouped by size: one tier for each size, made on demand.

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

    `kinds` are the exact types of the values; None: unknown. `parts` are the tiers from which they are made. The other
    attributes describe the tiers alone, without their parts: `fixed`, the values are immutable; `builds`, each value is
    a new object; `passes_on`, the values are those of the parts; `endless`, they have no end; `complete`, the type has
    no others.
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
        """Return the values of one size, in order; None if no value has this size or a larger one.

        A type that contains itself reads its own smaller values here: a whole is larger than its part.
        """

    def upto(self, size: int) -> list[Tier]:
        """Return the tiers from 0 to `size`: more if more have been made, fewer if there are no more."""
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
        """Return whether there is a value, given that the parts for which `known` is true have values."""
        return all(map(known, self.parts))


class Flat(Tiers):
    """A row of values; the size of each is its position in the row.

    The flags are those of `Tiers`. For the values of an iterable, `given` returns an enumeration.

    >>> row = Flat("abc", finite=True)
    >>> row.upto(1), list(row.walk())
    ([['a'], ['b']], ['a', 'b', 'c'])
    """

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
        """Return the value at one position of the row."""
        # a tier may be read more than once: the row is read once and kept
        while size >= len(self._row):
            if not self._read_on():
                return None
        return self._row[size : size + 1]

    def walk(self) -> Iterator[Any]:
        """Yield the row; through one tier for each value it would take three times as long."""
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
        """Return whether the row has a first value."""
        return self.make(0) is not None


# What is true of tiers together with all their parts. A type may contain itself, and a dozen classes each other: so a
# part is visited once, and not once for each path to it.


def everything(tiers: Tiers) -> list[Tiers]:
    """Return tiers and all their parts, direct and indirect, each once."""
    found: dict[int, Tiers] = {}
    left = [tiers]
    while left:
        each = left.pop()
        if id(each) not in found:
            found[id(each)] = each
            left += each.parts
    return list(found.values())


def is_fixed(tiers: Tiers) -> bool:
    """Return whether the values are immutable, so that one object may serve many times."""
    return all(each.fixed for each in everything(tiers))


def is_anew(tiers: Tiers) -> bool:
    """Return whether each value that `make` returns is safe from changes: it is immutable, or a new object."""
    if tiers.passes_on:
        return all(map(is_anew, tiers.parts))
    return all(map(is_fixed, tiers.parts)) and (tiers.fixed or tiers.builds)


def is_complete(tiers: Tiers) -> bool:
    """Return whether the type has no other values."""
    return all(each.complete for each in everything(tiers))


def is_finite(tiers: Tiers) -> bool:
    """Return whether the values are known to end; those of a type that contains itself do not."""
    ending = _least(tiers, lambda each, known: not each.endless and all(map(known, each.parts)))
    return id(tiers) in ending


def filled(tiers: Tiers) -> set[int]:
    """Return the ids of all parts that have a value, which must not need another value of the same type."""
    return _least(tiers, lambda each, known: each.has_value(known))


def _least(tiers: Tiers, rule: Callable[[Tiers, Callable[[Tiers], bool]], bool]) -> set[int]:
    """Return the ids of the least set of parts that a rule gives, where the rule of a part depends on its own parts."""
    found = set[int]()
    before = -1
    parts = list(reversed(everything(tiers)))
    while len(found) > before:
        before = len(found)
        found.update(id(each) for each in parts if rule(each, lambda part: id(part) in found))
    return found
