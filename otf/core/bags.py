"""Outputs that are owed, as data that is cheap to copy: a bag in any order, and a chain of bags one after another."""

from __future__ import annotations

from typing import TypeAlias

from otf.core.memory import Memory
from otf.core.symbols import Symbol
from otf.core.wants import Exact, Want


class Bag:
    """Outputs that come in any order among themselves; usually there is one.

    What is left of a bag is a number with a bit for each output, so that a bag of 10,000 is not copied for each of
    them that comes.
    """

    __slots__ = ("_exact", "_vague", "all", "wants")

    def __init__(self, wants: tuple[Want, ...]) -> None:
        self.wants: tuple[Want, ...] = wants
        self.all: int = (1 << len(wants)) - 1
        self._exact: dict[Symbol, int] = {}
        self._vague: list[tuple[int, Want]] = []
        for at, want in enumerate(wants):
            if isinstance(want, Exact):
                self._exact[want.symbol] = self._exact.get(want.symbol, 0) | 1 << at
            else:
                self._vague.append((1 << at, want))

    def without(self, left: int, seen: Symbol) -> list[int]:
        """Return what may be left after an output was seen, one number for each different want that it is."""
        same = left & self._exact.get(seen, 0)
        # of outputs that are the same the first is as good as any
        found = [left ^ (same & -same)] if same else []
        matched: list[Want] = []
        for bit, want in self._vague:
            if left & bit and want not in matched and want.matches(seen):
                matched.append(want)
                found.append(left ^ bit)
        return found

    def left(self, left: int) -> tuple[Want, ...]:
        """Return the wants that are left."""
        return tuple(want for at, want in enumerate(self.wants) if left >> at & 1)


class Chain:
    """A bag and what comes after it on the same port.

    Equal chains are mostly the same object, whatever they are parts of: so a hypothesis that has seen half of a long
    answer is compared and hashed as fast as any other.
    """

    __slots__ = ("_hash", "bag", "then")

    def __init__(self, bag: Bag, then: Chain | None) -> None:
        self.bag: Bag = bag
        self.then: Chain | None = then
        self._hash = hash((bag.wants, then))

    def __hash__(self) -> int:
        """Return the hash that was taken once."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Compare by what is in them: a chain that was forgotten is made anew."""
        one: Chain | None = self
        while isinstance(one, Chain) and isinstance(other, Chain) and one is not other:
            if one.bag.wants != other.bag.wants:
                return False
            one, other = one.then, other.then
        return one is other


Owes: TypeAlias = tuple[tuple[str, Chain], ...]
"""What a move owes on each port."""


class Chains:
    """The chains of a model, each made once."""

    __slots__ = ("_chains", "_memory", "alone")

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        # of one value alone, on its port: what most transitions owe
        self.alone: dict[Symbol, Owes] = {}
        self._chains: dict[tuple[tuple[Want, ...], Chain | None], Chain] = {}

    def of(self, bags: list[tuple[Want, ...]]) -> Chain:
        """Return the chain of at least one bag."""
        *before, last = bags
        chain = self._made(last, None)
        for wants in reversed(before):
            chain = self._made(wants, chain)
        return chain

    def _made(self, wants: tuple[Want, ...], then: Chain | None) -> Chain:
        name = wants, then
        return self._chains.get(name) or self._memory.put(self._chains, name, Chain(Bag(wants), then))

    def only(self, port: str, symbol: Symbol) -> Owes:
        """Return what is owed where that is one value."""
        return self._memory.put(self.alone, symbol, ((port, self.of([(Exact(symbol),)])),))
