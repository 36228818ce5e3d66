"""Strategies: which input next."""

from otf.strategy.coverage import Coverage, Until, covering
from otf.strategy.kinds import STRATEGIES, Kind, goal, own, script, weighted
from otf.strategy.pool import Pool
from otf.strategy.random import Uniform
from otf.strategy.script import Script
from otf.strategy.strategy import Strategy
from otf.strategy.visits import LeastInput, LeastNext, Visits

__all__ = [
    "STRATEGIES",
    "Coverage",
    "Kind",
    "LeastInput",
    "LeastNext",
    "Pool",
    "Script",
    "Strategy",
    "Uniform",
    "Until",
    "Visits",
    "covering",
    "goal",
    "own",
    "script",
    "weighted",
]
