"""Scenarios as finite machines: a table of states and patterns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, TypeAlias

from otf.compose.actions import Action, Pattern, pattern
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
        """Tell whether it may end in one of these states."""
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
