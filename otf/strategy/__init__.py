"""Strategies: they choose the next input."""

from typing import TYPE_CHECKING

from otf._exports import fetching

if TYPE_CHECKING:
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

if not TYPE_CHECKING:
    __getattr__ = fetching(
        __name__,
        {
            "strategy.coverage": ("Coverage", "Until", "covering"),
            "strategy.kinds": ("STRATEGIES", "Strategy", "StrategyKind", "goal", "own", "script", "weighted"),
            "strategy.pool": ("Pool", "Script", "Uniform"),
            "strategy.visits": ("LeastInput", "LeastNext", "VisitCounts"),
        },
    )
