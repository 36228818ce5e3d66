"""What all choosers share: the inputs to choose from, and how often the paths of a campaign tried each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from random import Random
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, assert_never

from otf.core import FEW, InputMode, Node, Symbol, View
from otf.core.memory import SAMPLED, AverageWeight
from otf.core.view import LEFT_OPEN, SPECIFIED, UNKNOWN_YET
from otf.strategy.renames import FreshValues

if TYPE_CHECKING:
    from otf.strategy.answers import LearntAnswers

HALF = 0.5
DRAWN: Final = 128
"""How often a strategy draws to find a wanted input before it looks at all inputs."""

SELDOM: Final = 0.1
"""The share of choices that include inputs which failed in this state: we know what follows them."""
RARELY: Final = 0.01
"""The same if a path ends at its failure, as in a model with times: one bad input in ten would end every path."""

WantedInput: TypeAlias = Callable[[Symbol], bool]

FailingIn: TypeAlias = Callable[[View], WantedInput | None]
"""A function that returns the test for inputs that failed in a possible state; None if no input did."""

PlanPatience: TypeAlias = Callable[[], Callable[[], bool]]
"""A function for when a system begins to wait; the function that it returns says whether the wait is over."""


def endless() -> Callable[[], bool]:
    """Return the patience of a simulated system, which waits for its next input without limit."""
    return bool


@dataclass(frozen=True, slots=True)
class Pool:
    """The inputs that a strategy may choose from in a `mode`: the specified ones, all, or either by the toss of a coin.

    The coin decides in the mode `mixed`, because half of each kind finds most: specified inputs reach deep states, and
    unspecified ones test what the system should ignore there. `random` belongs to the path, so that a seed determines
    the path. `failing` returns the inputs that led to failures in a state; a path leaves them out where it can.

    `of` returns all inputs to choose from, and asks the model about each. If more than `FEW` inputs are enabled,
    strategies draw `candidates` instead, and the model is asked about these alone. Draws do not depend on caches, so a
    seed determines the path, unless the model takes longer than the system's `patience`: then there are fewer draws.

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
    # what to send in place of the inputs of a sample
    fresh: FreshValues | None = None

    def sent(self, view: View, chosen: Symbol | None) -> Symbol | None:
        """Return what to send for a chosen input: perhaps another value, if the input belongs to a sample."""
        return chosen if self.fresh is None or chosen is None else self.fresh.instead(view, chosen)

    def of(self, view: View) -> tuple[Symbol, ...]:
        """Return the inputs to choose from now; none if no input is enabled."""
        inputs, left = self._side_of(view), None if self.failing is None else self._left_out(view, self.failing)
        return inputs if left is None else tuple(inp for inp in inputs if not left(inp)) or inputs

    def _left_out(self, view: View, failing: FailingIn) -> WantedInput | None:
        """Return the test for inputs to leave out, most of the time, because they failed here and there are others."""
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
        """Yield up to `FEW` inputs to choose from, without those that failed here if there are others."""
        left_out = None if self.failing is None else self._left_out(view, self.failing)
        if left_out is None:
            return self._draw(view)
        drawn = [*self._draw(view)]
        return iter([inp for inp in drawn if not left_out(inp)] or drawn)

    def _draw(self, view: View) -> Iterator[Symbol]:
        """Yield up to `FEW` inputs to choose from, each drawn independently; none if none is enabled.

        Half of the draws are uniform over all inputs; the other half first draw a type. Otherwise, beside a hundred
        different `put`, `begin` would be one choice in a hundred.

        Dropping an unwanted draw leaves the others equally likely. A repeated draw counts but is not yielded again: no
        comparison needs it twice.
        """
        wanted, enabled, random = self._side(), view.enabled, self.random.random
        size, at, kinds, left, over, known = enabled.size, enabled.at, enabled.kinds, FEW, self.patience(), view.known
        specifies, looked_for = view.specifies, SPECIFIED if wanted else LEFT_OPEN
        drawn, whole = set[int](), range(size)
        for _ in range(DRAWN if size else 0):
            # draws an index as `choice` does, at half the cost
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
        """Return the function that tests whether an input may be chosen now; in the mode `mixed`, a coin decides."""
        return _test(view, wanted=self._side())

    def _side(self) -> bool | None:
        """Return whether to choose among the specified inputs (True) or the others (False); None: among all."""
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
        """Return all inputs that may be chosen now, or, in the mode `mixed`, the others if there are none.

        `rest` asks the model about all enabled inputs.
        """
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


PATHS: Final = 10  # paths of a lane that look for changed transitions, and two more for each transition
STATES: Final = 50_000  # states with counts; beyond, forget those visited once, which may never recur
WIDE: Final = 1_000  # visited states after which we draw even from few inputs: most states then do not recur

Key = TypeVar("Key", bound=Hashable)


class PathCounts(Counter[Key]):
    """How often each key occurred on one path; if there are too many, drops those that occurred once."""

    def note(self, key: Key) -> None:
        """Count a key."""
        self[key] += 1
        if len(self) > STATES:
            once = [key for key, times in self.items() if times == 1]
            for each in once or [*self]:
                del self[each]


def _counts() -> defaultdict[Node, defaultdict[Symbol, int]]:
    return defaultdict(lambda: defaultdict(int))


@dataclass(slots=True)
class VisitCounts:
    """How often the paths of a campaign have visited each state (`states`), and sent each input in it (`inputs`).

    `actions` counts how often otf has sent each type of input.

    >>> from otf.core import Model, Oracle
    >>> from otf.spec import Spec, goto
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit)], False, ["press"])))
    >>> view = oracle.view(oracle.start())
    >>> visits = VisitCounts()
    >>> visits.note(view, view.specified[0])
    >>> visits.tried(view, view.specified)
    [1]
    """

    states: defaultdict[Node, int] = field(default_factory=lambda: defaultdict[Node, int](int))
    inputs: defaultdict[Node, defaultdict[Symbol, int]] = field(default_factory=_counts)
    actions: defaultdict[str, int] = field(default_factory=lambda: defaultdict[str, int](int))
    # the chosen inputs that only wait
    waits: dict[Symbol, None] = field(default_factory=dict[Symbol, None])
    # the choices of this path, for a journal
    log: PathCounts[tuple[Node, Symbol]] | None = None
    # where inputs led, by the answers; None until a strategy asks
    answers: LearntAnswers | None = None
    # transitions that the next path looks for first
    changed: ChangedFirst | None = None
    # the number of first visits
    firsts: int = 0
    # of the states visited, not of those remembered: a seed determines what is forgotten
    weights: AverageWeight = field(default_factory=AverageWeight, compare=False)
    # called when states are forgotten, so that no log of the path holds them
    shorten: Callable[[], None] = lambda: None

    def note(self, view: View, chosen: Symbol) -> None:
        """Add the choice of an input to the numbers."""
        for node in view.places:
            self.states[node] = times = self.states[node] + 1
            self.inputs[node][chosen] += 1
            if self.log is not None:
                self.log.note((node, chosen))
            if times == 1:
                self.firsts += 1
                if self.firsts % SAMPLED == 0:
                    self.weights.note(node.value)
                if len(self.states) > (room := self.weights.room(STATES)):
                    self._forget(room)

    def fresh(self, view: View) -> bool:
        """Return whether all states of a view are new, after many other new states: they may never recur.

        Strategies then draw even from a few inputs, since asking the model about all ten would waste nine answers.
        """
        return self.firsts > WIDE and not any(map(self.states.get, view.places))

    def _forget(self, room: int) -> None:
        self.shorten()
        # only by what the paths visited: a seed determines the path, whatever the caches hold
        kept = [node for node, times in self.states.items() if times > 1][-room // 2 :]
        states, inputs = self.states.copy(), self.inputs.copy()
        self.states.clear()
        self.inputs.clear()
        self.states.update((node, states[node]) for node in kept)
        self.inputs.update((node, inputs[node]) for node in kept if node in inputs)

    def tried(self, view: View, enabled: Sequence[Symbol]) -> list[int]:
        """Return how often each input was tried, in the node with the fewest trials."""
        places = view.places
        if len(places) == 1:
            # nearly always: the system is deterministic, or has shown its choice
            return list(map(self.inputs[places[0]].__getitem__, enabled))
        tables = [self.inputs[node] for node in places]
        return [min(table[inp] for table in tables) for inp in enabled]

    def reached(self, view: View, enabled: Sequence[Symbol]) -> list[int]:
        """Return for each input the number of visits of the least visited state that it may lead to."""
        times, place = self.states.get, view.model.place
        return [min(map(times, map(place, view.targets(inp)), repeat(0)), default=0) for inp in enabled]


class ChangedFirst:
    """What the paths of a lane try first: changed transitions, by names of states and inputs.

    `name` names a state or input by its key. Only paths up to the number `paths` look for them, so that unreachable
    ones cost little.

    >>> changed = ChangedFirst([("s1", "i1"), ("s1", "i2")], str)
    >>> sorted(changed.left["s1"]), changed.paths
    (['i1', 'i2'], 14)
    """

    def __init__(self, changed: Iterable[tuple[str, str]], name: Callable[[Hashable], str], lanes: int = 1) -> None:
        self.left: dict[str, set[str]] = {}
        for state, inp in changed:
            self.left.setdefault(state, set()).add(inp)
        # by number alone, so that a continued campaign drives the same paths
        self.paths: int = lanes * (PATHS + 2 * sum(map(len, self.left.values()))) if self.left else 0
        self.name = name

    def untried(self, view: View, visits: VisitCounts, node: Node) -> list[Symbol]:
        """Return the changed inputs of a state that no path has tried yet."""
        wanted = self.left.get(self.name(node.key))
        if not wanted:
            return []
        tried, model = visits.inputs[view.model.place(node)], view.model
        found = [inp for inp in model.enabled_inputs(node) if not tried[inp] and self.name(inp.key) in wanted]
        found = [inp for inp in found if model.specified(node, inp)]
        if not found:
            del self.left[self.name(node.key)]
        return found
