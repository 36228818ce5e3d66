"""A system behind a net, as a function of its behaviour without the net.

The sets of states stay small because states that no observation can distinguish are one state: a lost message and one
that has not arrived yet, a copy that changes nothing and no copy, a copy and the next copy of the same message.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from otf.channels.net import InNet, NetMessage, NetState, NetWay, aged, fewest, full, same, whole, with_one
from otf.channels.outlet import coming
from otf.channels.reactions import Reactions
from otf.channels.trouble import FOREVER, Rules
from otf.errors import ModelError
from otf.spec.offering import Elapse
from otf.spec.outputs import Accept, AnyOrder
from otf.spec.transition import Transition
from otf.values import show


@dataclass(frozen=True, slots=True)
class Channel:
    """The net between a system and the tester."""

    system: Reactions
    rules: Rules

    def step(self, net: NetState, inp: object) -> list[NetWay]:
        """Return what may happen when an input enters the net; nothing if the system's spec does not specify it."""
        ways: list[NetWay] = []
        if isinstance(inp, Elapse):
            # it goes through no net, so nothing delayed has to arrive before it
            return fewest([self._full(way) for way in self.system.out(net, self.system.on_input(net, inp))])
        for before, early in self._overdue(net):
            then = list(self._entered(self._aged(before, inp), inp))
            if not then:
                return []
            ways += [_after(early, way) for way in then]
        return fewest([self._full(way) for way in ways])

    def emits(self, net: NetState) -> list[NetWay]:
        """Return what may happen without an input: acts of the system, arrivals of inputs, outputs from the net."""
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

    def _aged(self, net: NetState, inp: object) -> NetState:
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
