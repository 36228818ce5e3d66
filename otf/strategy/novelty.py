"""Novelty: learn from the answers which inputs a system refuses, when the model has too few states to tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from otf.core import FEW, Symbol, View
from otf.strategy.answers import LearntAnswers
from otf.strategy.pool import Pool, VisitCounts


@dataclass(slots=True)
class Novelty:
    """Chooses by weight: prefers inputs that lead somewhere and were tried little after the same steps."""

    pool: Pool
    visits: VisitCounts
    answers: LearntAnswers = field(init=False)

    def __post_init__(self) -> None:
        """Begin a path."""
        self.visits.answers = self.answers = self.visits.answers or LearntAnswers()
        self.answers.begin()

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None if none is enabled."""
        enabled = [*self.pool.candidates(view)] if view.enabled.size > FEW else self.pool.of(view)
        if not enabled:
            return None
        self.answers.settle()
        chosen = self._drawn(enabled)
        self.visits.note(view, chosen)
        return self.pool.sent(view, chosen)

    def _drawn(self, enabled: Sequence[Symbol]) -> Symbol:
        return self.pool.random.choices(enabled, [self.answers.weight(inp.value) for inp in enabled])[0]
