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
