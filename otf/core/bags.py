"""Outputs that are owed, as data that is cheap to copy: a bag in any order, and a chain of bags one after another."""

from __future__ import annotations

from typing import TypeAlias

from otf.core.expectations import Exact, Expectation
from otf.core.memory import Memory, Symbol


class Bag:
    """Outputs that come in any order among themselves; usually there is one.

    What is left of a bag is a number with a bit for each output, so that a bag of 10,000 is not copied for each of
    them that comes.
    """

    __slots__ = ("_exact", "_vague", "all", "expectations")

    def __init__(self, expectations: tuple[Expectation, ...]) -> None:
        self.expectations: tuple[Expectation, ...] = expectations
        self.all: int = (1 << len(expectations)) - 1
        self._exact: dict[Symbol, int] = {}
        self._vague: list[tuple[int, Expectation]] = []
        for at, expectation in enumerate(expectations):
            if isinstance(expectation, Exact):
                self._exact[expectation.symbol] = self._exact.get(expectation.symbol, 0) | 1 << at
            else:
                self._vague.append((1 << at, expectation))

    def without(self, left: int, seen: Symbol) -> list[int]:
        """Return what may be left after an output was seen, one number for each different want that it is."""
        same = left & self._exact.get(seen, 0)
        # of outputs that are the same the first is as good as any
        found = [left ^ (same & -same)] if same else []
        matched: list[Expectation] = []
        for bit, expectation in self._vague:
            if left & bit and expectation not in matched and expectation.matches(seen):
                matched.append(expectation)
                found.append(left ^ bit)
        return found

    def left(self, left: int) -> tuple[Expectation, ...]:
        """Return the wants that are left."""
        return tuple(expectation for at, expectation in enumerate(self.expectations) if left >> at & 1)


class Chain:
    """A bag and what comes after it on the same port.

    Equal chains are mostly the same object, whatever they are parts of: so a hypothesis that has seen half of a long
    answer is compared and hashed as fast as any other.
    """

    __slots__ = ("_hash", "bag", "then")

    def __init__(self, bag: Bag, then: Chain | None) -> None:
        self.bag: Bag = bag
        self.then: Chain | None = then
        self._hash = hash((bag.expectations, then))

    def __hash__(self) -> int:
        """Return the hash that was taken once."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Compare by what is in them: a chain that was forgotten is made anew."""
        one: Chain | None = self
        while isinstance(one, Chain) and isinstance(other, Chain) and one is not other:
            if one.bag.expectations != other.bag.expectations:
                return False
            one, other = one.then, other.then
        return one is other


Emitted: TypeAlias = tuple[tuple[str, Chain], ...]
"""What a move owes on each port."""


class Chains:
    """The chains of a model, each made once."""

    __slots__ = ("_chains", "_memory", "alone")

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        # of one value alone, on its port: what most transitions owe
        self.alone: dict[Symbol, Emitted] = {}
        self._chains: dict[tuple[tuple[Expectation, ...], Chain | None], Chain] = {}

    def of(self, bags: list[tuple[Expectation, ...]]) -> Chain:
        """Return the chain of at least one bag."""
        *before, last = bags
        chain = self._made(last, None)
        for expectations in reversed(before):
            chain = self._made(expectations, chain)
        return chain

    def _made(self, expectations: tuple[Expectation, ...], then: Chain | None) -> Chain:
        name = expectations, then
        return self._chains.get(name) or self._memory.put(self._chains, name, Chain(Bag(expectations), then))

    def only(self, port: str, symbol: Symbol) -> Emitted:
        """Return what is owed where that is one value."""
        return self._memory.put(self.alone, symbol, ((port, self.of([(Exact(symbol),)])),))
