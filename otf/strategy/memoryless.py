"""Choosers without memory: uniform, weighted, scripted."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, TypeAlias

from otf.core import FEW, EnabledInputs, Symbol, View
from otf.errors import ModelError, UsageError
from otf.strategy.pool import DRAWN, Pool, VisitCounts
from otf.strategy.renames import Renames
from otf.values import message_of, show


@dataclass(frozen=True, slots=True)
class Uniform:
    """A chooser that draws among the inputs of the `pool`, all with equal chance; `visits` counts its choices.

    >>> from random import Random
    >>> from otf.core import Model, Oracle
    >>> from otf.spec import Spec, goto
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit)], False, ["press"])))
    >>> view = oracle.view(oracle.start())
    >>> Uniform(Pool("uioco", Random(1))).choose(view).value
    'press'
    """

    pool: Pool
    visits: VisitCounts | None = None

    def choose(self, view: View) -> Symbol | None:
        """Return the next input of the path, None if no input is enabled."""
        if view.enabled.size > FEW:
            chosen = next(self.pool.candidates(view), None)
        else:
            enabled = self.pool.of(view)
            chosen = self.pool.random.choice(enabled) if enabled else None
        if chosen is not None and self.visits is not None:
            self.visits.note(view, chosen)
        return self.pool.sent(view, chosen)


Weights: TypeAlias = Callable[[Any], float] | Mapping[Any, float]


@dataclass(frozen=True, slots=True)
class Weighted:
    """Draws among the inputs of the pool by weight; it never draws an input of weight 0."""

    pool: Pool
    weights: Weights
    # for the last list shared by all states: its inputs, and the sums of their weights
    _known: list[tuple[EnabledInputs, Sequence[Symbol], list[float]]] = field(
        default_factory=list[tuple[EnabledInputs, Sequence[Symbol], list[float]]]
    )

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None if none is enabled or all have weight 0."""
        chosen = self._chosen(view)
        sent = self.pool.sent(view, chosen)
        return sent if sent is None or self._weight(sent.value) else chosen

    def _chosen(self, view: View) -> Symbol | None:
        if view.enabled.size > FEW:
            return self._drawn(view)
        enabled = self.pool.of(view)
        heavy = [self._weight(inp.value) for inp in enabled]
        return self.pool.random.choices(enabled, heavy)[0] if any(heavy) else None

    def _drawn(self, view: View) -> Symbol | None:
        """Draw by weight from all inputs until one is wanted; this asks the model only about drawn inputs."""
        wanted, random = self.pool.wanted(view), self.pool.random
        inputs, sums = self._weighed(view.enabled)
        for _ in range(DRAWN if sums[-1] else 0):
            (inp,) = random.choices(inputs, cum_weights=sums)
            if wanted(inp):
                return inp
        rest = self.pool.rest(view, wanted)
        heavy = [self._weight(inp.value) for inp in rest]
        return random.choices(rest, heavy)[0] if any(heavy) else None

    def _weighed(self, enabled: EnabledInputs) -> tuple[Sequence[Symbol], list[float]]:
        if not self._known or self._known[0][0] is not enabled:
            inputs = enabled.all
            self._known[:] = [(enabled, inputs, list(accumulate(self._weight(inp.value) for inp in inputs)))]
        return self._known[0][1:]

    def _weight(self, value: object) -> float:
        table = self.weights
        weight = table(value) if callable(table) else table.get(value, table.get(type(message_of(value)), 1.0))
        if not 0 <= weight < float("inf"):
            message = f"the weight of {show(value)} is {weight}: a number from 0 on is needed"
            raise UsageError(message)
        return weight


class Script:
    """A chooser that takes the given inputs in order, and skips those that the model does not allow (any more).

    If no input is enabled, but an output may still change the state, the script keeps its next input for later.
    Shrinking needs a script that skips a disabled input, since a script that stops there would never send the inputs
    after it. `skipped` is the number of inputs skipped. With `skip=False`, the script raises ModelError for a disabled
    input. `names` translates names that the system chose on an earlier path, such as ids, into its names on this path;
    it is None if the system chooses no names.

    >>> from otf.core import Model, Oracle
    >>> from otf.spec import Spec, goto
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit)], False, ["press"])))
    >>> view = oracle.view(oracle.start())
    >>> Script(["press"]).choose(view).value
    'press'
    """

    def __init__(self, inputs: Iterable[object], *, skip: bool = True) -> None:
        self._left = deque(inputs)
        self._skip = skip
        self._sent = 0
        self.skipped: int = 0
        self.names: Renames | None = None

    def choose(self, view: View) -> Symbol | None:
        """Return the next input that the model allows, None after the last."""
        while self._left:
            symbol = view.model.symbol(self._left[0])
            if self.names is not None:
                symbol = self.names.now(symbol, view)
            allowed = view.allows(symbol)
            # a device that boots: what it says next enables the input
            if not allowed and not view.specified and any(map(view.model.spontaneous, view.nodes)):
                return None
            self._left.popleft()
            if allowed:
                self._sent += 1
                return symbol
            if not self._skip:
                states = " or ".join(show(node.value) for node in view.nodes)
                where = f"input {self._sent + 1} of the script, {show(symbol.value)}, is not allowed in {states}"
                raise ModelError(f"{where}: was it allowed when the script was made? Then the model changed meanwhile")
            self.skipped += 1
        return None
