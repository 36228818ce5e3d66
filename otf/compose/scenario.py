"""Scenarios: small machines that restrict the order of the actions that they name."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from otf.compose.actions import Action, Pattern, pattern
from otf.compose.regex import NEVER, Regex, atom, expression, sequence
from otf.errors import UsageError
from otf.values import show

MachineRow: TypeAlias = tuple[Any, object, Any]


class Machine:
    """A finite machine as a scenario: rows of a state, an action and the next state.

    `start` is the state of the first row, unless another is given. `accepting` are the states in which it may end;
    without them it may end anywhere. Raises UsageError for a wrong row, or for no rows.

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
        """Return the states after an action, None if there are none."""
        return frozenset(to for source, item, to in self._rows if source in states and item.matches(action)) or None

    def ends(self, states: frozenset[Any]) -> bool:
        """Return whether it may end in one of these states."""
        return self._accepting is None or bool(states & self._accepting)


def _checked(rows: Iterable[MachineRow]) -> list[MachineRow]:
    table = list(rows)
    for number, row in enumerate(table, 1):
        if len(row) != 3:  # noqa: PLR2004 -- state, action, state
            message = f"row {number} of a scenario machine is {show(row)}; write (state, action, next_state)"
            raise UsageError(message)
    if not table:
        raise UsageError("a scenario machine needs at least one row: (state, action, next_state)")
    return table


@dataclass(frozen=True)
class Scenario:
    """An order of some actions; made by `scenario`. Actions that none of its patterns concerns are free.

    `after(state, action)` returns the next state, None if the action must not follow. `ends(state)` returns whether the
    scenario may end there. `patterns` are all patterns in it.

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


def scenario(written: str | Machine | Sequence[object]) -> Scenario:
    """Return the scenario of a list of actions, of a regular expression (see `expression`), or of a `Machine`.

    Raises UsageError for an empty list, or an error in the expression.

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
