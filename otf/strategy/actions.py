"""The kind of input that was used least: as `ActionNameCoverage` of Jacky's PyModel."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from otf.core import Symbol, View
from otf.strategy.pool import Pool
from otf.strategy.visits import VisitCounts


@dataclass(frozen=True, slots=True)
class LeastAction:
    """Chooses among the inputs of the kind that was used least, whatever the state; ties by chance."""

    pool: Pool
    visits: VisitCounts

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None where nothing may be offered."""
        offered = self.pool.of(view)
        if not offered:
            return None
        used = self.visits.actions
        least = min(used[action(inp)] for inp in offered)
        chosen = self.pool.random.choice([inp for inp in offered if used[action(inp)] == least])
        used[action(chosen)] += 1
        self.visits.note(view, chosen)
        return chosen


def action(inp: Symbol) -> str:
    """Return the kind of an input: its class, its name where it is a member of an enumeration, or itself as a word."""
    value = inp.value
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    return value if isinstance(value, str) else getattr(value, "name", None) or type(value).__name__
