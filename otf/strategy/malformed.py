"""Malformed inputs on purpose: a strategy whose inputs are now and then damaged before they are sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final

from otf.core import Chooser, Symbol, View
from otf.strategy.kinds import Maker, StrategyKind
from otf.strategy.pool import Pool
from otf.strategy.visits import VisitCounts

Damaged = Callable[[object, Random], object | None]
"""Makes a malformed input of an input, None if it cannot."""

SALT: Final = 0x6D616C66


def malforming(kind: StrategyKind, share: float, damaged: Damaged) -> StrategyKind:
    """Return the strategy with this share of its inputs damaged: `damaged` makes the malformed input.

    The other strategy chooses as if its own input had been sent.

    >>> from otf.strategy.kinds import script
    >>> malforming(script(["press"]), 0.1, lambda value, random: None).name
    'script'
    """
    makers = tuple(_malforming(maker, share, damaged) for maker in kind.makers)
    return StrategyKind(kind.name, kind.says, makers, kind.done)


def _malforming(maker: Maker, share: float, damaged: Damaged) -> Maker:
    def make(pool: Pool, visits: VisitCounts) -> Chooser:
        # draws of its own: the other strategy chooses the same inputs as without damage
        return _Malforming(maker(pool, visits), Random(pool.random.getrandbits(64) ^ SALT), share, damaged)

    return make


@dataclass(slots=True)
class _Malforming:
    chooser: Chooser
    random: Random
    share: float
    damaged: Damaged

    def choose(self, view: View) -> Symbol | None:
        """Return the choice of the other strategy, or a malformed input made of it."""
        chosen = self.chooser.choose(view)
        if chosen is None or self.random.random() >= self.share:
            return chosen
        bad = self.damaged(chosen.value, self.random)
        return chosen if bad is None else view.model.symbol(bad)
