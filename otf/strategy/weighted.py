"""Inputs drawn by weight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from otf.core import Symbol, View
from otf.errors import UsageError
from otf.strategy.pool import Pool
from otf.values import show

Weights: TypeAlias = Callable[[Any], float] | Mapping[Any, float]


@dataclass(frozen=True, slots=True)
class Weighted:
    """Draws among what the pool offers; an input that weighs nothing is never drawn."""

    pool: Pool
    weights: Weights

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None where nothing may be offered, or all that may be weighs nothing."""
        offered = self.pool.of(view)
        heavy = [self._weight(inp.value) for inp in offered]
        return self.pool.random.choices(offered, heavy)[0] if any(heavy) else None

    def _weight(self, value: object) -> float:
        weight = self.weights(value) if callable(self.weights) else _looked_up(self.weights, value)
        if not 0 <= weight < float("inf"):
            message = f"the weight of {show(value)} is {weight}: a number from 0 on is needed"
            raise UsageError(message)
        return weight


def _looked_up(weights: Mapping[Any, float], value: object) -> float:
    return weights.get(value, weights.get(type(value), 1.0))
