"""The inputs to choose from, by the input mode of a bench, and choosers without memory: uniform, weighted, scripted."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias, assert_never

from otf.core import InputMode, Symbol, View
from otf.errors import ModelError, UsageError
from otf.values import show

HALF = 0.5


@dataclass(frozen=True, slots=True)
class Pool:
    """The inputs of a mode: the specified ones, all, or by the toss of a coin either these or the others.

    Half of each finds most: specified inputs reach deep states, unspecified ones test what should be ignored there.
    `random` belongs to the path, so that a seed gives one path.
    """

    mode: InputMode
    random: Random

    def of(self, view: View) -> tuple[Symbol, ...]:
        """Return the inputs to choose from now; empty if none is enabled."""
        match self.mode:
            case "uioco" | "any":
                return view.specified
            case "all":
                return view.specified + view.others
            case "mixed":
                first, second = view.specified, view.others
                if self.random.random() < HALF:
                    first, second = second, first
                return first or second
            case _:
                assert_never(self.mode)


@dataclass(frozen=True, slots=True)
class Uniform:
    """Chooses uniformly among the inputs of the pool."""

    pool: Pool

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None if none is enabled."""
        enabled = self.pool.of(view)
        return self.pool.random.choice(enabled) if enabled else None


Weights: TypeAlias = Callable[[Any], float] | Mapping[Any, float]


@dataclass(frozen=True, slots=True)
class Weighted:
    """Draws among the inputs of the pool by weight; an input of weight 0 is never drawn."""

    pool: Pool
    weights: Weights

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None if none is enabled, or all weigh nothing."""
        enabled = self.pool.of(view)
        heavy = [self._weight(inp.value) for inp in enabled]
        return self.pool.random.choices(enabled, heavy)[0] if any(heavy) else None

    def _weight(self, value: object) -> float:
        weight = self.weights(value) if callable(self.weights) else _looked_up(self.weights, value)
        if not 0 <= weight < float("inf"):
            message = f"the weight of {show(value)} is {weight}: a number from 0 on is needed"
            raise UsageError(message)
        return weight


def _looked_up(weights: Mapping[Any, float], value: object) -> float:
    return weights.get(value, weights.get(type(value), 1.0))


class Script:
    """Chooses the given inputs in order; those that the model does not allow (any more) are skipped.

    Skipping instead of stopping makes shrinking work: an input that has become disabled does not remove those after it.
    With `truncates` the first such input ends the run all the same; without `skip` it raises ModelError when chosen.
    """

    def __init__(self, inputs: Iterable[object], *, truncates: bool = False, skip: bool = True) -> None:
        self._left = deque(inputs)
        self._truncates = truncates
        self._skip = skip
        self._sent = 0
        self.skipped: int = 0

    def choose(self, view: View) -> Symbol | None:
        """Return the next allowed input, None after the last."""
        while self._left:
            symbol = view.model.symbol(self._left.popleft())
            if view.allows(symbol):
                self._sent += 1
                return symbol
            if not self._skip:
                states = " or ".join(show(node.value) for node in view.nodes)
                where = f"input {self._sent + 1} of the script, {show(symbol.value)}, is not allowed in {states}"
                raise ModelError(f"{where}: was it allowed when the script was made? Then the model changed meanwhile")
            if self._truncates:
                self._left.clear()
            self.skipped += 1
        return None
