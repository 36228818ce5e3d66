"""Specs of systems behind a net: all combinators add rules to the same net, so their order makes no difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from otf.channels.channel import Channel
from otf.channels.net import InNet, NetState, NetWay, whole
from otf.channels.reactions import Reactions, SpecAnswers
from otf.channels.trouble import Rule, Rules
from otf.spec.outputs import Accept
from otf.spec.spec import Spec

NetStep: TypeAlias = Callable[[Any, Any], list[NetWay]]
NetEmits: TypeAlias = Callable[[Any], list[NetWay]]


@dataclass(frozen=True, init=False)
class Unreliable(Spec[Any, Any]):
    """The spec `base` behind a net; returned by `lossy`, `duplicating` and `reordering`.

    If messages are only lost, its states are those of `base`; otherwise they are `InNet`, since the messages in flight
    matter. Its inputs are those of `base`.

    >>> from otf.channels import duplicating, lossy
    >>> from otf.spec import goto
    >>> lamp = Spec(lambda on, inp: [goto(not on, "click")], initial=False, inputs=["press"])
    >>> lossy(lamp, outputs=["line"]).initial, duplicating(lamp, outputs=["line"]).initial
    (False, InNet(state=False, inputs=(), outputs=()))
    """

    base: Spec[Any, Any]
    rules: Rules

    def __init__(self, base: Spec[Any, Any], rules: Rules) -> None:
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "rules", rules)
        made = _remembering(base, rules) if rules.kept else _forgetting(base, rules)
        super().__init__(made.step, made.initial, made.inputs, made.emits, name=base.name, partial=made.partial)

    def of(self, base: Spec[Any, Any]) -> Unreliable:
        """Return the spec of another system behind the same net."""
        return Unreliable(base, self.rules)

    def completed(self) -> Unreliable:
        """Return the spec that is complete behind the net: the system ignores an unspecified input when it arrives."""
        return self.of(self.base.completed())


def over(spec: Spec[Any, Any], rule: Rule) -> Spec[Any, Any]:
    """Return the spec behind a net with this rule, in addition to the rules that it has already."""
    if isinstance(spec, Unreliable):
        return Unreliable(spec.base, Rules((*spec.rules.rules, rule)))
    return Unreliable(spec, Rules((rule,)))


# The closures of the functions below contain the spec itself, and no method of an object that contains it: the
# fingerprint of a model looks for specs and functions in closures.


def _remembering(base: Spec[Any, Any], rules: Rules) -> Spec[Any, Any]:
    memory = SpecAnswers()

    def step(net: NetState, inp: object) -> list[NetWay]:
        return _channel(base, rules, memory).step(net, inp)

    def emits(net: NetState) -> list[NetWay]:
        return _channel(base, rules, memory).emits(net)

    partial = None if base.partial is None else _behind(base.partial)
    return Spec(step, InNet(base.initial), lambda net: base.inputs(net.state), emits, partial=partial)


def _forgetting(base: Spec[Any, Any], rules: Rules) -> Spec[Any, Any]:
    memory = SpecAnswers()

    def step(state: object, inp: object) -> list[NetWay]:
        return [_bare(way) for way in _channel(base, rules, memory).step(InNet(state), inp)]

    def emits(state: object) -> list[NetWay]:
        return [_bare(way) for way in _channel(base, rules, memory).emits(InNet(state))]

    return Spec(step, base.initial, base.inputs, emits if base.emits is not None else None, partial=base.partial)


def _behind(partial: Spec[Any, Any]) -> Spec[Any, Any]:
    """Return the spec for states behind a net, which only shows which inputs are specified."""
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
