"""From what a spec yields to moves: ports found, alternatives spread out, mistakes named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from inspect import isroutine
from itertools import product
from typing import Any, TypeGuard

from otf.core.places import Move, Open, Place
from otf.core.symbols import Symbol
from otf.core.wants import Exact, Instance, Such, Want
from otf.errors import ModelError
from otf.spec import Accept, AnyOrder, On, OneOf, Transition, Where
from otf.spec.outputs import Test
from otf.values import likeness, show


@dataclass(frozen=True, slots=True)
class Routes:
    """The ports of a bench: the names of those that bring outputs, and the port that a value belongs to."""

    outputs: tuple[str, ...] = ("sut",)
    port: Callable[[Any], str] | None = None

    def into(self, value: object) -> str:
        """Return the port that an input is sent to; "" where nothing tells."""
        return "" if self.port is None else self.port(value)

    def of(self, value: object) -> str:
        """Return the port of an output; with one port alone there is nothing to ask."""
        if self.port is not None:
            return self.known(self.port(value), f"the output {show(value)}")
        return self.only(f"the output {show(value)}")

    def only(self, what: str) -> str:
        """Return the one output port, for items that do not tell theirs."""
        if len(self.outputs) == 1:
            return self.outputs[0]
        message = f"{what} does not tell its port; write on(port, …) with one of {', '.join(self.outputs)}"
        raise ModelError(message)

    def known(self, port: str, what: str) -> str:
        """Return the port, if it is one that brings outputs: what is expected elsewhere would be missed for ever."""
        if port in self.outputs or not self.outputs:
            return port
        message = f"{what} is expected on the port {port!r}; the ports that bring outputs are {', '.join(self.outputs)}"
        raise ModelError(message)


def compile_all(yields: object, routes: Routes, place: Callable[[object], Place]) -> tuple[Move, ...]:
    """Return the moves for what a spec function returned. Raises ModelError where that is no transition."""
    if not _iterable(yields):
        message = f"it returned {show(yields)}; yield transitions (goto(state, output, …)), or return a list of them"
        raise ModelError(message)
    return tuple(move for item in yields for move in _compile(item, routes, place))


def _iterable(value: object) -> TypeGuard[Iterable[object]]:
    return isinstance(value, Iterable)


def _is_tuple(value: object) -> TypeGuard[tuple[object, ...]]:
    return isinstance(value, tuple)


def _is_test(item: object) -> TypeGuard[Test]:
    # other objects that can be called are values: a dataclass with __call__, for one
    return isroutine(item) or isinstance(item, partial)


def _is_transition(item: object) -> TypeGuard[Transition[Any]]:
    return isinstance(item, Transition)


def _compile(item: object, routes: Routes, place: Callable[[object], Place]) -> Iterator[Move]:
    if isinstance(item, Accept):
        yield _accept(item, routes)
    elif _is_transition(item):
        target = place(item.state)
        for outputs in product(*map(choices, _sequence(item.outputs))):
            yield Move(target, _owes(outputs, routes), tuple(texts_of(outputs)), item.within)
    else:
        message = f"it gave {show(item)}, which is not a transition; write goto(state, output, …)"
        raise ModelError(message)


def _accept(item: Accept, routes: Routes) -> Move:
    port = routes.known(item.port, "an Accept") if item.port else routes.only("an Accept")
    if isinstance(item.until, int) and item.until < 1:
        message = f"it gave an Accept of {item.until} outputs; a transition without outputs is goto(state)"
        raise ModelError(message)
    return Move(Open(item, port), (), (f"outputs accepted on {port}",), item.within)


def _sequence(outputs: object) -> tuple[object, ...]:
    # Transition(state, "tea") would owe three letters
    if _is_tuple(outputs):
        return outputs
    message = f"it gave a Transition with the outputs {show(outputs)}, no tuple; write goto(state, output, …)"
    raise ModelError(message)


def choices(item: object) -> tuple[object, ...]:
    """Return the items of which an item is one: the alternatives of a `OneOf`, else itself."""
    if isinstance(item, On):
        return tuple(On(item.port, choice) for choice in choices(item.item))
    if not isinstance(item, OneOf):
        return (item,)
    if not item.items:
        message = "OneOf() has no alternatives: nothing could ever be seen"
        raise ModelError(message)
    return tuple(choice for each in item.items for choice in choices(each))


def _owes(outputs: tuple[object, ...], routes: Routes) -> tuple[tuple[str, tuple[tuple[Want, ...], ...]], ...]:
    queues: dict[str, list[tuple[Want, ...]]] = {}
    for item in outputs:
        bags: dict[str, list[Want]] = {}
        for port, want in _wants(item, routes, ""):
            bags.setdefault(port, []).append(want)
        for port, bag in bags.items():
            queues.setdefault(port, []).append(tuple(bag))
    return tuple((port, tuple(queues[port])) for port in sorted(queues))


def _wants(item: object, routes: Routes, port: str) -> Iterator[tuple[str, Want]]:
    if isinstance(item, AnyOrder):
        for part in item.items:
            yield from _wants(part, routes, port)
    elif isinstance(item, On):
        yield from _wants(item.item, routes, routes.known(item.port, show(item.item)))
    elif isinstance(item, type):
        yield port or routes.only(f"any {item.__name__}"), Instance(item)
    elif isinstance(item, Where):
        yield port or routes.only("a Where"), Such(item)
    elif _is_test(item):
        yield port or routes.only("a function"), Such(Where(item))
    elif isinstance(item, (OneOf, Accept)):
        message = f"{show(item)} cannot stand inside a transition; yield one transition for each alternative"
        raise ModelError(message)
    else:
        yield port or routes.of(item), Exact(Symbol(item, likeness(item)))


def texts_of(outputs: tuple[object, ...]) -> Iterator[str]:
    """Yield the outputs of a transition as a person reads them."""
    for item in outputs:
        match item:
            case AnyOrder(items=()):
                pass
            case AnyOrder():
                yield "in any order: " + ", ".join(texts_of(item.items))
            case On():
                yield f"{', '.join(texts_of((item.item,)))} on {item.port}"
            case Where():
                yield str(Such(item))
            case type():
                yield str(Instance(item))
            case _ if _is_test(item):
                yield str(Such(Where(item)))
            case _:
                yield show(item)
