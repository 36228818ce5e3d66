"""Outstanding outputs as data that is cheap to copy: bags in any order, and chains of bags one after another."""

from __future__ import annotations

from typing import TypeAlias

from otf.core.expectations import Exact, Expectation
from otf.core.memory import Memory, Symbol


class Bag:
    """Outputs that may come in any order among themselves; usually there is one.

    The rest of a bag is a number with one bit for each output, so that a bag of 10,000 outputs is not copied for each
    one that comes.
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
        """Return what may be left after an output was seen: one number for each different expectation that it meets."""
        same = left & self._exact.get(seen, 0)
        # among equal outputs the first is as good as any
        found = [left ^ (same & -same)] if same else []
        matched: list[Expectation] = []
        for bit, expectation in self._vague:
            if left & bit and expectation not in matched and expectation.matches(seen):
                matched.append(expectation)
                found.append(left ^ bit)
        return found

    def left(self, left: int) -> tuple[Expectation, ...]:
        """Return the expectations that are left."""
        return tuple(expectation for at, expectation in enumerate(self.expectations) if left >> at & 1)


class Chain:
    """A bag and the bags after it on the same port.

    Equal chains are mostly one object, whatever they are parts of. So a hypothesis that has seen half of a long answer
    is compared and hashed as fast as any other.
    """

    __slots__ = ("_hash", "bag", "then")

    def __init__(self, bag: Bag, then: Chain | None) -> None:
        self.bag: Bag = bag
        self.then: Chain | None = then
        self._hash = hash((bag.expectations, then))

    def __hash__(self) -> int:
        """Return the hash, computed once."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Compare by content: a chain that was forgotten is made anew."""
        one: Chain | None = self
        while isinstance(one, Chain) and isinstance(other, Chain) and one is not other:
            if one.bag.expectations != other.bag.expectations:
                return False
            one, other = one.then, other.then
        return one is other


Emitted: TypeAlias = tuple[tuple[str, Chain], ...]
"""The outputs of a move, by port."""


class Chains:
    """The chains of a model, each made once."""

    __slots__ = ("_chains", "_memory", "alone")

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        # for one value alone, on its port: the outputs of most transitions
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
        """Return the outputs of a move that emits one value."""
        return self._memory.put(self.alone, symbol, ((port, self.of([(Exact(symbol),)])),), symbol)
