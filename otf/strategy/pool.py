"""The inputs to choose from, by the input mode of a bench, and choosers without memory: uniform, weighted, scripted."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random
from typing import Any, Final, TypeAlias, assert_never

from otf.core import FEW, EnabledInputs, InputMode, Symbol, View
from otf.core.view import LEFT_OPEN, SPECIFIED, UNKNOWN_YET
from otf.errors import ModelError, UsageError
from otf.strategy.fresh import FreshValues
from otf.values import show

HALF = 0.5
DRAWN: Final = 128
"""Inputs drawn to find one of the wanted kind; if none is, all are looked at."""

SELDOM: Final = 0.1
"""The share of choices in which inputs that failed in this state are among the others: what follows them is known."""
RARELY: Final = 0.01
"""The same where a path ends at its failure, as in a model with times: of ten inputs one would end each path."""

WantedInput: TypeAlias = Callable[[Symbol], bool]

FailingIn: TypeAlias = Callable[[View], WantedInput | None]
"""Returns the test for inputs that failed where they may be taken now; None if none did."""

PlanPatience: TypeAlias = Callable[[], Callable[[], bool]]
"""Is called when a system begins to wait for its next input; returns a function: has it waited long enough?"""


def endless() -> Callable[[], bool]:
    """Return the patience of a simulated system."""
    return bool


@dataclass(frozen=True, slots=True)
class Pool:
    """The inputs of a mode: the specified ones, all, or by the toss of a coin either these or the others.

    Half of each finds most: specified inputs reach deep states, unspecified ones test what should be ignored there.
    `random` belongs to the path, so that a seed gives one path.

    `of` has all inputs to choose from, and asks the model about each. Where more than `FEW` are enabled, strategies
    use `candidates`: these are drawn, and the model is asked about them alone. The draws depend on nothing that is
    remembered or forgotten, so that a seed gives one path; only where the model takes longer than the system's
    `patience`, fewer are drawn.

    >>> from random import Random
    >>> from otf.core import Model, Oracle
    >>> from otf.spec import Spec, goto
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit)], False, ["press"])))
    >>> view = oracle.view(oracle.start())
    >>> [symbol.value for symbol in Pool("uioco", Random(1)).of(view)]
    ['press']
    """

    mode: InputMode
    random: Random
    patience: PlanPatience = endless
    failing: FailingIn | None = None
    # what is sent in place of the inputs of a sample
    fresh: FreshValues | None = None

    def sent(self, view: View, chosen: Symbol | None) -> Symbol | None:
        """Return what is sent for a chosen input: of a sample that stands for more values, perhaps another one."""
        return chosen if self.fresh is None or chosen is None else self.fresh.instead(view, chosen)

    def of(self, view: View) -> tuple[Symbol, ...]:
        """Return the inputs to choose from now; empty if none is enabled."""
        inputs, left = self._side_of(view), None if self.failing is None else self._left_out(view, self.failing)
        return inputs if left is None else tuple(inp for inp in inputs if not left(inp)) or inputs

    def _left_out(self, view: View, failing: FailingIn) -> WantedInput | None:
        """Return the test for inputs that are left out, as they failed here; most of the time, if there are others."""
        left = failing(view)
        share = RARELY if view.model.timed else SELDOM
        return left if left is not None and self.random.random() >= share else None

    def _side_of(self, view: View) -> tuple[Symbol, ...]:
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

    def candidates(self, view: View) -> Iterator[Symbol]:
        """Yield up to `FEW` inputs to choose from, without those that failed here, if there are others."""
        left_out = None if self.failing is None else self._left_out(view, self.failing)
        if left_out is None:
            return self._drawn(view)
        drawn = [*self._drawn(view)]
        return iter([inp for inp in drawn if not left_out(inp)] or drawn)

    def _drawn(self, view: View) -> Iterator[Symbol]:
        """Yield up to `FEW` inputs to choose from, each drawn independently; none if none is enabled.

        Half of the draws are uniform, and half are uniform in a kind of inputs that is drawn first: of `begin` and a
        hundred different `put`, `begin` would else be one choice in a hundred.

        An input that is drawn and not wanted is dropped, which leaves the others equally likely. One that is drawn
        again counts, and is not yielded again: no comparison needs it twice.
        """
        wanted, enabled, random = self._side(), view.enabled, self.random.random
        size, at, kinds, left, over, known = enabled.size, enabled.at, enabled.kinds, FEW, self.patience(), view.known
        specifies, looked_for = view.specifies, SPECIFIED if wanted else LEFT_OPEN
        drawn, whole = set[int](), range(size)
        for _ in range(DRAWN if size else 0):
            # as `choice` draws an index, at half the cost
            row = kinds[int(random() * len(kinds))] if kinds and random() < HALF else whole
            index = row[int(random() * len(row))]
            if wanted is not None:
                answer = UNKNOWN_YET if known is None else known[index]
                if answer == UNKNOWN_YET:
                    answer = SPECIFIED if specifies(at(index)) else LEFT_OPEN
                    if known is not None:
                        known[index] = answer
                if answer != looked_for:
                    continue
            left -= 1
            if index not in drawn:
                drawn.add(index)
                yield at(index)
                if over():
                    return
            if not left:
                return
        if left == FEW:
            inputs = self.rest(view, _test(view, wanted=wanted))
            yield from (self.random.choice(inputs) for _ in range(FEW if inputs else 0))

    def wanted(self, view: View) -> WantedInput:
        """Return the test for the inputs to choose from now; in the mode `mixed`, a coin decides between two."""
        return _test(view, wanted=self._side())

    def _side(self) -> bool | None:
        """Return whether inputs to choose from now are those that the model specifies, or the others; None: all."""
        match self.mode:
            case "uioco" | "any":
                return True
            case "all":
                return None
            case "mixed":
                # the same side of the coin as in `of`
                return self.random.random() >= HALF
            case _:
                assert_never(self.mode)

    def rest(self, view: View, wanted: WantedInput) -> Sequence[Symbol]:
        """Return all wanted inputs, and in the mode `mixed` the others if there are none; it asks about all."""
        inputs = view.enabled.all
        found = [inp for inp in inputs if wanted(inp)]
        return found or (inputs if self.mode == "mixed" else ())


def _test(view: View, *, wanted: bool | None) -> WantedInput:
    specifies = view.specifies
    if wanted is None:
        return _every
    return specifies if wanted else lambda inp: not specifies(inp)


def _every(_inp: Symbol) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Uniform:
    """Chooses uniformly among the inputs of the pool.

    >>> from random import Random
    >>> from otf.core import Model, Oracle
    >>> from otf.spec import Spec, goto
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit)], False, ["press"])))
    >>> view = oracle.view(oracle.start())
    >>> Uniform(Pool("uioco", Random(1))).choose(view).value
    'press'
    """

    pool: Pool

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None if none is enabled."""
        if view.enabled.size > FEW:
            return self.pool.sent(view, next(self.pool.candidates(view), None))
        enabled = self.pool.of(view)
        return self.pool.sent(view, self.pool.random.choice(enabled)) if enabled else None


Weights: TypeAlias = Callable[[Any], float] | Mapping[Any, float]


@dataclass(frozen=True, slots=True)
class Weighted:
    """Draws among the inputs of the pool by weight; an input of weight 0 is never drawn."""

    pool: Pool
    weights: Weights
    # of the last list that is shared by all states: its inputs, and the sums of their weights
    _known: list[tuple[EnabledInputs, Sequence[Symbol], list[float]]] = field(
        default_factory=list[tuple[EnabledInputs, Sequence[Symbol], list[float]]]
    )

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None if none is enabled, or all weigh nothing."""
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
        """Draw by weight from all inputs until one is wanted: the model is asked about those drawn."""
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
        weight = table(value) if callable(table) else table.get(value, table.get(type(value), 1.0))
        if not 0 <= weight < float("inf"):
            message = f"the weight of {show(value)} is {weight}: a number from 0 on is needed"
            raise UsageError(message)
        return weight


class Script:
    """Chooses the given inputs in order; those that the model does not allow (any more) are skipped.

    In a state without enabled inputs, which an output may leave, the next one is kept.

    Skipping instead of stopping makes shrinking work: an input that has become disabled does not remove those after it.
    Without `skip` such an input raises ModelError when it is chosen.

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

    def choose(self, view: View) -> Symbol | None:
        """Return the next allowed input, None after the last."""
        while self._left:
            symbol = view.model.symbol(self._left[0])
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
