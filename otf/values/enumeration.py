"""An enumeration: all values of a type, small before large, none twice. It makes one tier per size, on demand.

The idea is from Koopman and Plasmeijer, "Testing with Functions as Specifications", section 2.3 (small before large,
fairly interleaved, none twice), with sizes that add up, as in LeanCheck. Such sizes keep the order fair for any number
of arguments, and let a recursive type be built from its own smaller values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sized
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeGuard, TypeVar

from otf.errors import UsageError
from otf.values.identity import fingerprint, fresh
from otf.values.strategies import drawn, is_strategy, strategy_of
from otf.values.text import show

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Tier: TypeAlias = list[Any]


class Tiers(ABC):
    """The values of a type by size: tier number n has all values of size n.

    `kinds` are the exact types of the values (None: unknown). `parts` are the tiers whose values these values are made
    from. The other attributes describe these tiers without their parts. `fixed`: the values are immutable; `builds`:
    each value is a new object; `passes_on`: the values are the same objects as those of the parts; `endless`: there are
    infinitely many values; `complete`: the type has no other values.
    """

    kinds: frozenset[type] | None = None
    fixed: bool = True
    builds: bool = False
    passes_on: bool = False
    endless: bool = False
    complete: bool = True

    def __init__(self, *parts: Tiers) -> None:
        self.parts: tuple[Tiers, ...] = parts
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
    """A list of values in which the size of each value is its position.

    `Tiers` explains the flags. To enumerate the values of an iterable, call `given`.

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
        """Return the value at position `size` of the list."""
        # a tier may be read more than once, so the row is read once and kept
        while size >= len(self._row):
            if not self._read_on():
                return None
        return self._row[size : size + 1]

    def walk(self) -> Iterator[Any]:
        """Yield the values of the list."""
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
        """Return whether the list has a first value."""
        return self.make(0) is not None


# Properties of tiers together with all their parts. Types may contain themselves and each other, so each part is
# visited once, not once per path to it.


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
    """Return whether the values are immutable, so that one object can be used many times."""
    return all(each.fixed for each in everything(tiers))


def is_anew(tiers: Tiers) -> bool:
    """Return whether no caller can change a value that another caller gets: each is immutable, or a new object."""
    if tiers.passes_on:
        return all(map(is_anew, tiers.parts))
    return all(map(is_fixed, tiers.parts)) and (tiers.fixed or tiers.builds)


def is_complete(tiers: Tiers) -> bool:
    """Return whether these tiers hold all values of their type."""
    return all(each.complete for each in everything(tiers))


def is_finite(tiers: Tiers) -> bool:
    """Return whether the values are known to be finite in number; those of a type that contains itself are not."""
    ending = _least(tiers, lambda each, known: not each.endless and all(map(known, each.parts)))
    return id(tiers) in ending


def filled(tiers: Tiers) -> set[int]:
    """Return the ids of all parts that have at least one value which contains no value of its own type."""
    return _least(tiers, lambda each, known: each.has_value(known))


def _least(tiers: Tiers, rule: Callable[[Tiers, Callable[[Tiers], bool]], bool]) -> set[int]:
    """Return the ids of the least set of parts closed under a rule; the rule for a part depends on its own parts."""
    found = set[int]()
    before = -1
    parts = list(reversed(everything(tiers)))
    while len(found) > before:
        before = len(found)
        found.update(id(each) for each in parts if rule(each, lambda part: id(part) in found))
    return found


T = TypeVar("T")
OFFERED: Final = 10_000  # the most values that a Hypothesis strategy chooses from
BLOCK: Final = 65_536  # the most values of a shuffled block
_MASK: Final = 2**64 - 1


@dataclass(frozen=True, eq=False)
class Enumeration(Generic[T]):
    """The values of a type, each made only when needed; `every`, `enumerated` and `given` return an `Enumeration`.

    Each iteration over an `Enumeration` starts at the first value, with fresh copies of mutable values. The `tiers` are
    groups of values of equal size, smallest first. The `origin` is the Hypothesis strategy that generated the values,
    or None.

    >>> from otf.values import every
    >>> numbers = every(int)
    >>> numbers.first(4), numbers.at(5), numbers.finite
    ([0, 1, -1, 2], 3, False)
    """

    tiers: Tiers
    origin: SearchStrategy[T] | None = None

    def __iter__(self) -> Iterator[T]:
        """Yield the values in their order."""
        values = self.tiers.walk()
        return values if is_anew(self.tiers) else map(fresh, values)

    @property
    def finite(self) -> bool:
        """Return whether the number of values is known to be finite."""
        return is_finite(self.tiers)

    @property
    def complete(self) -> bool:
        """Return whether the enumeration contains all values of the type."""
        return is_complete(self.tiers)

    def sized(self) -> Iterator[tuple[int, T]]:
        """Yield the values in their order, each with its size."""
        return ((size, fresh(value)) for size, tier in enumerate(self.tiers.tiers()) for value in tier)

    def first(self, number: int) -> list[T]:
        """Return the first values, at most `number`."""
        return list(islice(self, number))

    def at(self, place: int) -> T:
        """Return a fresh copy of the value at position `place`; raise StopIteration after the last value."""
        return next(islice(self, place, None))

    def placed(self, seed: int | None = None) -> Iterator[tuple[int, T]]:
        """Yield each value with its position; with a `seed`, shuffle the values within blocks (see `block_start`)."""
        return enumerate(self) if seed is None else perturbed(self, seed)

    def strategy(self, most: int = OFFERED) -> SearchStrategy[T]:
        """Return a Hypothesis strategy for these values.

        If `origin` is None, the strategy draws from the first `most` values and shrinks towards the first value.
        """
        return strategy_of(self.first(most)) if self.origin is None else self.origin


def given(source: Any, where: str) -> Enumeration[Any]:  # noqa: ANN401 -- any source of a user
    """Return the values of an iterable, in its order, or the values that a Hypothesis strategy generates.

    `given` returns an `Enumeration` unchanged. Error messages begin with `where`. `given` raises UsageError for any
    other kind of source.

    >>> list(given([3, 1, 3], "sizes"))
    [3, 1]
    """
    if is_enumeration(source):
        return source
    if is_strategy(source):
        return Enumeration(Flat(drawn(source), fixed=False, complete=False), source)
    if _is_iterable(source):
        return Enumeration(Flat(distinct(source), finite=isinstance(source, Sized), fixed=False))
    message = f"{where}: {show(source)} gives no values: give a type, an iterable, every(...) or a Hypothesis strategy"
    raise UsageError(message)


def distinct(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the values without repetitions."""
    seen = dict[Hashable, Any]()
    for value in values:
        if (named := fingerprint(value)) not in seen:
            seen[named] = value
            yield value


def is_enumeration(source: object) -> TypeGuard[Enumeration[Any]]:
    """Return whether `source` is an `Enumeration`.

    >>> from otf.values import every
    >>> is_enumeration(every(bool)), is_enumeration([False, True])
    (True, False)
    """
    return isinstance(source, Enumeration)


def _is_iterable(source: object) -> TypeGuard[Iterable[Any]]:
    return isinstance(source, Iterable)


def perturbed(values: Iterable[T], seed: int) -> Iterator[tuple[int, T]]:
    """Yield each value with its position before shuffling; it shuffles within blocks of 1, 2, 4, 8, … values.

    So the position of a value at most doubles, and all values of earlier blocks come before it.

    >>> [place for place, _ in perturbed("abcdefg", seed=1)]
    [0, 2, 1, 4, 5, 3, 6]
    """
    rest = iter(values)
    start = 0
    while block := list(islice(rest, min(start + 1, BLOCK))):
        for place in sorted(range(start, start + len(block)), key=lambda place: _lot(seed, place)):
            yield place, block[place - start]
        start += len(block)


def block_start(place: int) -> int:
    """Return the position at which the block around `place` begins.

    With a seed, otf shuffles values only within blocks, of 1, 2, 4, 8, … values.

    >>> [block_start(place) for place in range(8)]
    [0, 1, 1, 3, 3, 3, 3, 7]
    """
    if place < 2 * BLOCK:
        return (1 << (place + 1).bit_length() - 1) - 1
    return place - (place - 2 * BLOCK + 1) % BLOCK


def _lot(seed: int, place: int) -> int:
    # splitmix64: no state, and no import of `random`, which the core and its imports do without
    mixed: int = (seed * 0x9E3779B97F4A7C15 + place * 0xD1342543DE82EF95 + 0x9E3779B97F4A7C15) & _MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
    return mixed ^ (mixed >> 31)
