"""Scenarios: small machines that say in which order the actions that they name may come."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from otf.compose.actions import Action, Pattern
from otf.compose.machine import Machine
from otf.compose.regex import NEVER, Regex, atom, expression, sequence
from otf.errors import UsageError


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
        """Tell whether the scenario says anything of an action."""
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
