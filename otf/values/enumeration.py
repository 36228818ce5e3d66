"""An enumeration: all values of a type, small before large, none twice."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sized
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Generic, TypeGuard, TypeVar

from otf.errors import UsageError
from otf.values.identity import fingerprint, fresh
from otf.values.size_tiers import Flat, Tiers, is_anew, is_complete, is_finite
from otf.values.strategies import drawn, is_strategy, strategy_of
from otf.values.text import show

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

T = TypeVar("T")
OFFERED: Final = 10_000  # values of which a Hypothesis strategy is made, at most
BLOCK: Final = 65_536  # values of a shuffled block, at most
_MASK: Final = 2**64 - 1


@dataclass(frozen=True, eq=False)
class Enumeration(Generic[T]):
    """The values of a type, made lazily; returned by `every`, `enumerated` and `given`.

    Each iteration starts again from the first value, with fresh copies of values that can change. `origin` is the
    Hypothesis strategy that generated the values, if there is one.

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
        """Return whether the values are known to end."""
        return is_finite(self.tiers)

    @property
    def complete(self) -> bool:
        """Return whether the type has no other values than these."""
        return is_complete(self.tiers)

    def sized(self) -> Iterator[tuple[int, T]]:
        """Yield the values in their order, each with its size."""
        return ((size, fresh(value)) for size, tier in enumerate(self.tiers.tiers()) for value in tier)

    def first(self, number: int) -> list[T]:
        """Return the first values, at most `number`."""
        return list(islice(self, number))

    def at(self, place: int) -> T:
        """Return a value by its position in the order, made anew. Raises StopIteration behind the last one."""
        return next(islice(self, place, None))

    def shuffled(self, seed: int) -> Iterator[T]:
        """Yield the values in another order, small ones still roughly before large ones."""
        return (value for _, value in perturbed(self, seed))

    def placed(self, seed: int | None = None) -> Iterator[tuple[int, T]]:
        """Yield the values with their positions in the order; with a seed, shuffled as `perturbed` does."""
        return enumerate(self) if seed is None else perturbed(self, seed)

    def strategy(self, most: int = OFFERED) -> SearchStrategy[T]:
        """Return a Hypothesis strategy: `origin`, or one of the first `most` values, which shrinks to the first."""
        return strategy_of(self.first(most)) if self.origin is None else self.origin


def given(source: Any, where: str) -> Enumeration[Any]:  # noqa: ANN401 -- any source of a user
    """Return the enumeration of an iterable, in its order, or of what a Hypothesis strategy generates.

    An enumeration is returned as it is. `where` is the path that an error begins with. Raises UsageError for anything
    else.

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


def distinct(values: Iterable[Any], name: Callable[[Any], Hashable] = fingerprint) -> Iterator[Any]:
    """Yield each value once; two values are the same if `name` returns the same for both."""
    seen = dict[Hashable, Any]()
    for value in values:
        named = name(value)
        if named not in seen:
            seen[named] = value
            yield value


def is_enumeration(source: object) -> TypeGuard[Enumeration[Any]]:
    """Return whether something is an `Enumeration`.

    >>> from otf.values import every
    >>> is_enumeration(every(bool)), is_enumeration([False, True])
    (True, False)
    """
    return isinstance(source, Enumeration)


def _is_iterable(source: object) -> TypeGuard[Iterable[Any]]:
    return isinstance(source, Iterable)


def perturbed(values: Iterable[T], seed: int) -> Iterator[tuple[int, T]]:
    """Yield each value with its old position, shuffled in blocks of 1, 2, 4, 8, … values.

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
    """Return the first position of the block to which a position belongs, in the order of a seed.

    >>> [block_start(place) for place in range(8)]
    [0, 1, 1, 3, 3, 3, 3, 7]
    """
    if place < 2 * BLOCK:
        return (1 << (place + 1).bit_length() - 1) - 1
    return place - (place - 2 * BLOCK + 1) % BLOCK


def _lot(seed: int, place: int) -> int:
    # splitmix64: no state, and no import of `random`, which the core and what it imports do without
    mixed: int = (seed * 0x9E3779B97F4A7C15 + place * 0xD1342543DE82EF95 + 0x9E3779B97F4A7C15) & _MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
    return mixed ^ (mixed >> 31)
