"""The behaviour of a system behind a net, computed from its behaviour without the net.

States that no observation can distinguish are merged into one, so that the sets of states stay small. A lost message is
the same as one that has not arrived yet, and a copy that changes nothing is the same as no copy.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, TypeGuard

from otf.channels.net import (
    FOREVER,
    NONE,
    InNet,
    NetMessage,
    NetState,
    NetWay,
    Rules,
    aged,
    fewest,
    full,
    instead,
    same,
    silent,
    whole,
    with_one,
    without_one,
)
from otf.channels.outlet import coming, passings, window
from otf.errors import ModelError
from otf.spec import Spec
from otf.spec.offering import Elapse
from otf.spec.outputs import Accept, AnyOrder
from otf.spec.transition import Transition
from otf.values import key, show

REMEMBERED: Final = 100_000  # answers


class SpecAnswers:
    """Remembers the transitions of one spec, so that the spec computes them only once for each state and input.

    A spec may yield a new `lambda` at each call. In a net, outputs with different functions are different messages, so
    without `SpecAnswers` the number of states would have no limit.
    """

    def __init__(self) -> None:
        self._answers: dict[Hashable, list[Any]] = {}

    def __len__(self) -> int:
        """Return the number of remembered answers."""
        return len(self._answers)

    def answer(self, function: Callable[..., object], *arguments: object) -> list[Any]:
        """Return what the function yields for these arguments. Raises ModelError if that is not an iterable."""
        name = tuple(map(key, arguments))
        answer = self._answers.get(name)
        if answer is None:
            if len(self._answers) >= REMEMBERED:
                self._answers.clear()
            answer = self._answers[name] = _listed(function(*arguments))
        return answer


def _listed(yields: object) -> list[Any]:
    if _iterable(yields):
        return list(yields)
    message = f"it returned {show(yields)}; yield transitions (goto(state, output, …)), or return a list of them"
    raise ModelError(message)


def _iterable(yields: object) -> TypeGuard[Iterable[Any]]:
    return isinstance(yields, Iterable)


@dataclass(frozen=True, slots=True)
class Reactions:
    """The transitions of a system, with their outputs sent through the net."""

    base: Spec[Any, Any]
    rules: Rules
    memory: SpecAnswers

    def on_input(self, net: NetState, inp: object) -> list[NetWay]:
        """Return the transitions of the system on an input, without the net; empty if its spec does not specify it."""
        return self.memory.answer(self.base.step, net.state, inp)

    def out(self, net: NetState, ways: Iterable[NetWay], *, late: bool = False) -> Iterator[NetWay]:
        """Yield these transitions of the system as the tester's side of the net sees them."""
        for way in ways:
            if isinstance(way, Accept):
                yield self._accepting(net, way)
            elif not whole(way):
                yield way  # the oracle reports what is wrong with it
            else:
                for outputs, kept in passings(way.outputs, net.outputs, self.rules, late=late):
                    yield replace(way, state=InNet(way.state, net.inputs, kept), outputs=outputs)

    def taken(self, net: NetState, held: NetMessage, ways: Iterable[NetWay], *, late: bool = False) -> Iterator[NetWay]:
        """Yield what may happen when the system takes an input from the net by one of these transitions."""
        copies = self.rules.of_input(held.item).copies
        left = NetMessage(held.item, held.left, held.more, sure=held.sure and not copies)
        inputs = instead(net.inputs, held, left)
        gone = InNet(net.state, without_one(inputs, left), net.outputs)
        stays = InNet(net.state, inputs, net.outputs) if copies else gone
        for way in ways:
            seen = list(self.out(stays, [way], late=late))
            # Copies that change nothing and need no output are not counted: that would make one state for each number.
            # Other copies are counted: otherwise a system that counts its inputs would have infinitely many states.
            counted = copies and not (any(map(silent, seen)) and whole(way) and same(way.state, net.state))
            yield from self.out(gone, [way], late=late) if counted else seen

    def by_itself(self, net: NetState) -> Iterator[NetWay]:
        """Yield the spontaneous transitions of the system, and those on inputs in flight."""
        yield from map(self._restarted, self.out(net, self._spontaneous(net), late=True))
        for held in net.inputs:
            yield from self.arriving(net, held)

    def again(self, net: NetState) -> Iterator[NetWay]:
        """Yield those with outputs that keep the state of the system, so that they may repeat forever."""
        yield from self.out(net, _staying(net, self._spontaneous(net)), late=True)
        for held in net.inputs:
            yield from self.taken(net, held, _staying(net, self._late(net, held)), late=True)

    def arriving(self, net: NetState, held: NetMessage) -> Iterator[NetWay]:
        """Yield what may happen when an input in flight arrives at the system."""
        within = window(held, self.rules.of_input(held.item))
        for way in self.taken(net, held, self._late(net, held), late=True):
            # the window of the answer counts from when the system takes the input, which is unknown
            yield replace(way, within=within) if isinstance(way, Accept) or whole(way) else way

    def _late(self, net: NetState, held: NetMessage) -> list[NetWay]:
        ways = self.on_input(net, held.item)
        if ways:
            return ways
        message = (
            f"{show(held.item)} may arrive late or again, and the spec does not specify it in the state "
            f"{show(net.state)}; specify it there, or let the spec ignore it: total(spec)"
        )
        raise ModelError(message)

    def _spontaneous(self, net: NetState) -> list[NetWay]:
        return self.memory.answer(self.base.emits, net.state) if self.base.emits is not None else []

    def _restarted(self, way: NetWay) -> NetWay:
        # for the oracle, a move in the net changes the state, so it does not know when the system entered its own state
        within = getattr(way, "within", None)
        return replace(way, within=(0.0, within[1])) if within and self.rules.kept else way

    def _accepting(self, net: NetState, way: Accept) -> Accept:
        ports = way.port if isinstance(way.port, tuple) else (way.port,)
        if any(self.rules.of_output(port) != NONE for port in ports):
            where = f"on the port {way.port!r}" if way.port else "on the only port"
            message = f"an Accept {where}, where outputs may be lost, duplicated or delayed: it could not know its end"
            raise ModelError(message)

        def then(seen: Any) -> list[NetState]:  # noqa: ANN401 -- what the Accept asks for
            return [InNet(state, net.inputs, net.outputs) for state in way.then(seen)]

        return replace(way, then=then)


def _staying(net: NetState, ways: Iterable[NetWay]) -> list[NetWay]:
    return [way for way in ways if whole(way) and way.outputs and same(way.state, net.state)]


@dataclass(frozen=True, slots=True)
class Channel:
    """The net between a `system` and its tester; the `rules` say what the net does to messages."""

    system: Reactions
    rules: Rules

    def step(self, net: NetState, inp: object) -> list[NetWay]:
        """Return what may happen when an input enters the net; empty if the system's spec does not specify it."""
        ways: list[NetWay] = []
        if isinstance(inp, Elapse):
            # it passes through no net, so nothing delayed has to arrive before it
            return fewest([self._full(way) for way in self.system.out(net, self.system.on_input(net, inp))])
        for before, early in self._overdue(net):
            then = list(self._entered(self._age(before, inp), inp))
            if not then:
                return []
            ways += [_after(early, way) for way in then]
        return fewest([self._full(way) for way in ways])

    def emits(self, net: NetState) -> list[NetWay]:
        """Return what may happen without an input: moves of the system, arrivals of inputs, outputs from the net."""
        ways = fewest([self._full(way) for way in self.system.by_itself(net)], net)
        return [*ways, *coming(net, self.rules, self._filled)]

    def _overdue(self, net: NetState) -> Iterator[tuple[NetState, tuple[object, ...]]]:
        """Yield the ways in which all messages arrive that must arrive before the next input."""
        late = [held for held in net.inputs if held.sure and not held.left]
        for held in late:
            for way in self.system.arriving(net, held):
                if isinstance(way, Accept):
                    message = f"{show(held.item)} may be delayed, and an Accept answers it: use lossy(…) there as well"
                    raise ModelError(message)
                for then, outputs in self._overdue(way.state):
                    yield then, (*way.outputs, *outputs)
        if not late:
            outstanding = [held.item for held in net.outputs if held.sure and not held.left]
            yield net, (AnyOrder(*outstanding),) if len(outstanding) > 1 else tuple(outstanding)

    def _age(self, net: NetState, inp: object) -> NetState:
        inputs = aged(net.inputs)
        if self.rules.of_input(inp).ordered:
            port = self.rules.port(inp)
            inputs = tuple(held for held in inputs if self.rules.port(held.item) != port)
        return InNet(net.state, inputs, aged(net.outputs))

    def _entered(self, net: NetState, inp: object) -> Iterator[NetWay]:
        trouble, ways = self.rules.of_input(inp), self.system.on_input(net, inp)
        if not ways:
            return
        if trouble.kept:
            fresh = NetMessage(inp, trouble.late, 1 + trouble.copies, sure=trouble.sure)
            net = InNet(net.state, with_one(net.inputs, fresh, FOREVER), net.outputs)
            (held,) = (each for each in net.inputs if same(each.item, inp))
            yield from self.system.taken(net, held, ways)
        else:
            yield from self.system.out(net, ways)
        if trouble.lost or trouble.held:
            yield Transition(net)

    def _full(self, way: NetWay) -> NetWay:
        if not isinstance(way, Accept):
            return replace(way, state=self._filled(way.state)) if whole(way) else way

        def then(seen: Any) -> list[NetState]:  # noqa: ANN401 -- what the Accept asks for
            return [self._filled(state) for state in way.then(seen)]

        return replace(way, then=then)

    def _filled(self, net: NetState) -> NetState:
        return full(net, self.system.again)


def _after(early: tuple[object, ...], way: NetWay) -> NetWay:
    if isinstance(way, Accept):
        if not early:
            return way
        message = f"an Accept while {show(early[0])}, delayed so far, is due as well: use lossy(…) there as well"
        raise ModelError(message)
    if not whole(way):
        return way
    outputs = (*early, *way.outputs)
    return replace(way, outputs=outputs, within=way.within if outputs and not early else None)
