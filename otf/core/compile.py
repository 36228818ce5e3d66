"""Compiles the transitions of a spec into moves: finds ports, expands alternatives, and reports mistakes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, Final, NamedTuple, TypeGuard, cast

from otf.core.expectations import Chains, Either, Emitted, Exact, Expectation, Instance, Such, is_test
from otf.core.memory import Symbol
from otf.core.nodes import UNKNOWN, Midway, Move, Node, OpenAccept, Position
from otf.errors import ModelError, choose
from otf.spec import Accept, AnyOrder, Elapse, On, OneOf, TimerAction, TimerStart, TimerStop, Transition, Where
from otf.spec.offering import TRANSITIONS
from otf.spec.transition import acts, is_transition, requirements, timely
from otf.trace.events import Ended, Undecodable
from otf.values import message_of, show
from otf.values.arguments import brief


@dataclass(frozen=True, slots=True)
class Routes:
    """The ports of a bench: `outputs` lists those on which outputs come, and `port(value)` returns the port of a value.

    >>> routes = Routes(("left", "right"), port=lambda value: value[0])
    >>> routes.into(("left", "knock")), routes.of(("right", "click"))
    ('left', 'right')
    """

    outputs: tuple[str, ...] = ("sut",)
    port: Callable[[Any], str] | None = None
    types: tuple[type, ...] = ()
    """The types of all outputs that can be decoded; (): any."""
    misfit: Callable[[Any], str] | None = None
    """Returns why a value of these types is never decoded; "" for one that may be."""

    def into(self, value: object) -> str:
        """Return the port to which an input goes; "" if the bench does not say, or if the input only waits."""
        return "" if self.port is None or isinstance(value, Elapse) else self.port(value)

    def of(self, value: object) -> str:
        """Return the port of an output; of a bench with a single port, that port. Raises ModelError if none fits."""
        self.check_type(value, type(message_of(value)))
        if self.misfit is not None and (why := self.misfit(message_of(value))):
            message = f"the model expects {show(value)}, which the codec never decodes: {why}; correct the model"
            raise ModelError(message)
        if self.port is None:
            return self.outputs[0] if len(self.outputs) == 1 else self.only(f"the output {show(value)}")
        port = self.port(value)
        return port if port in self.outputs else self.known(port, f"the output {show(value)}")

    def check_type(self, what: object, kind: type) -> None:
        """Raise ModelError if the codec of the bench never returns an output of the given type."""
        known = (*self.types, Ended, Undecodable)
        if self.types and not any(issubclass(kind, each) or issubclass(each, kind) for each in known):
            listed = ", ".join(each.__name__ for each in self.types)
            message = f"the model expects {show(what)}, which the codec never decodes: its types are {listed}"
            several = "; give outputs one by one: goto(state, *outputs)" * isinstance(what, (list, tuple, set))
            raise ModelError(f"{message}{several or f'; correct the model, or add {kind.__name__} to the codec'}")

    def only(self, what: str, written: str = "on(port, …)") -> str:
        """Return the bench's only output port, for an output of the model that does not name its port.

        Raise ModelError if the bench has several output ports.

        The error's message contains the example `written`, which shows how to name the port.
        """
        if len(self.outputs) == 1:
            return self.outputs[0]
        message = f"{what} names no port; write {written} with one of {', '.join(self.outputs)}"
        raise ModelError(message)

    def known(self, port: str, what: str) -> str:
        """Return the given port. Raises ModelError if no outputs come on this port."""
        if port in self.outputs or not self.outputs:
            return port
        known = choose(str(port), self.outputs, "the ports with outputs are")
        raise ModelError(f"{what} is expected on the port {port!r}; {known}")


WORDS: Final = (AnyOrder, OneOf, On, Where, Accept, type)
"""Items of a transition that are not plain values; tests are routines."""

NO_TIMERS: Final = (tuple[TimerStart, ...](), frozenset[str]())


class AskedState(NamedTuple):
    """The state whose transitions are compiled, and whether they are spontaneous."""

    node: Node
    spontaneous: bool


def _dropped(value: object) -> ModelError:
    """Return the error for what a generator returned, which Python drops silently."""
    return ModelError(f"it returned {brief(value)}, which nothing sees, since it also has `yield`: yield it")


def items_of(yields: Generator[object, None, object]) -> Generator[object]:
    """Yield what a generator yields. Raises ModelError if it returns something."""
    returned = yield from yields
    if returned is not None:
        raise _dropped(returned)


@dataclass(frozen=True, slots=True)
class Compiler:
    """Turns the result of a spec function into moves. Raises ModelError if it is not a transition."""

    routes: Routes
    chains: Chains
    node: Callable[[object], Node]
    symbol: Callable[[object], Symbol]

    def moves(self, origin: Node, function: Callable[..., object], *inputs: object) -> tuple[Move, ...]:
        """Return the moves of `step` on an input in a state, or the spontaneous ones of `emits`."""
        yields = function(origin.value, *inputs)
        if not isinstance(yields, Iterable):
            message = (
                f"it returned {brief(yields)}; yield transitions (goto(state, output, …)), or return a list of them"
            )
            raise ModelError(message)
        items: Iterator[object] = iter(yields)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] -- checked one by one
        found: list[Move] = []
        while True:
            try:
                item = next(items)
            except StopIteration as end:
                # a `for` would drop what a generator returns
                if end.value is not None:
                    raise _dropped(end.value) from None
                return tuple(found)
            if _is_plain(item) and (not item.outputs or _is_value(item.outputs[0])):
                # the common case and the fastest: one value or none
                emitted, target = self._alone(item.outputs[0]) if item.outputs else (), self.node(item.state)
                found.append(Move(target, emitted, item.outputs, target, req=item.req))
            else:
                found += self._moves(AskedState(origin, spontaneous=not inputs), item)
            if len(found) > TRANSITIONS:
                message = f"more than {TRANSITIONS:,} transitions, with the alternatives of each: it seems never to end"
                raise ModelError(message)

    def _moves(self, origin: AskedState, item: object) -> Iterator[Move]:
        if isinstance(item, Accept):
            _check_timer(origin, item.after)
            yield self._accept(origin, item)
        elif is_transition(item):
            _check_timer(origin, item.after)
            timely(item.within, item.after)
            yield from self._transition(origin, item, self.node(item.state))
        else:
            if isinstance(item, On) and isinstance(item.item, Accept):
                message = f"it gave an Accept inside on(…); write Accept(…, port={item.port!r})"
            else:
                message = f"it gave {brief(item)}, which is not a transition; write goto(state, output, …)"
            raise ModelError(message)

    def _transition(self, origin: AskedState, item: Transition[Any], target: Node) -> Iterable[Move]:
        outputs = _sequence(item.outputs)
        alternatives = [self._alternatives(each) for each in outputs]
        if all(len(each) == 1 for each in alternatives):
            return [self._move(item, target, target, outputs, outputs)]
        if item.within or item.timers:
            # the model does not say when the middle of such a transition is
            return [self._move(item, target, target, chosen, chosen) for chosen in _spread(alternatives)]
        return self._parts(origin, item, target, alternatives)

    def _parts(
        self, origin: AskedState, item: Transition[Any], target: Node, alternatives: list[tuple[object, ...]]
    ) -> Iterator[Move]:
        """Yield the moves of a transition with choices between ports one by one: n choices do not make 2^n moves."""
        position: Position = target
        rest: list[object] = []  # in reverse
        for found in reversed(alternatives):
            if len(found) == 1:
                rest.append(found[0])
            else:
                after, more, rest = position, rest[::-1], list[object]()
                parts = tuple(self._move(item, target, after, (each, *more), ()) for each in found)
                position = Midway(origin.node, parts, spontaneous=origin.spontaneous)
        if rest or not isinstance(position, Midway):
            yield self._move(item, target, position, rest[::-1], item.outputs)
        else:
            shown = item.outputs
            yield from (
                Move(each.position, each.emitted, shown, target, after=item.after, req=item.req)
                for each in position.moves
            )

    def _move(
        self,
        item: Transition[Any],
        target: Node,
        position: Position,
        outstanding: Sequence[object],
        shown: tuple[object, ...],
    ) -> Move:
        starts, stops = _timers(item.timers)
        emitted = self._emitted(outstanding)
        return Move(
            position,
            emitted,
            shown,
            target,
            within=item.within,
            at_once=item.within is None,
            starts=starts,
            stops=stops,
            after=item.after,
            req=item.req,
        )

    def _emitted(self, outputs: Sequence[object]) -> Emitted:
        if not outputs:
            return ()
        queues: dict[str, list[tuple[Expectation, ...]]] = {}
        for item in outputs:
            bags: dict[str, list[Expectation]] = {}
            for port, expectation in self._one_of(item):
                bags.setdefault(port, []).append(expectation)
            for port, bag in bags.items():
                queues.setdefault(port, []).append(tuple(bag))
        return tuple((port, self.chains.of(queues[port])) for port in sorted(queues))

    def _alone(self, value: object) -> Emitted:
        symbol = self.symbol(value)
        return self.chains.alone.get(symbol) or self.chains.only(self.routes.of(value), symbol)

    def _alternatives(self, item: object) -> tuple[object, ...]:
        """Return the alternatives of an item, or the item itself if one expectation on one port covers them all."""
        if _is_value(item):
            return (item,)
        found = choices(item)
        if len(found) > 1:
            expectations = [list(self._expectations(each, "")) for each in found]
            if all(len(each) == 1 for each in expectations) and len({port for [(port, _)] in expectations}) == 1:
                return (item,)
        return found

    def _accept(self, origin: AskedState, item: Accept) -> Move:
        if isinstance(item.until, int) and item.until < 1:
            message = f"it gave an Accept of {item.until} outputs; a transition without outputs is goto(state)"
            raise ModelError(message)
        given = item.port if isinstance(item.port, tuple) else (item.port,)
        what, routes = "an Accept", self.routes
        ports = tuple(routes.known(port, what) if port else routes.only(what, "Accept(…, port=…)") for port in given)
        if not ports:
            message = "it gave an Accept of no port: it could never accept anything"
            raise ModelError(message)
        # what it takes only its function knows
        text = item.says or f"outputs accepted on {', '.join(ports)}"
        starts, stops = _timers(item.timers)
        return Move(
            UNKNOWN,
            (),
            text,
            None,
            within=item.within,
            at_once=False,
            opening=OpenAccept(item, tuple(dict.fromkeys(ports)), origin.node),
            starts=starts,
            stops=stops,
            after=item.after,
            req=requirements(item.req),
        )

    def _one_of(self, item: object) -> Iterable[tuple[str, Expectation]]:
        found = choices(item)
        if len(found) == 1:
            return self._expectations(found[0], "")
        expectations = [pair for each in found for pair in self._expectations(each, "")]
        return [(expectations[0][0], Either(tuple(expectation for _, expectation in expectations)))]

    def _expectations(self, item: object, port: str) -> Iterator[tuple[str, Expectation]]:
        routes = self.routes
        if _is_value(item):
            routes.check_type(item, type(message_of(item)))
            yield port or routes.of(item), Exact(self.symbol(item))
        elif isinstance(item, AnyOrder):
            for part in item.items:
                yield from self._expectations(part, port)
        elif isinstance(item, On):
            yield from self._expectations(item.item, routes.known(item.port, show(item.item)))
        elif isinstance(item, type):
            routes.check_type(item, item)
            yield port or routes.only(f"any {item.__name__}"), Instance(item)
        elif isinstance(item, Where):
            yield port or routes.only("a Where"), Such(item)
        elif is_test(item):
            yield port or routes.only("a function"), Such(Where(item))
        else:
            message = f"{show(item)} cannot stand inside a transition; yield one transition for each alternative"
            raise ModelError(message)


def _is_plain(item: object) -> TypeGuard[Transition[Any]]:
    if item.__class__ is not Transition or not isinstance(item, Transition):
        return False
    timed = item.within is not None or item.timers or item.after
    return not timed and item.outputs.__class__ is tuple and len(item.outputs) <= 1


def _is_value(item: object) -> bool:
    return not isinstance(item, WORDS) and not (callable(item) and is_test(item))


def _check_timer(origin: AskedState, after: str) -> None:
    if after and not origin.spontaneous:
        message = f"it gave a transition after={after!r}: a timer brings what stands in `emits`, an input the rest"
        raise ModelError(message)


def _timers(actions: tuple[TimerAction, ...]) -> tuple[tuple[TimerStart, ...], frozenset[str]]:
    """Return the timers that a transition starts and those that it stops; the last action on each counts."""
    if not actions:
        return NO_TIMERS
    last = {each.name: each for each in acts(actions)}
    starts = tuple(each for each in last.values() if isinstance(each, TimerStart))
    return starts, frozenset(name for name, each in last.items() if isinstance(each, TimerStop))


def _sequence(outputs: object) -> tuple[object, ...]:
    # Transition(state, "tea") would emit three letters
    if isinstance(outputs, tuple):
        return cast("tuple[object, ...]", outputs)
    message = f"it gave a Transition with the outputs {show(outputs)}, no tuple; write goto(state, output, …)"
    raise ModelError(message)


def spread(outputs: Iterable[object]) -> Iterator[tuple[object, ...]]:
    """Yield the outputs of one transition once for each combination of their alternatives."""
    return _spread([choices(item) for item in outputs])


def _spread(pools: Sequence[tuple[object, ...]]) -> Iterator[tuple[object, ...]]:
    if prod(map(len, pools)) > TRANSITIONS:
        message = f"a transition has more than {TRANSITIONS:,} alternatives; say what an output is like: Where(test)"
        raise ModelError(message)
    return product(*pools)


def choices(item: object) -> tuple[object, ...]:
    """Return the alternatives of a `OneOf`; for any other item, return the item alone."""
    if isinstance(item, On):
        return tuple(On(item.port, choice) for choice in choices(item.item))
    if not isinstance(item, OneOf):
        return (item,)
    if not item.items:
        message = "OneOf() has no alternatives: no output could ever match it"
        raise ModelError(message)
    return tuple(choice for each in item.items for choice in choices(each))
