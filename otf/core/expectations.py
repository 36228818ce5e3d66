"""Expected outputs: a certain value, or any for which a test is true.

Bytes that do not decode meet no expectation: no model can allow them. The end of a port meets one that names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from inspect import isroutine
from typing import Protocol, TypeGuard

from otf.core.calls import CURRENT, own_frames
from otf.core.memory import Symbol
from otf.errors import ModelError
from otf.spec import AnyOrder, On, OneOf, Where
from otf.spec.outputs import Test
from otf.trace.events import Ended
from otf.values import show


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
        return (type(self.symbol.value).__name__,)


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
        """Return the name of the class for people."""
        return f"any {self.type.__name__}"


@dataclass(frozen=True, slots=True)
class Such:
    """Any value for which a test of the model is true."""

    where: Where

    def matches(self, seen: Symbol) -> bool:
        """Return the result of the model's test; a test that raises is a broken model."""
        if isinstance(seen.value, Ended):
            return False
        CURRENT.now = str(self), (seen.value,)
        try:
            return bool(self.where.test(seen.value))
        except Exception as error:
            message = f"the test {self} of an expected output raised on {show(seen.value)}: {error!r}"
            raise ModelError(message + own_frames(error)) from error
        finally:
            CURRENT.now = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return its name in the model."""
        return (str(self),)

    def __str__(self) -> str:
        """Return its name in the model, or that of the test."""
        return self.where.says or getattr(self.where.test, "__name__", "a test")


@dataclass(frozen=True, slots=True)
class Either:
    """One of several: the alternatives of a `OneOf` that belong to one port."""

    expectations: tuple[Expectation, ...]

    def matches(self, seen: Symbol) -> bool:
        """Return whether `seen` is one of them."""
        return any(expectation.matches(seen) for expectation in self.expectations)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of all alternatives."""
        return tuple(kind for expectation in self.expectations for kind in expectation.kinds)


def texts_of(outputs: Iterable[object]) -> Iterator[str]:
    """Yield the outputs of a transition as text for people."""
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
                yield show(item)


def is_test(item: object) -> TypeGuard[Test]:
    """Return whether an item is a test of the model, not a value."""
    # other callable objects are values: a dataclass with __call__, for one
    return callable(item) and (isroutine(item) or isinstance(item, partial))
