"""A model under a scenario: what it may do is restricted, or only what is offered to it."""

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
LOOKED: int = 1_000


@dataclass(frozen=True, slots=True)
class Guided(Generic[State]):
    """A state of a model, and how far the scenario is; None: it was left."""

    state: State
    at: Hashable

    def __repr__(self) -> str:
        """Write the state of the model, and what the scenario still foresees."""
        return f"{show(self.state)} | {'left' if self.at is None else show(self.at)}"


class Restricted(Spec[Any, Any]):
    """The spec `base` under a scenario; `accepting` are the states in which both may end."""

    base: Spec[Any, Any]
    accepting: Callable[[Guided[Any]], bool]


def guided(spec: Spec[Any, Any], told: Scenario) -> Spec[Any, Any]:
    """Return the spec that offers only what the scenario goes on with, and allows all that the model allows.

    A system that answers otherwise than the scenario foresees is not wrong: the scenario is left, and what it concerns
    is not offered any more.
    """
    return _under(spec, told, strict=False)


def composed(spec: Spec[Any, Any], told: Scenario) -> Spec[Any, Any]:
    """Return the product of a spec and a scenario: actions that the scenario concerns happen in both, or not at all."""
    return _under(spec, told, strict=True)


def _under(spec: Spec[Any, Any], told: Scenario, *, strict: bool) -> Restricted:
    ends = getattr(spec, "accepting", None)

    def inputs(now: Guided[Any]) -> Iterable[Any]:
        return [inp for inp in spec.inputs(now.state) if _goes(told, now.at, Action(inp))]

    def step(now: Guided[Any], inp: Any) -> Iterator[Transition[Any] | Accept]:  # noqa: ANN401 -- any input
        for way in spec.step(now.state, inp):
            yield from _ways(told, now, way, Action(inp), strict=strict)

    def emits(now: Guided[Any]) -> Iterator[Transition[Any] | Accept]:
        for way in spec.emits(now.state) if spec.emits else ():
            yield from _ways(told, now, way, Action(None, (), spontaneous=True), strict=strict)

    def accepting(now: Guided[Any]) -> bool:
        return now.at is not None and told.ends(now.at) and (ends is None or ends(now.state))

    partial = _under(spec.partial, told, strict=strict) if spec.partial else None
    made = Restricted(
        step, Guided(spec.initial, told.start), inputs, emits if spec.emits else None, name=spec.name, partial=partial
    )
    object.__setattr__(made, "accepting", accepting)
    object.__setattr__(made, "base", spec)
    return made


def _goes(told: Scenario, at: Hashable, action: Action) -> bool:
    return not told.concerns(action) or (at is not None and told.after(at, action) is not None)


def _ways(
    told: Scenario, now: Guided[Any], way: Transition[Any] | Accept, action: Action, *, strict: bool
) -> Iterator[Transition[Any] | Accept]:
    if isinstance(way, Accept):

        def then(seen: tuple[Any, ...]) -> list[Guided[Any]]:
            at = _moved(told, now.at, action._replace(outputs=seen))
            return [] if at is None and strict else [Guided(state, at) for state in way.then(seen)]

        yield replace(way, then=then)
        return
    at = _moved(told, now.at, action._replace(outputs=way.outputs))
    if at is not None or not strict:
        yield replace(way, state=Guided(way.state, at))


def _moved(told: Scenario, at: Hashable, action: Action) -> Hashable | None:
    return at if at is None or not told.concerns(action) else told.after(at, action)


def check(told: Scenario, inputs: Iterable[Any], outputs: Iterable[Any] = ()) -> None:
    """Refuse a scenario that names an action which is not among these."""
    actions = [Action(inp) for inp in inputs] + [Action(None, (each,), spontaneous=True) for each in outputs]
    for item in told.patterns:
        if not any(item.concerns(action) for action in actions):
            known = ", ".join(dict.fromkeys(show(action.input) for action in actions if not action.spontaneous))
            message = f"the scenario names {item.says}, which is no action of the model; there are {known}"
            raise UsageError(message)
