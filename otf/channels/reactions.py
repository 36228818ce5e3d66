"""What a system does behind a net, seen from before it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, TypeGuard

from otf.channels.net import InNet, NetMessage, NetState, NetWay, instead, same, silent, whole, without_one
from otf.channels.outlet import passings, window
from otf.channels.trouble import NONE, Rules
from otf.errors import ModelError
from otf.spec.outputs import Accept
from otf.spec.spec import Spec
from otf.values import key, show

REMEMBERED: Final = 100_000  # answers


class SpecAnswers:
    """The answers of one spec, by the state, and the input where there is one."""

    def __init__(self) -> None:
        self._answers: dict[Hashable, list[Any]] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._answers)

    def asked(self, function: Callable[..., object], *arguments: object) -> list[Any]:
        """Return what the function yields. Raises ModelError where that is nothing to go through."""
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
    """The transitions of a system, their outputs on the way through the net."""

    base: Spec[Any, Any]
    rules: Rules
    memory: SpecAnswers

    def asked(self, net: NetState, inp: object) -> list[NetWay]:
        """Return what the system does on an input, without the net; nothing where its spec leaves that open."""
        return self.memory.asked(self.base.step, net.state, inp)

    def out(self, net: NetState, ways: Iterable[NetWay], *, late: bool = False) -> Iterator[NetWay]:
        """Yield how these transitions of the system are seen."""
        for way in ways:
            if isinstance(way, Accept):
                yield self._accepting(net, way)
            elif not whole(way):
                yield way  # the oracle says what is wrong with it
            else:
                for outputs, kept in passings(way.outputs, net.outputs, self.rules, late=late):
                    yield replace(way, state=InNet(way.state, net.inputs, kept), outputs=outputs)

    def taken(self, net: NetState, held: NetMessage, ways: Iterable[NetWay], *, late: bool = False) -> Iterator[NetWay]:
        """Yield what may happen when the system takes an input out of the net by one of these transitions."""
        copies = self.rules.of_input(held.item).copies
        left = NetMessage(held.item, held.left, held.more, sure=held.sure and not copies)
        inputs = instead(net.inputs, held, left)
        gone = InNet(net.state, without_one(inputs, left), net.outputs)
        stays = InNet(net.state, inputs, net.outputs) if copies else gone
        for way in ways:
            seen = list(self.out(stays, [way], late=late))
            # copies that change nothing and of which nothing need be seen are not counted: that would be a state for
            # each number of them. Others are: a system that counts its inputs would have no end of states
            counted = copies and not (any(map(silent, seen)) and whole(way) and same(way.state, net.state))
            yield from self.out(gone, [way], late=late) if counted else seen

    def by_itself(self, net: NetState) -> Iterator[NetWay]:
        """Yield what the system may do unasked, and what it may do on the inputs that are in the net."""
        yield from map(self._restarted, self.out(net, self._spontaneous(net), late=True))
        for held in net.inputs:
            yield from self.arriving(net, held)

    def again(self, net: NetState) -> Iterator[NetWay]:
        """Yield of that what leaves the system in its state and is seen, so that it may go on and on."""
        yield from self.out(net, _staying(net, self._spontaneous(net)), late=True)
        for held in net.inputs:
            yield from self.taken(net, held, _staying(net, self._late(net, held)), late=True)

    def arriving(self, net: NetState, held: NetMessage) -> Iterator[NetWay]:
        """Yield what may happen when an input in the net comes to the system."""
        within = window(held, self.rules.of_input(held.item))
        for way in self.taken(net, held, self._late(net, held), late=True):
            # the window of the answer counts from when the system takes the input, which nobody knows
            yield replace(way, within=within) if isinstance(way, Accept) or whole(way) else way

    def _late(self, net: NetState, held: NetMessage) -> list[NetWay]:
        ways = self.asked(net, held.item)
        if ways:
            return ways
        message = (
            f"{show(held.item)} may come late or again, and the spec leaves it open in the state {show(net.state)}; "
            "say what happens then, or that it is ignored: total(spec)"
        )
        raise ModelError(message)

    def _spontaneous(self, net: NetState) -> list[NetWay]:
        return self.memory.asked(self.base.emits, net.state) if self.base.emits is not None else []

    def _restarted(self, way: NetWay) -> NetWay:
        # what happens in the net is a change of state for the oracle: since when the system is in its own is not known
        within = getattr(way, "within", None)
        return replace(way, within=(0.0, within[1])) if within and self.rules.kept else way

    def _accepting(self, net: NetState, way: Accept) -> Accept:
        ports = way.port if isinstance(way.port, tuple) else (way.port,)
        if any(self.rules.of_output(port) != NONE for port in ports):
            where = f"on the port {way.port!r}" if way.port else "on the only port"
            message = f"an Accept {where}, where outputs may be lost, doubled or held up: it could not tell its end"
            raise ModelError(message)

        def then(seen: Any) -> list[NetState]:  # noqa: ANN401 -- whatever the Accept asks for
            return [InNet(state, net.inputs, net.outputs) for state in way.then(seen)]

        return replace(way, then=then)


def _staying(net: NetState, ways: Iterable[NetWay]) -> list[NetWay]:
    return [way for way in ways if whole(way) and way.outputs and same(way.state, net.state)]
