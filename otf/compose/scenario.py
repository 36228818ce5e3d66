"""Scenarios: small machines that say in which order the actions that they name may come."""

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
    """A finite machine: rows of a state, an action and the next state. Without `accepting` it may end anywhere.

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
        """Return the states after an action, None where there are none."""
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
    """The order of some actions; actions that none of its patterns concerns are free.

    `after(state, action)` is the next state, None where the scenario does not go on so; `ends(state)` tells whether it
    may end there.
    """

    start: Hashable
    after: Callable[[Any, Action], Hashable | None]
    ends: Callable[[Any], bool]
    patterns: tuple[Pattern, ...]

    def concerns(self, action: Action) -> bool:
        """Return whether the scenario says anything of an action."""
        return any(each.concerns(action) for each in self.patterns)


def scenario(written: str | Machine | Sequence[object]) -> Scenario:
    """Return a scenario: a list of actions, a regular expression over them, or a finite machine.

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
        raise UsageError("a scenario of no actions says nothing: give a list of actions, an expression, or a Machine")
    return items
