"""Mutation operators: what a programmer gets wrong in one rule of a system, as a change of the rule's transitions.

A wrong value is one that is right elsewhere: `Material` has the values of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from functools import partial
from itertools import pairwise
from typing import Any, Final, TypeAlias

from otf.compose.actions import outputs_in
from otf.mutation.near import attempted
from otf.mutation.served import ModelRule, ModelRules, Ways, sent_by
from otf.spec import AnyOrder, On, OneOf, TimerStart, Transition, goto
from otf.values import key, show

KEPT: Final = 50  # different values of a field to keep


@dataclass(slots=True)
class Material:
    """The values of a model; a mutant sends a value that is right in another place, where it is wrong."""

    initial: Any
    slack: float
    port: Callable[[Any], str]
    states: dict[Any, Any] = field(default_factory=dict[Any, Any])
    outputs: dict[Any, tuple[Any, str]] = field(default_factory=dict[Any, tuple[Any, str]])
    _fields: dict[tuple[str, type, str], dict[Any, Any]] = field(
        default_factory=dict[tuple[str, type, str], dict[Any, Any]]
    )

    def learn(self, state: object, inp: object, ways: Ways) -> None:
        """Remember the values of a transition."""
        self._note("state", state)
        self._note("input", inp)
        if len(self.states) < KEPT * KEPT:
            self.states.setdefault(key(state), state)
        for value, port in sent_by(ways):
            self._note("output", value)
            self.outputs.setdefault(key((value, port)), (value, port))

    def _note(self, what: str, value: Any) -> None:  # noqa: ANN401 -- a value of the model
        parts = {each.name: getattr(value, each.name) for each in fields(value)} if is_dataclass(value) else {}
        for name, part in {**parts, "": value}.items():
            found = self._fields.setdefault((what, kind_of(value), name), {})
            if len(found) < KEPT:
                found.setdefault(key(part), part)

    def values(self, what: str, kind: type, name: str = "") -> list[Any]:
        """Return the values of a field, for a kind of state, input or output; without a name, whole values."""
        return list(self._fields.get((what, kind, name), {}).values())

    def other(self, what: str, whole: Any, name: str) -> Any:  # noqa: ANN401 -- any value
        """Return a state, input or output with another value in a field, or another whole one, if there is one."""
        value = getattr(whole, name) if name else whole
        found = _next(value, self.values(what, kind_of(whole), name))
        return (replace(whole, **{name: found}) if name else found) if found is not value else whole


def kind_of(value: Any) -> type[Any]:  # noqa: ANN401 -- any value
    """Return the class of a value."""
    return type(value)  # pyright: ignore[reportUnknownVariableType]


def _next(value: Any, known: list[Any]) -> Any:  # noqa: ANN401, PLR0911 -- one case a kind of value
    names = [key(each) for each in known]
    if len(known) > 1:
        at = names.index(key(value)) if key(value) in names else -1
        return known[(at + 1) % len(known)]
    match value:
        case bool():
            return not value
        case Enum():
            every = list(type(value))
            return every[(every.index(value) + 1) % len(every)]
        case int() | float():
            return value + 1
        case str():
            return f"{value}x"
        case bytes():
            return value + b"\0"
        case tuple() if value:
            return value[:-1]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value


Change: TypeAlias = Callable[[Any, Any, Ways], Ways]
FOREVER: Final = float("inf")
OPERATORS: Final = ("drop", "double", "field", "target", "guard", "extra", "late", "early", "lost timer", "swap")


@dataclass(frozen=True, slots=True)
class Operator:
    """One kind of mistake: its name, its description, and the changed transitions for a state and an input."""

    name: str
    says: str
    change: Change


def operators(rule: ModelRule, rules: ModelRules, material: Material, *, ignored: bool) -> Iterator[Operator]:
    """Yield the possible mistakes in a rule; `ignored`: also for inputs that the model leaves open."""
    ways = [way for _, _, found in rule.members for way in found]
    if ways or ignored:
        yield from _guards(rule, rules, material)
    yield from _extras(ways, material, rule)
    if not ways:
        return
    yield from _outputs(ways, material)
    yield from _targets(rule, material)
    yield from _times(ways, material, spontaneous=rule.spontaneous)


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
    kinds = {kind_of(value): value for value, _ in sent_by(ways)}
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
    """Return the outputs with two different neighbours exchanged; between ports there is no order."""
    for at, (one, other) in enumerate(pairwise(outputs)):
        ports = {named or port(value) for item in (one, other) for value, named in outputs_in(item)}
        if key(one) != key(other) and len(ports) == 1:
            return (*outputs[:at], other, one, *outputs[at + 2 :])
    return outputs


def _with(way: Transition[Any], outputs: tuple[Any, ...]) -> Transition[Any]:
    return replace(way, outputs=outputs)


def _each(change: Callable[[Transition[Any]], Transition[Any]]) -> Change:
    return lambda _state, _inp, ways: tuple(map(change, ways))


def _extras(ways: list[Transition[Any]], material: Material, rule: ModelRule) -> Iterator[Operator]:
    own = {key(each) for each in sent_by(ways)}
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


def _guards(rule: ModelRule, rules: ModelRules, material: Material) -> Iterator[Operator]:
    """Yield mistakes in which a rule ignores a field of its state, or of the input."""
    if not rule.members:
        return
    state = rule.members[0][0]
    for name in _names(state):
        value = _deciding_value(rule, rules, material, name)
        if value is not None:
            whose = f"{type(state).__name__}.{name}" if name else "the state"
            yield Operator("guard", f"{whose} is not looked at", _blind(rule, rules, name, value[0]))


def _deciding_value(rule: ModelRule, rules: ModelRules, material: Material, name: str) -> tuple[Any] | None:
    """Return a value of a field for which another rule would apply."""
    for state, inp, _ in rule.members[:3]:
        for value in material.values("state", kind_of(state), name):
            if _elsewhere(rule, rules, _put(state, name, value), inp):
                return (value,)
    return None


def _put(state: Any, name: str, value: Any) -> Any:  # noqa: ANN401 -- a state and a value of it
    return replace(state, **{name: value}) if name else value


def _elsewhere(rule: ModelRule, rules: ModelRules, state: Any, inp: Any) -> Ways:  # noqa: ANN401 -- state, input
    """Return the transitions of another rule, none if the same one applies or the model cannot answer."""

    def elsewhere() -> Ways:
        ways = rules.served.emits(state) if rule.spontaneous else rules.served.step(state, inp)
        other = bool(ways) and rules.of(state, inp, spontaneous=rule.spontaneous) is not rule
        return ways if other else ()

    return attempted(elsewhere, otherwise=())  # such a state need not exist


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
    # earlier by less than the jitter of the line is not too early
    return (0.0, lo / 4) if lo / 4 < lo - slack else (lo, hi)


def _unset(way: Transition[Any], name: str) -> Transition[Any]:
    return replace(way, timers=tuple(each for each in way.timers if each.name != name))


def _moved(way: Transition[Any], move: Callable[[float, float], tuple[float, float]]) -> Transition[Any]:
    within = None if way.within is None else move(*way.within)
    timers = tuple(
        TimerStart(each.name, *move(each.lo, each.hi)) if isinstance(each, TimerStart) else each for each in way.timers
    )
    return replace(way, within=within, timers=timers)
