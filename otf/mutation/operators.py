"""Mutation operators: what a programmer gets wrong in one rule of a system, as a change of the rule's transitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Final, TypeAlias

from otf.errors import USERS_OWN
from otf.mutation.material import Material, kind_of
from otf.mutation.rules import ModelRule, ModelRules
from otf.mutation.served import Ways, plain
from otf.spec import AnyOrder, On, OneOf, TimerStart, Transition, goto
from otf.values import key, show

Change: TypeAlias = Callable[[Any, Any, Ways], Ways]
FOREVER: Final = float("inf")
OPERATORS: Final = ("drop", "double", "field", "target", "guard", "extra", "late", "early", "lost timer", "swap")


@dataclass(frozen=True, slots=True)
class Operator:
    """One kind of mistake: its name, what it does in words, and the changed transitions of a state and an input."""

    name: str
    says: str
    change: Change


def operators(rule: ModelRule, rules: ModelRules, material: Material, *, ignored: bool) -> Iterator[Operator]:
    """Yield the mistakes that can be made in a rule; `ignored`: inputs that the model leaves open are tried as well."""
    ways = [way for _, _, found in rule.members for way in found]
    if ways or ignored:
        yield from _guards(rule, rules, material)
    yield from _extras(ways, material, rule)
    if not ways:
        return
    yield from _outputs(ways, material)
    yield from _targets(rule, material)
    yield from _times(ways, material, spontaneous=rule.spontaneous)


# ---- outputs -------------------------------------------------------------------------------------------------------


def _outputs(ways: list[Transition[Any]], material: Material) -> Iterator[Operator]:
    most = max(len(way.outputs) for way in ways)
    if most:
        yield Operator("drop", "the last output is not sent", _each(lambda way: _with(way, _less(way.outputs))))
        twice = _each(lambda way: _with(way, way.outputs + way.outputs[-1:]))
        yield Operator("double", "the last output is sent twice", twice)
    if most > 1:
        yield Operator("drop", "only the last output is sent", _each(lambda way: _with(way, way.outputs[-1:])))
    if any(_swapped(way.outputs, material.port) != way.outputs for way in ways):
        swapped = _each(lambda way: _with(way, _swapped(way.outputs, material.port)))
        yield Operator("swap", "two outputs come in the wrong order", swapped)
    kinds = {kind_of(value): value for way in ways for item in way.outputs for value, _ in plain(item)}
    for kind, value in kinds.items():
        for name in _names(value):
            yield _field(material, kind, name)


def _field(material: Material, kind: type, name: str) -> Operator:
    def wrong(value: Any) -> Any:  # noqa: ANN401 -- an output
        return material.other("output", value, name) if type(value) is kind else value

    says = f"{kind.__name__}.{name} has another value" if name else f"another {kind.__name__} is sent"
    return Operator("field", says, _each(lambda way: _with(way, tuple(_mapped(item, wrong) for item in way.outputs))))


def _names(value: object) -> list[str]:
    return [each.name for each in fields(value) if each.init] if is_dataclass(value) else [""]


def _mapped(item: Any, wrong: Callable[[Any], Any]) -> Any:  # noqa: ANN401 -- an item of outputs
    match item:
        case AnyOrder(items) | OneOf(items):
            return type(item)(*(_mapped(each, wrong) for each in items))
        case On(port, inner):
            return On(port, _mapped(inner, wrong))
        case _:
            return wrong(item)


def _less(outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    last = outputs[-1] if outputs else None
    rest = (AnyOrder(*last.items[1:]),) if isinstance(last, AnyOrder) and len(last.items) > 1 else ()
    return (*outputs[:-1], *rest)


def _swapped(outputs: tuple[Any, ...], port: Callable[[Any], str]) -> tuple[Any, ...]:
    """Return the outputs with two neighbours exchanged that differ; between ports there is no order."""
    for at, (one, other) in enumerate(pairwise(outputs)):
        ports = {named or port(value) for item in (one, other) for value, named in plain(item)}
        if key(one) != key(other) and len(ports) == 1:
            return (*outputs[:at], other, one, *outputs[at + 2 :])
    return outputs


def _with(way: Transition[Any], outputs: tuple[Any, ...]) -> Transition[Any]:
    return replace(way, outputs=outputs)


def _each(change: Callable[[Transition[Any]], Transition[Any]]) -> Change:
    return lambda _state, _inp, ways: tuple(map(change, ways))


def _extras(ways: list[Transition[Any]], material: Material, rule: ModelRule) -> Iterator[Operator]:
    own = {key(each) for way in ways for item in way.outputs for each in plain(item)}
    others = [each for name, each in material.outputs.items() if name not in own]
    if not others:
        return
    value, port = others[rule.number % len(others)]
    more = On(port, value) if port else value

    def emitted(state: Any, _inp: Any, found: Ways) -> Ways:  # noqa: ANN401 -- a state and an input
        return (*found, goto(state, more))

    def answered(state: Any, _inp: Any, found: Ways) -> Ways:  # noqa: ANN401 -- as above
        return tuple(_with(way, (*way.outputs, more)) for way in found) or (goto(state, more),)

    if rule.spontaneous:
        yield Operator("extra", f"{show(value)} comes now and then", emitted)
    elif ways:
        yield Operator("extra", f"{show(value)} comes as well", answered)


# ---- next states ---------------------------------------------------------------------------------------------------


def _targets(rule: ModelRule, material: Material) -> Iterator[Operator]:
    pairs = [(state, way.state) for state, _, ways in rule.members for way in ways]
    if any(key(state) != key(then) for state, then in pairs):
        yield Operator("target", "the state stays as it is", _goes(lambda state, _then: state))
    yield Operator("target", "it goes to the initial state", _goes(lambda _state, _then: material.initial))
    kinds = {kind_of(then): then for _, then in pairs}
    for kind, value in kinds.items():
        for name in _names(value):
            yield from _wrong_state(kind, name, material)


def _wrong_state(kind: type, name: str, material: Material) -> Iterator[Operator]:
    def kept(state: Any, then: Any) -> Any:  # noqa: ANN401 -- states
        same = name and type(state) is type(then) is kind
        return replace(then, **{name: getattr(state, name)}) if same else then

    def other(_state: Any, then: Any) -> Any:  # noqa: ANN401 -- states
        return material.other("state", then, name) if type(then) is kind else then

    whose = f"{kind.__name__}.{name}" if name else kind.__name__
    if name:
        yield Operator("target", f"{whose} is not updated", _goes(kept))
    yield Operator("target", f"{whose} gets another value", _goes(other))


def _goes(then: Callable[[Any, Any], Any]) -> Change:
    return lambda state, _inp, ways: tuple(replace(way, state=then(state, way.state)) for way in ways)


# ---- guards --------------------------------------------------------------------------------------------------------


def _guards(rule: ModelRule, rules: ModelRules, material: Material) -> Iterator[Operator]:
    """Yield mistakes in which a rule does not look at a field of its state, or of the input."""
    if not rule.members:
        return
    state, inp, _ = rule.members[0]
    for name in _names(state):
        value = _deciding(rule, rules, material, name)
        if value is not None:
            whose = f"{type(state).__name__}.{name}" if name else "the state"
            yield Operator("guard", f"{whose} is not looked at", _blind(rule, rules, name, value[0]))
    del inp


def _deciding(rule: ModelRule, rules: ModelRules, material: Material, name: str) -> tuple[Any] | None:
    """Return a value of a field with which another rule would apply."""
    for state, inp, _ in rule.members[:3]:
        for value in material.values("state", kind_of(state), name):
            if _elsewhere(rule, rules, _put(state, name, value), inp):
                return (value,)
    return None


def _put(state: Any, name: str, value: Any) -> Any:  # noqa: ANN401 -- a state and a value of it
    return replace(state, **{name: value}) if name else value


def _elsewhere(rule: ModelRule, rules: ModelRules, state: Any, inp: Any) -> Ways:  # noqa: ANN401 -- state, input
    """Return the transitions of another rule, none if the same one applies or the model cannot be asked."""
    try:
        ways = rules.served.emits(state) if rule.spontaneous else rules.served.step(state, inp)
        other = bool(ways) and rules.of(state, inp, spontaneous=rule.spontaneous) is not rule
    except USERS_OWN:
        raise
    except Exception:  # noqa: BLE001 -- such a state need not exist
        return ()
    return ways if other else ()


def _blind(rule: ModelRule, rules: ModelRules, name: str, value: Any) -> Change:  # noqa: ANN401 -- a value of a field
    def change(state: Any, inp: Any, ways: Ways) -> Ways:  # noqa: ANN401 -- a state and an input
        found = _elsewhere(rule, rules, _put(state, name, value), inp)
        return tuple(replace(way, state=_back(state, way.state, name, value)) for way in found) or ways

    return change


def _back(state: Any, then: Any, name: str, value: Any) -> Any:  # noqa: ANN401 -- states
    """Return the next state with the field as it was, if the transition left it alone."""
    if not name:
        return state if key(then) == key(value) else then
    same = type(then) is type(state) and key(getattr(then, name)) == key(value)
    return replace(then, **{name: getattr(state, name)}) if same else then


# ---- times ---------------------------------------------------------------------------------------------------------


def _times(ways: list[Transition[Any]], material: Material, *, spontaneous: bool) -> Iterator[Operator]:
    starts = {each.name for way in ways for each in way.timers if isinstance(each, TimerStart)}
    if spontaneous:
        yield Operator("lost timer", "it never comes", lambda _state, _inp, _ways: ())
    for name in sorted(starts):
        unset = partial(_unset, name=name)
        yield Operator("lost timer", f"the timer {name} is not started", _each(unset))
    if starts or any(way.within for way in ways):
        late, early = (partial(_moved, move=partial(move, slack=material.slack)) for move in (_late, _early))
        yield Operator("late", "it comes too late", _each(late))
        yield Operator("early", "it comes too early", _each(early))


def _late(lo: float, hi: float, slack: float) -> tuple[float, float]:
    return (lo, hi) if hi == FOREVER else (2 * hi + slack, 2 * hi + slack)


def _early(lo: float, hi: float, slack: float) -> tuple[float, float]:
    # earlier by less than the times of the line vary is not too early
    return (0.0, lo / 4) if lo / 4 < lo - slack else (lo, hi)


def _unset(way: Transition[Any], name: str) -> Transition[Any]:
    return replace(way, timers=tuple(each for each in way.timers if each.name != name))


def _moved(way: Transition[Any], move: Callable[[float, float], tuple[float, float]]) -> Transition[Any]:
    within = None if way.within is None else move(*way.within)
    timers = tuple(
        TimerStart(each.name, *move(each.lo, each.hi)) if isinstance(each, TimerStart) else each for each in way.timers
    )
    return replace(way, within=within, timers=timers)
