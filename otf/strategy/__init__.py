"""Strategies: they choose the next input."""

from typing import TYPE_CHECKING

from otf.strategy.coverage import Coverage, Until, covering
from otf.strategy.kinds import STRATEGIES, Strategy, StrategyKind, goal, own, script, weighted
from otf.strategy.pool import Pool, Script, Uniform
from otf.strategy.visits import LeastInput, LeastNext, VisitCounts

if not TYPE_CHECKING:  # type checkers are to refuse old names
    from otf.renamed import old_names

    __getattr__ = old_names(__name__)

__all__ = [
    "STRATEGIES",
    "Coverage",
    "LeastInput",
    "LeastNext",
    "Pool",
    "Script",
    "Strategy",
    "StrategyKind",
    "Uniform",
    "Until",
    "VisitCounts",
    "covering",
    "goal",
    "own",
    "script",
    "weighted",
]
