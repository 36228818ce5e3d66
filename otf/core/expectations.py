"""Expected outputs: a given value, or any value that passes a test; outstanding ones in bags and chains of bags.

Bytes that do not decode meet no expectation: no model can allow them. The end of a port meets one that names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from inspect import isroutine
from typing import Protocol, TypeAlias, TypeGuard

from otf.core.memory import Memory, Symbol
from otf.core.model_calls import CURRENT
from otf.spec import AnyOrder, On, OneOf, Where
from otf.spec.outputs import Test
from otf.trace.events import Ended
from otf.values import message_of, show
from otf.values.raised import blame
from otf.values.text import COMPARED


class Expectation(Protocol):
    """One expected output."""

    def matches(self, seen: Symbol) -> bool:
        """Return whether `seen` meets the expectation."""
        ...

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the names of its possible types, for failure signatures."""
        ...


@dataclass(frozen=True, slots=True)
class Exact:
    """This value and no other; equality includes the type."""

    symbol: Symbol

    def matches(self, seen: Symbol) -> bool:
        """Return whether `seen` is this value."""
        return self.symbol == seen

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the name of the value's type."""
        return (type(message_of(self.symbol.value)).__name__,)


@dataclass(frozen=True, slots=True)
class Instance:
    """Any value of a class."""

    type: type

    def matches(self, seen: Symbol) -> bool:
        """Return whether `seen` is of the class; `object` is any output except the end of a port."""
        kind = type(seen.value)
        return issubclass(kind, self.type) and (kind is not Ended or issubclass(self.type, Ended))

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the name of the class."""
        return (self.type.__name__,)

    def __str__(self) -> str:
        """Return the text for reports."""
        return f"any {self.type.__name__}"


@dataclass(frozen=True, slots=True)
class Such:
    """Any value for which a test of the model is true."""

    where: Where

    def matches(self, seen: Symbol) -> bool:
        """Return the result of the model's test. Raises ModelError if the test raises."""
        if isinstance(seen.value, Ended):
            return False
        CURRENT.now = str(self), (seen.value,)
        try:
            return bool(self.where.test(seen.value))
        except Exception as error:
            what = f"the test {self} of an expected output raised on {show(seen.value)}:"
            raise blame(what, error, self.where.test) from error
        finally:
            CURRENT.now = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return its text in the model."""
        return (str(self),)

    def __str__(self) -> str:
        """Return its text in the model, or the name of the test."""
        return self.where.says or getattr(self.where.test, "__name__", "a test")


@dataclass(frozen=True, slots=True)
class Either:
    """One of several: the alternatives of a `OneOf` on one port."""

    expectations: tuple[Expectation, ...]

    def matches(self, seen: Symbol) -> bool:
        """Return whether `seen` is one of them."""
        return any(expectation.matches(seen) for expectation in self.expectations)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of all alternatives."""
        return tuple(kind for expectation in self.expectations for kind in expectation.kinds)


def texts_of(outputs: Iterable[object]) -> Iterator[str]:
    """Yield each output of a transition as text."""
    for item in outputs:
        match item:
            case AnyOrder(items=()):
                pass
            case AnyOrder():
                yield "in any order: " + ", ".join(texts_of(item.items))
            case OneOf():
                yield " or ".join(texts_of(item.items))
            case On():
                yield f"{', '.join(texts_of((item.item,)))} on {item.port}"
            case Where():
                yield str(Such(item))
            case type():
                yield str(Instance(item))
            case _ if is_test(item):
                yield str(Such(Where(item)))
            case _:
                yield show(item, COMPARED)


def is_test(item: object) -> TypeGuard[Test]:
    """Return whether an expected item is a predicate rather than a value."""
    # other callables are values, such as a dataclass with __call__
    return callable(item) and (isroutine(item) or isinstance(item, partial))


class Bag:
    """Outputs that may come in any order among themselves; usually there is just one.

    The rest of a bag is a number with one bit per output, so that a bag of 10,000 outputs is not copied for each output
    that comes.
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

    Equal chains are mostly one object, whatever contains them. So a hypothesis that has seen half of a long answer is
    compared and hashed as fast as any other.
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
        """Compare by content: a chain that was forgotten is created anew."""
        one: Chain | None = self
        while isinstance(one, Chain) and isinstance(other, Chain) and one is not other:
            if one.bag.expectations != other.bag.expectations:
                return False
            one, other = one.then, other.then
        return one is other


Emitted: TypeAlias = tuple[tuple[str, Chain], ...]
"""The outputs of a move, by port."""


class Chains:
    """The chains of a model, each created once."""

    __slots__ = ("_chains", "_memory", "alone")

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        # for a single value on its port: the outputs of most transitions
        self.alone: dict[Symbol, Emitted] = {}
        self._chains: dict[tuple[tuple[Expectation, ...], Chain | None], Chain] = {}

    def of(self, bags: list[tuple[Expectation, ...]]) -> Chain:
        """Return the chain of one or more bags."""
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
