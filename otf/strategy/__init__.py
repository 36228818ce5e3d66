"""Strategies: they choose the next input."""

from otf.strategy.coverage import Coverage, Until, covering
from otf.strategy.kinds import STRATEGIES, Strategy, StrategyKind, goal, own, script, weighted
from otf.strategy.pool import Pool, Script, Uniform
from otf.strategy.visits import LeastInput, LeastNext, VisitCounts

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
