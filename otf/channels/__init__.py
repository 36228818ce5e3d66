"""Nets between a system and its tester that lose, duplicate or reorder messages.

`lossy`, `duplicating` and `reordering` return the spec of a system behind an unreliable net. You can combine the three
functions in any order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from otf.channels.channel import Channel, Reactions, SpecAnswers
from otf.channels.net import (
    FOREVER,
    InNet,
    NetMessage,
    NetState,
    NetTrouble,
    NetWay,
    PortOf,
    Rule,
    Rules,
    at_least,
    rule,
    whole,
)
from otf.spec import Spec
from otf.spec.outputs import Accept
from otf.spec.redrawing import Within


@dataclass(frozen=True, init=False)
class Unreliable(Spec[Any, Any]):
    """A spec as a tester sees it through an unreliable net; `lossy`, `duplicating` and `reordering` return it.

    `base` is the spec of the system itself, and `rules` say what the net does to messages. If the net only loses
    messages, the spec has the states of `base`. If the net duplicates or reorders messages, the states are objects of
    the class `InNet`, which contain the messages in flight. The spec has the inputs of `base`.

    >>> from otf.channels import duplicating, lossy
    >>> from otf.spec import goto
    >>> lamp = Spec(lambda on, inp: [goto(not on, "click")], initial=False, inputs=["press"])
    >>> lossy(lamp, outputs=["line"]).initial, duplicating(lamp, outputs=["line"]).initial
    (False, InNet(state=False, inputs=(), outputs=()))
    >>> lossy(lamp, outputs=["line"]).specifies(False, "press")
    True
    """

    base: Spec[Any, Any]
    rules: Rules

    def __init__(self, base: Spec[Any, Any], rules: Rules) -> None:
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "rules", rules)
        made = _spec_with_memory(base, rules) if rules.kept else _spec_without_memory(base, rules)
        named, timers = base.name, made.timers
        super().__init__(
            made.step, made.initial, made.inputs, made.emits, name=named, partial=made.partial, timers=timers
        )

    def of(self, base: Spec[Any, Any]) -> Unreliable:
        """Return the spec of another system behind the same net."""
        return Unreliable(base, self.rules)

    def completed(self) -> Unreliable:
        """Return the completed spec behind the net: the system ignores an unspecified input when that input arrives."""
        return self.of(self.base.completed())


def over(spec: Spec[Any, Any], rule: Rule) -> Spec[Any, Any]:
    """Return the spec of a system behind a net with one more rule.

    If the spec has a net already, the new rule joins the rules of that net.
    """
    if isinstance(spec, Unreliable):
        return Unreliable(spec.base, Rules((*spec.rules.rules, rule)))
    return Unreliable(spec, Rules((rule,)))


# The closures of the functions below contain the spec itself, but no method of an object that contains it: the
# fingerprint of a model looks for specs and functions in closures.


def _spec_with_memory(base: Spec[Any, Any], rules: Rules) -> Spec[Any, Any]:
    memory = SpecAnswers()

    def step(net: NetState, inp: object) -> list[NetWay]:
        return _channel(base, rules, memory).step(net, inp)

    def emits(net: NetState) -> list[NetWay]:
        return _channel(base, rules, memory).emits(net)

    partial = None if base.partial is None else _behind(base.partial)
    initial, timers = InNet(base.initial), base.timers
    inputs = Within(lambda net: base.inputs(net.state), base.inputs, lambda net: net.state)
    return Spec(step, initial, inputs, emits, partial=partial, timers=timers)


def _spec_without_memory(base: Spec[Any, Any], rules: Rules) -> Spec[Any, Any]:
    memory = SpecAnswers()

    def step(state: object, inp: object) -> list[NetWay]:
        return [_bare(way) for way in _channel(base, rules, memory).step(InNet(state), inp)]

    def emits(state: object) -> list[NetWay]:
        return [_bare(way) for way in _channel(base, rules, memory).emits(InNet(state))]

    own = emits if base.emits is not None else None
    return Spec(step, base.initial, base.inputs, own, partial=base.partial, timers=base.timers)


def _behind(partial: Spec[Any, Any]) -> Spec[Any, Any]:
    """Return the spec for states behind a net; it only shows which inputs are specified."""
    memory = SpecAnswers()

    def step(net: NetState, inp: object) -> list[NetWay]:
        return _channel(partial, Rules(()), memory).step(InNet(net.state), inp)

    return Spec(step, InNet(partial.initial), lambda net: partial.inputs(net.state), name=partial.name)


def _channel(base: Spec[Any, Any], rules: Rules, memory: SpecAnswers) -> Channel:
    return Channel(Reactions(base, rules, memory), rules)


def _bare(way: NetWay) -> NetWay:
    if not isinstance(way, Accept):
        return replace(way, state=way.state.state) if whole(way) else way

    def then(seen: tuple[Any, ...]) -> list[Any]:
        return [net.state for net in way.then(seen)]

    return replace(way, then=then)


State = TypeVar("State")
Input = TypeVar("Input")


def lossy(
    spec: Spec[State, Input], *, inputs: Iterable[str] = (), outputs: Iterable[str] = (), port: PortOf | None = None
) -> Spec[State, Input]:
    """Return the spec of a system behind a network that loses messages.

    `inputs` and `outputs` name the ports whose messages pass through the network. `port(message)` returns the port of a
    message; omit `port` if the model has one port. If the network loses an input, the system does nothing. The network
    may lose each output independently of other outputs. `lossy` raises UsageError if no ports are named.

    >>> from otf.spec import goto
    >>> spec = Spec(lambda on, inp: [goto(not on, "click")], initial=False, inputs=["press"])
    >>> for way in lossy(spec, inputs=["line"], outputs=["line"]).step(False, "press"): print(way.state, way.outputs)
    True ('click',)
    True ()
    False ()
    """
    return over(spec, rule(NetTrouble(lost=True), inputs, outputs, port))


def duplicating(  # noqa: PLR0913 -- all but the spec are given by name
    spec: Spec[Any, Input],
    *,
    inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    port: PortOf | None = None,
    copies: int = 1,
    late: int = 1,
) -> Spec[Any, Input]:
    """Return the spec of a system behind a network that duplicates messages: up to `copies` extra copies may arrive.

    `inputs` and `outputs` name the ports whose messages pass through the network. `port(message)` returns the port of a
    message; omit `port` if the model has one port. Until a copy of a message arrives, the system takes at most `late`
    further inputs. A copy also arrives before the next message on its port, unless `reordering` applies to that port.
    The spec may allow more than `copies` copies, because counting them would need too many states. `duplicating` raises
    UsageError if no ports are named.

    >>> from otf.spec import goto
    >>> spec = Spec(lambda on, inp: [goto(not on, "click")], initial=False, inputs=["press"])
    >>> net = duplicating(spec, outputs=["line"])
    >>> for way in net.step(net.initial, "press"): print(way.outputs, way.state.outputs)
    ('click',) (NetMessage(item='click', left=1, more=2, sure=False),)
    ('click', 'click') (NetMessage(item='click', left=1, more=2, sure=False),)
    """
    at_least(1, "copies", copies)
    at_least(0, "late", late)
    return over(spec, rule(NetTrouble(copies=copies, late=late), inputs, outputs, port))


def reordering(  # noqa: PLR0913 -- all but the spec are given by name
    spec: Spec[Any, Input],
    *,
    inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    port: PortOf | None = None,
    late: int = 1,
    delay: float | None = None,
) -> Spec[Any, Input]:
    """Return the spec of a system behind a network that delays some messages, so that later messages overtake them.

    `inputs` and `outputs` name the ports whose messages pass through the network. `port(message)` returns the port of a
    message; omit `port` if the model has one port. The network loses no messages. While a message is delayed, the
    system takes at most `late` further inputs. If you pass `delay`, a delayed message also arrives within `delay`
    seconds. `reordering` raises UsageError if no ports are named.

    >>> from otf.spec import goto
    >>> spec = Spec(lambda on, inp: [goto(not on, "click")], initial=False, inputs=["press"])
    >>> net = reordering(spec, outputs=["line"])
    >>> for way in net.step(net.initial, "press"): print(way.outputs, way.state.outputs)
    ('click',) ()
    () (NetMessage(item='click', left=1, more=1, sure=True),)
    """
    at_least(0, "late", late)
    if delay is not None:
        at_least(0, "delay", delay)
    trouble = NetTrouble(held=True, late=late, delay=FOREVER if delay is None else delay)
    return over(spec, rule(trouble, inputs, outputs, port))


__all__ = ["InNet", "NetMessage", "Unreliable", "duplicating", "lossy", "reordering"]
