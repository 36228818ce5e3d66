"""Scenarios, which are small machines that restrict the order of actions; and a model under a scenario.

A scenario restricts either only the model's inputs, or all its transitions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

from otf.compose.actions import Action, Pattern, names, pattern
from otf.compose.regex import NEVER, Regex, atom, expression, sequence
from otf.errors import UsageError, near
from otf.spec import Accept, Spec, Transition
from otf.spec.offering import Always
from otf.spec.redrawing import Within
from otf.values import show
from otf.values.arguments import checked

MachineRow: TypeAlias = tuple[Any, object, Any]


class Machine:
    """A finite machine as a scenario, written as rows of a state, an action and the next state.

    `start` is the initial state of the machine (default: the state of the first row). `accepting` are the states in
    which the scenario may end (default: all). `patterns` are the actions in the rows. `Machine` raises UsageError for a
    wrong row, or if there are no rows.

    >>> abba = Machine([(0, "a", 1), (1, "b", 0)], accepting=[0])
    >>> abba.ends(abba.after(abba.start, Action("a")))
    False
    """

    def __init__(self, rows: Iterable[MachineRow], start: Any = None, accepting: Iterable[Any] | None = None) -> None:  # noqa: ANN401
        self._rows = [(source, pattern(item), target) for source, item, target in _checked(rows)]
        self.start: Hashable = frozenset([self._rows[0][0] if start is None else start])
        self._accepting = None if accepting is None else frozenset(accepting)
        self.patterns: tuple[Pattern, ...] = tuple(item for _, item, _ in self._rows)

    def after(self, states: frozenset[Any], action: Action) -> frozenset[Any] | None:
        """Return the states of the machine after an action, or None if the action cannot happen."""
        return frozenset(to for source, item, to in self._rows if source in states and item.matches(action)) or None

    def ends(self, states: frozenset[Any]) -> bool:
        """Return whether the scenario may end in one of these states."""
        return self._accepting is None or bool(states & self._accepting)


def _checked(rows: Iterable[MachineRow]) -> list[MachineRow]:
    table = list(rows)
    for number, row in enumerate(table, 1):
        if not isinstance(row, (tuple, list)) or len(row) != 3:  # noqa: PLR2004 # pyright: ignore[reportUnnecessaryIsInstance] -- of the user
            raise UsageError(f"row {number} of a scenario machine is {show(row)}; write (state, action, next_state)")
    if not table:
        raise UsageError("a scenario machine needs at least one row: (state, action, next_state)")
    return table


@dataclass(frozen=True)
class Scenario:
    """An order in which some actions must happen; the function `scenario` returns a `Scenario`.

    A scenario does not restrict the actions that it does not mention.

    `start` is the initial state of the scenario. `after(state, action)` returns the scenario's next state, or None if
    the scenario forbids the action. `ends(state)` returns whether the scenario may end in a state. `patterns` match all
    actions that the scenario restricts.

    >>> once = scenario(["coin"])
    >>> once.concerns(Action("coin")), once.concerns(Action("button"))
    (True, False)
    """

    start: Hashable
    after: Callable[[Any, Action], Hashable | None]
    ends: Callable[[Any], bool]
    patterns: tuple[Pattern, ...]

    def concerns(self, action: Action) -> bool:
        """Return whether the scenario controls an action."""
        return any(each.concerns(action) for each in self.patterns)


@checked
def scenario(written: str | Machine | Sequence[object]) -> Scenario:
    """Return a scenario made from a list of actions, a regular expression (see `expression`), or a `Machine`.

    `scenario` raises UsageError for an empty list, or for an error in the expression.

    >>> two = scenario("coin (button | coin)*")
    >>> two.after(two.start, Action("button")) is None
    True
    """
    if isinstance(written, Machine):
        return Scenario(written.start, written.after, written.ends, written.patterns)
    expr = expression(written) if isinstance(written, str) else sequence([atom(each) for each in _listed(written)])
    return Scenario(expr, _derived, lambda state: state.empty, tuple(expr.atoms()))


def _derived(state: Regex, action: Action) -> Regex | None:
    after = state.after(action)
    return None if after == NEVER else after


def _listed(written: Iterable[object]) -> list[object]:
    items = list(written)
    if not items:
        raise UsageError("a scenario needs actions: give a list of actions, an expression, or a Machine")
    return items


State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Guided(Generic[State]):
    """A `state` of a model, together with the state of its scenario (`at`).

    The state of the scenario is None once the path has left the scenario.

    >>> Guided("idle", None)
    'idle' | left
    """

    state: State
    at: Hashable

    def __repr__(self) -> str:
        """Return the state of the model, and what the scenario still allows."""
        return f"{show(self.state)} | {'left' if self.at is None else show(self.at)}"


class Restricted(Spec[Any, Any]):
    """A spec that a scenario restricts; `base` is the spec without the scenario.

    `accepting(state)` returns whether both the spec and the scenario may end in a state.
    """

    base: Spec[Any, Any]
    accepting: Callable[[Guided[Any]], bool]


@checked
def guide(spec: Spec[Any, Any], scenario: Scenario) -> Spec[Any, Any]:
    """Return the spec whose inputs follow a scenario; every output that the model allows is still allowed.

    Use `guide` to steer a test towards a situation. A system whose outputs leave the scenario does not fail. After such
    an output, the spec no longer offers the inputs that the scenario restricts.

    >>> from otf.compose import scenario
    >>> from otf.spec import goto
    >>> machine = Spec(lambda paid, inp: [goto(inp == "coin")], False, ["coin", "button"])
    >>> tea = guide(machine, scenario(["coin", "button"]))
    >>> list(tea.inputs(tea.initial))
    ['coin']
    """
    return _under(spec, scenario, strict=False)


@checked
def compose(spec: Spec[Any, Any], scenario: Scenario) -> Spec[Any, Any]:
    """Return a spec that allows only those actions of the given spec that a scenario allows too.

    `compose` also removes outputs that the scenario does not allow; `guide` keeps these outputs. Use `compose` to
    analyse a model, and `guide` to test a system.

    >>> from otf.compose import scenario
    >>> from otf.spec import goto
    >>> machine = Spec(lambda paid, inp: [goto(inp == "coin", "ok"), goto(paid, "no")], False, ["coin"])
    >>> lucky = compose(machine, scenario("coin/'ok'*"))
    >>> [way.outputs for way in lucky.step(lucky.initial, "coin")]
    [('ok',)]
    """
    return _under(spec, scenario, strict=True)


def _under(spec: Spec[Any, Any], scenario: Scenario, *, strict: bool) -> Restricted:
    if isinstance(spec.inputs, Always) and not spec.inputs.sample:
        check(
            replace(scenario, patterns=tuple(each for each in scenario.patterns if not each.says.startswith("!"))),
            spec.inputs.inputs,
        )
    ends = getattr(spec, "accepting", None)

    def allow(now: Guided[Any], inp: object) -> bool:
        return _goes(scenario, now.at, Action(inp))

    def inputs(now: Guided[Any]) -> Iterable[Any]:
        return [inp for inp in spec.inputs(now.state) if allow(now, inp)]

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
        Within(inputs, spec.inputs, lambda now: now.state, allow),
        emits if spec.emits else None,
        name=spec.name,
        partial=partial,
        timers=spec.timers,
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
    """Raise UsageError if a scenario names an action that is neither one of `inputs` nor one of `outputs`."""
    actions = [Action(inp) for inp in inputs] + [Action(None, (each,), spontaneous=True) for each in outputs]
    for item in scenario.patterns:
        if not any(item.concerns(action) for action in actions):
            known = dict.fromkeys(show(action.input) for action in actions if not action.spontaneous)
            message = f"the scenario names {item.says}, which is not an action of the model"
            hint = near(item.says, {name for action in actions for name in names(action.input)} | {*known})
            raise UsageError(f"{message}; {hint} its actions are {', '.join(known)}".replace("  ", " "))
