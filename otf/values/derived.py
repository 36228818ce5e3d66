"""Values derived from those of other types: mapped, filtered, united, records, tuples."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import chain
from typing import Any, Final

from otf.errors import UsageError
from otf.values.enumeration import Flat, Tier, Tiers

PATIENCE: Final = 1_000_000  # values that may fail a condition in a row before the search gives up


class Mapped(Tiers):
    """The results of a function on the values of another type; each result has the size of its argument."""

    builds = True

    def __init__(
        self, part: Tiers, function: Callable[[Any], Any], kind: type | None = None, *, fixed: bool = True
    ) -> None:
        super().__init__(part)
        self.kinds: frozenset[type] | None = None if kind is None else frozenset({kind})
        self.fixed: bool = fixed
        self._function = function

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the results for the values of this size."""
        tier = self.parts[0].make(size)
        return None if tier is None else map(self._function, tier)


class Filtered(Tiers):
    """Those values of another type that meet a condition, each with the same size as there."""

    passes_on = True

    def __init__(self, part: Tiers, meets: Callable[[Any], bool], where: str) -> None:
        super().__init__(part)
        self.kinds: frozenset[type] | None = part.kinds
        self._meets, self._where = meets, where
        self._missed = 0

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the values of this size that meet the condition."""
        tier = self.parts[0].make(size)
        return None if tier is None else self._that_meet(tier)

    def _that_meet(self, tier: Iterable[Any]) -> Iterator[Any]:
        for value in tier:
            if self._meets(value):
                self._missed = 0
                yield value
                continue
            self._missed += 1
            if self._missed > PATIENCE:
                message = f"{self._where}: {PATIENCE:,} values in a row failed the condition; give its values by hand"
                raise UsageError(message)


class Once(Tiers):
    """The values of another type without repetitions; two values are equal if `name` returns equal results for both."""

    def __init__(self, part: Tiers, name: Callable[[Any], Hashable]) -> None:
        super().__init__(part)
        self.kinds: frozenset[type] | None = part.kinds
        self._name = name
        self._seen = set[Hashable]()
        self._new: list[Tier] = []

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the values that are new at this size."""
        # a tier may be read more than once, so the new values are found once, in order, and kept
        tiers = self.upto(size)
        return tiers[size] if size < len(tiers) else None

    def upto(self, size: int) -> list[Tier]:
        """Return the tiers from 0 to `size`, with only the new values of each."""
        while len(self._new) <= size and (tier := self.parts[0].make(len(self._new))) is not None:
            self._new.append([value for value in tier if self._is_new(value)])
        return self._new

    def _is_new(self, value: object) -> bool:
        before = len(self._seen)
        self._seen.add(self._name(value))
        return len(self._seen) > before


class UnionTiers(Tiers):
    """The values of several types together: one tier of each type in turn. A tier has all values of one size."""

    passes_on = True

    def __init__(self, parts: Iterable[Tiers]) -> None:
        super().__init__(*parts)
        kinds = [part.kinds for part in self.parts if part.kinds is not None]
        self.kinds: frozenset[type] | None = frozenset[type]().union(*kinds) if len(kinds) == len(self.parts) else None

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the values of this size from all parts."""
        tiers = [tier for part in self.parts if (tier := part.make(size)) is not None]
        return chain.from_iterable(tiers) if tiers else None

    def has_value(self, known: Callable[[Tiers], bool]) -> bool:
        """Return whether one of the parts has a value."""
        return any(map(known, self.parts))


class RecordTiers(Tiers):
    """The instances of a class: the size of each is that of its arguments plus one, so a class may contain itself.

    A class without arguments has one value, of size 0. If the class raises ValueError for some arguments, these make no
    value.
    """

    builds = True

    def __init__(self, kind: type | None, *, frozen: bool) -> None:
        super().__init__()
        self.kinds: frozenset[type] | None = None if kind is None else frozenset({kind})
        self.fixed = frozen
        self._build: Callable[..., Any] = tuple
        self._cost = 0

    def hold(self, rows: Tiers, build: Callable[..., Any], cost: int) -> None:
        """Set the rows of arguments and the function that builds a value; later, as rows may contain this record."""
        self.parts = (rows,)
        self._build, self._cost = build, cost

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the values of this size."""
        if size < self._cost:
            return ()
        rows = self.parts[0].make(size - self._cost)
        return None if rows is None else self._build_all(rows)

    def _build_all(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        for row in rows:
            try:
                value = self._build(*row)
            except ValueError:
                continue
            yield value


class RecursiveTiers(Tiers):
    """A record type at a place inside itself, where it gives only values made before, so that none is made twice."""

    def __init__(self, record: RecordTiers) -> None:
        super().__init__(record)
        self.kinds: frozenset[type] | None = record.kinds

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the values of this size that were made before."""
        tiers = self.parts[0].upto(size)
        return tiers[size] if size < len(tiers) else None


def alone(part: Tiers) -> Tiers:
    """Return the values of another type, each as a tuple of one element."""
    return Mapped(part, lambda value: (value,), tuple)


class Both(Tiers):
    """Tuples that join a left and a right tuple; the size is the sum of both sizes."""

    kinds: frozenset[type] | None = frozenset({tuple})

    def __init__(self, left: Tiers, right: Tiers) -> None:
        super().__init__(left, right)

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
    """Return all tuples that combine one value from each part.

    For a long tuple, `together` keeps all first halves and all second halves in memory. The number of halves is about
    the square root of the number of tuples, so `together` needs little memory.
    """
    if not parts:
        return Flat([()], frozenset({tuple}), finite=True)
    if len(parts) == 1:
        return alone(parts[0])
    half = len(parts) // 2
    return Both(together(parts[:half]), together(parts[half:]))


class Powers:
    """Tuples of a given length, whose elements all have one type; each tuple is made of two halves."""

    def __init__(self, part: Tiers) -> None:
        self._known: list[Tiers] = [Flat([()], finite=True), alone(part)]

    def __getitem__(self, length: int) -> Tiers:
        """Return the tuples of this length."""
        while len(self._known) <= length:
            half = len(self._known) // 2
            self._known.append(Both(self._known[half], self._known[len(self._known) - half]))
        return self._known[length]


class Sequences(Tiers):
    """Tuples of any length within bounds; each element adds its size plus one. Of equal size, short ones come first."""

    kinds: frozenset[type] | None = frozenset({tuple})

    def __init__(self, part: Tiers, least: int = 0, most: int | None = None) -> None:
        super().__init__(part)
        self._powers, self._least, self._most = Powers(part), least, most
        self.endless: bool = most is None

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the tuples of this size, by length."""
        longest = size if self._most is None else min(size, self._most)
        lengths = range(self._least, longest + 1)
        tiers = [tier for length in lengths if (tier := self._powers[length].make(size - length)) is not None]
        # as long as tuples may grow, some tuple of smallest elements has this size
        return chain.from_iterable(tiers) if tiers or size < self._least else None

    def has_value(self, known: Callable[[Tiers], bool]) -> bool:
        """Return whether the empty tuple is allowed, or an element exists."""
        return not self._least or super().has_value(known)
