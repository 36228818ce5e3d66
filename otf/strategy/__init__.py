"""Strategies choose the next input of a path, for instance at random, or the input that otf has tried least often."""

from typing import TYPE_CHECKING

from otf._exports import fetching

if TYPE_CHECKING:
    from otf.strategy.coverage import Coverage, Until, covering
    from otf.strategy.kinds import STRATEGIES, Strategy, StrategyKind, goal, own, script, weighted
    from otf.strategy.least import LeastInput, LeastNext
    from otf.strategy.memoryless import Script, Uniform
    from otf.strategy.pool import Pool, VisitCounts

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
    __getattr__ = fetching(__name__)
