"""An enumeration: all values of a type, small before large, none twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from otf.values.graph import is_anew, is_complete, is_finite
from otf.values.order import perturbed
from otf.values.sameness import fresh
from otf.values.strategies import strategy_of
from otf.values.tiers import Tiers

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

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
