"""Any input, each with the same probability."""

from __future__ import annotations

from dataclasses import dataclass

from otf.core import Symbol, View
from otf.strategy.pool import Pool


@dataclass(frozen=True, slots=True)
class Uniform:
    """Chooses uniformly among what the pool offers."""

    pool: Pool

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None where nothing may be offered."""
        offered = self.pool.of(view)
        return self.pool.random.choice(offered) if offered else None
