"""An enumeration: all values of a type, small before large, none twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from otf.values.sameness import fresh
from otf.values.strategies import strategy_of
from otf.values.tiers import Tiers, is_anew, is_complete, is_finite

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy
from collections.abc import Callable, Hashable, Iterable, Sized
from typing import Any, TypeGuard

from otf.errors import UsageError
from otf.values.sameness import fingerprint
from otf.values.strategies import drawn, is_strategy
from otf.values.text import show
from otf.values.tiers import Flat

Item = TypeVar("Item")
BLOCK: Final = 65_536  # values of a shuffled block, at most
_MASK: Final = 2**64 - 1


def perturbed(values: Iterable[Item], seed: int) -> Iterator[tuple[int, Item]]:
    """Yield each value with its old place, shuffled in blocks of 1, 2, 4, 8, … values.

    So no value comes more than twice as late as it would have, and all before its block have been there before it.

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
    """Return the first place of the block that holds this place.

    >>> [block_start(place) for place in range(8)]
    [0, 1, 1, 3, 3, 3, 3, 7]
    """
    if place < 2 * BLOCK:
        return (1 << (place + 1).bit_length() - 1) - 1
    return place - (place - 2 * BLOCK + 1) % BLOCK


def _lot(seed: int, place: int) -> int:
    # splitmix64: no state, and no import of `random`, which has no business in what the core is built on
    mixed: int = (seed * 0x9E3779B97F4A7C15 + place * 0xD1342543DE82EF95 + 0x9E3779B97F4A7C15) & _MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
    return mixed ^ (mixed >> 31)


T = TypeVar("T")
OFFERED: Final = 10_000


@dataclass(frozen=True, eq=False)
class Enumeration(Generic[T]):
    """The values of a type, lazily; each iteration starts again, and what can change is made anew for each.

    `origin` is the Hypothesis strategy that the values came from, if they came from one.
    """

    tiers: Tiers
    origin: SearchStrategy[T] | None = None

    def __iter__(self) -> Iterator[T]:
        """Yield the values in their order."""
        values = self.tiers.walk()
        return values if is_anew(self.tiers) else map(fresh, values)

    @property
    def finite(self) -> bool:
        """Tell whether the values are known to come to an end."""
        return is_finite(self.tiers)

    @property
    def complete(self) -> bool:
        """Tell whether there is no other value when it has ended."""
        return is_complete(self.tiers)

    def sized(self) -> Iterator[tuple[int, T]]:
        """Yield the values in their order, each with its size."""
        return ((size, fresh(value)) for size, tier in enumerate(self.tiers.tiers()) for value in tier)

    def first(self, number: int) -> list[T]:
        """Return the first values, at most so many."""
        return list(islice(self, number))

    def at(self, place: int) -> T:
        """Return the value at a place, made anew."""
        return next(islice(self, place, None))

    def shuffled(self, seed: int) -> Iterator[T]:
        """Yield the values in another order, small before large by and large."""
        return (value for _, value in perturbed(self, seed))

    def placed(self, seed: int | None = None) -> Iterator[tuple[int, T]]:
        """Yield the values with their places in the order; with a seed, in another order (see `perturbed`)."""
        return enumerate(self) if seed is None else perturbed(self, seed)

    def strategy(self, most: int = OFFERED) -> SearchStrategy[T]:
        """Return a Hypothesis strategy for the first values, which shrinks towards the first of all."""
        return strategy_of(self.first(most)) if self.origin is None else self.origin


def given(source: Any, where: str) -> Enumeration[Any]:  # noqa: ANN401 -- whatever a user gives
    """Return an enumeration as it is, the values of an iterable in its order, or those that a strategy generates."""
    if is_enumeration(source):
        return source
    if is_strategy(source):
        return Enumeration(Flat(drawn(source), fixed=False, complete=False), source)
    if _is_iterable(source):
        return Enumeration(Flat(distinct(source), finite=isinstance(source, Sized), fixed=False))
    message = f"{where}: {show(source)} gives no values: give a type, an iterable, every(...) or a Hypothesis strategy"
    raise UsageError(message)


def distinct(values: Iterable[Any], name: Callable[[Any], Hashable] = fingerprint) -> Iterator[Any]:
    """Yield each value once; `name` says which are the same."""
    seen = dict[Hashable, Any]()
    for value in values:
        named = name(value)
        if named not in seen:
            seen[named] = value
            yield value


def is_enumeration(source: object) -> TypeGuard[Enumeration[Any]]:
    """Tell whether something is an enumeration already."""
    return isinstance(source, Enumeration)


def _is_iterable(source: object) -> TypeGuard[Iterable[Any]]:
    return isinstance(source, Iterable)
