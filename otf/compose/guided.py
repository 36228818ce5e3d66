"""A model under a scenario, which restricts its inputs only, or all its transitions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from otf.compose.actions import Action
from otf.compose.scenario import Scenario
from otf.errors import UsageError
from otf.spec import Accept, Spec, Transition
from otf.values import show

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Guided(Generic[State]):
    """A state of a model together with the state `at` of the scenario; `at=None`: the scenario was left.

    >>> Guided("idle", None)
    'idle' | left
    """

    state: State
    at: Hashable

    def __repr__(self) -> str:
        """Return the state of the model, and what may still follow by the scenario."""
        return f"{show(self.state)} | {'left' if self.at is None else show(self.at)}"


class Restricted(Spec[Any, Any]):
    """The spec `base` under a scenario; `accepting` are the states in which both may end."""

    base: Spec[Any, Any]
    accepting: Callable[[Guided[Any]], bool]


def guided(spec: Spec[Any, Any], scenario: Scenario) -> Spec[Any, Any]:
    """Return the spec whose inputs follow the scenario, and which allows everything that the model allows.

    Use it to steer a test. A system that answers otherwise than the scenario is not wrong: then the scenario is left,
    and the inputs that it controls are no longer offered.

    >>> from otf.compose import scenario
    >>> from otf.spec import goto
    >>> machine = Spec(lambda paid, inp: [goto(inp == "coin")], False, ["coin", "button"])
    >>> tea = guided(machine, scenario(["coin", "button"]))
    >>> list(tea.inputs(tea.initial))
    ['coin']
    """
    return _under(spec, scenario, strict=False)


def composed(spec: Spec[Any, Any], scenario: Scenario) -> Spec[Any, Any]:
    """Return the product of a spec and a scenario: actions that the scenario controls happen in both or not at all.

    Unlike `guided`, it also removes outputs of the model that do not follow the scenario. Use it to analyse a model.

    >>> from otf.compose import scenario
    >>> from otf.spec import goto
    >>> machine = Spec(lambda paid, inp: [goto(inp == "coin", "ok"), goto(paid, "no")], False, ["coin"])
    >>> lucky = composed(machine, scenario("coin/'ok'*"))
    >>> [way.outputs for way in lucky.step(lucky.initial, "coin")]
    [('ok',)]
    """
    return _under(spec, scenario, strict=True)


def _under(spec: Spec[Any, Any], scenario: Scenario, *, strict: bool) -> Restricted:
    ends = getattr(spec, "accepting", None)

    def inputs(now: Guided[Any]) -> Iterable[Any]:
        return [inp for inp in spec.inputs(now.state) if _goes(scenario, now.at, Action(inp))]

    def step(now: Guided[Any], inp: Any) -> Iterator[Transition[Any] | Accept]:  # noqa: ANN401 -- any input
        for way in spec.step(now.state, inp):
            yield from _ways(scenario, now, way, Action(inp), strict=strict)

    def emits(now: Guided[Any]) -> Iterator[Transition[Any] | Accept]:
        for way in spec.emits(now.state) if spec.emits else ():
            yield from _ways(scenario, now, way, Action(None, (), spontaneous=True), strict=strict)

    def accepting(now: Guided[Any]) -> bool:
        return now.at is not None and scenario.ends(now.at) and (ends is None or ends(now.state))

    partial = _under(spec.partial, scenario, strict=strict) if spec.partial else None
    made = Restricted(
        step,
        Guided(spec.initial, scenario.start),
        inputs,
        emits if spec.emits else None,
        name=spec.name,
        partial=partial,
    )
    object.__setattr__(made, "accepting", accepting)
    object.__setattr__(made, "base", spec)
    return made


def _goes(scenario: Scenario, at: Hashable, action: Action) -> bool:
    return not scenario.concerns(action) or (at is not None and scenario.after(at, action) is not None)


def _ways(
    scenario: Scenario, now: Guided[Any], way: Transition[Any] | Accept, action: Action, *, strict: bool
) -> Iterator[Transition[Any] | Accept]:
    if isinstance(way, Accept):

        def then(seen: tuple[Any, ...]) -> list[Guided[Any]]:
            at = _moved(scenario, now.at, action._replace(outputs=seen))
            return [] if at is None and strict else [Guided(state, at) for state in way.then(seen)]

        yield replace(way, then=then)
        return
    at = _moved(scenario, now.at, action._replace(outputs=way.outputs))
    if at is not None or not strict:
        yield replace(way, state=Guided(way.state, at))


def _moved(scenario: Scenario, at: Hashable, action: Action) -> Hashable | None:
    return at if at is None or not scenario.concerns(action) else scenario.after(at, action)


def check(scenario: Scenario, inputs: Iterable[Any], outputs: Iterable[Any] = ()) -> None:
    """Raise UsageError for a scenario that names an action which is not among these."""
    actions = [Action(inp) for inp in inputs] + [Action(None, (each,), spontaneous=True) for each in outputs]
    for item in scenario.patterns:
        if not any(item.concerns(action) for action in actions):
            known = ", ".join(dict.fromkeys(show(action.input) for action in actions if not action.spontaneous))
            message = f"the scenario names {item.says}, which is no action of the model; its actions are {known}"
            raise UsageError(message)
