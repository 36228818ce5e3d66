"""The goals of a campaign: coverage of states, transitions, inputs, outputs and their pairs; and a long uptime."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from math import inf
from typing import Final

from otf.core import Chooser, Node, Symbol, View
from otf.errors import UsageError
from otf.explore import Graph
from otf.explore.graph import SPONTANEOUS
from otf.spec.places import Uncounted
from otf.strategy.kinds import Maker, StrategyKind
from otf.strategy.pool import Pool, VisitCounts
from otf.values import key, show

KINDS: Final = ("states", "transitions", "inputs", "outputs", "pairs")
NOTHING_NEW: Final = "nothing-new"


@dataclass(slots=True)
class Coverage:
    """The parts of a model that paths have covered: `states`, `steps` (transitions), `pairs`, and `texts` (outputs).

    `pairs` are the pairs of a state and an input. `graph` is the explored model, if exploration found all its states;
    otf then reports coverage as a share of the model. `places` returns a state without its counters. otf records the
    last step of a path as covered only if it chooses another input after this step.

    >>> from otf.explore import explore
    >>> from otf.spec import Spec, goto
    >>> lamp = Spec(lambda lit, inp: [goto(not lit)], False, ["press"])
    >>> coverage = Coverage(explore(lamp))
    >>> coverage.all()
    {'states': 2, 'transitions': 2, 'inputs': 1, 'outputs': 1, 'pairs': 2}
    >>> coverage.met()["states"], coverage.never()
    (0, ["'press'"])
    """

    graph: Graph | None = None
    places: Uncounted | None = None
    states: set[Node] = field(default_factory=set[Node])
    steps: set[tuple[Node, Symbol, Node]] = field(default_factory=set[tuple[Node, Symbol, Node]])
    pairs: set[tuple[Node, Symbol]] = field(default_factory=set[tuple[Node, Symbol]])
    texts: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])

    @property
    def seen(self) -> int:
        """Return the sum of the numbers of covered states, transitions and outputs."""
        return len(self.states) + len(self.steps) + len(self.texts)

    def note(self, before: View | None, chosen: Symbol | None, now: View) -> None:
        """Record that the input `chosen` led from the view `before` to the view `now`."""
        self.states.update(now.places)
        if before is None or chosen is None:
            return
        nodes, place = set(now.nodes), now.model.place
        # the strategy may also try inputs that the model leaves open, but they are not part of the model
        for node in (node for node in before.nodes if before.model.specified(node, chosen)):
            for move in before.model.moves(node, chosen):
                if isinstance(move.target, Node) and move.target in nodes:
                    self.pairs.add((place(node), chosen))
                    self.steps.add((place(node), chosen, place(move.target)))
                    self.texts.add(move.texts)

    def met(self) -> dict[str, int]:
        """Return how many states, transitions, inputs, outputs, and (state, input) pairs the paths have covered."""
        inputs = {inp for _, inp in self.pairs}
        counts = len(self.states), len(self.steps), len(inputs), len(self.texts), len(self.pairs)
        return dict(zip(KINDS, counts, strict=True))

    def all(self) -> dict[str, int]:
        """Return how many states, transitions, inputs, outputs and pairs the model has; empty if that is unknown."""
        if self.graph is None or not self.graph.whole:
            return {}
        edges = [edge for edge in self.graph.transitions if edge.input is not None and edge.target is not None]
        place = self._keys_of_places()
        steps = {(place[edge.source], edge.input, place[edge.target]) for edge in edges if edge.target is not None}
        pairs = {(place[edge.source], edge.input) for edge in edges}
        counts = (
            len({*place.values()}),
            len(steps),
            len({edge.input for edge in edges}),
            len({e.outputs for e in edges}),
        )
        return dict(zip(KINDS, (*counts, len(pairs)), strict=True))

    def _keys_of_places(self) -> dict[Node, Hashable]:
        """Return the graph's states with their counters removed."""
        states, places = () if self.graph is None else self.graph.states, self.places
        return {node: node.key if places is None else key(places.of(node.value)) for node in states}

    def never(self) -> list[str]:
        """Return the inputs that some state of the model specifies and that no path has sent."""
        if self.graph is None:
            return []
        ran, symbols = {inp for _, inp in self.pairs}, self.graph.symbols
        specified = sorted({number for number in self.graph.input if number != SPONTANEOUS})
        return [show(symbols[number].value) for number in specified if symbols[number] not in ran]

    def __str__(self) -> str:
        """Return the numbers covered, with their totals if known, and the inputs that never ran."""
        there = self.all()
        counts = [f"{what} {number}{f'/{there[what]}' if there else ''}" for what, number in self.met().items()]
        never = self.never()
        return ", ".join(counts) + (f"; never ran: {', '.join(never)}" if never else "")


@dataclass(frozen=True, slots=True)
class Until:
    """The coverage at which a campaign ends: a `share` (up to 1) or a `number` of `what`, for instance of "states".

    If `what` is "nothing-new", the campaign ends after `number` seconds without a new state, transition or output.
    `Until` raises UsageError if the campaign can never reach the coverage.

    >>> from otf.explore import explore
    >>> from otf.spec import Spec, goto
    >>> lamp = Spec(lambda lit, inp: [goto(not lit)], False, ["press"])
    >>> Until("states", share=0.9).reached(Coverage(explore(lamp)))
    False
    """

    what: str
    share: float = 1.0
    number: float | None = None

    def check(self, graph: Graph, places: Uncounted | None = None) -> None:
        """Raise UsageError if the goal asks for more states, transitions or outputs than the model has."""
        if self.what == NOTHING_NEW:
            return
        if self.what not in KINDS or not 0 < self.share <= 1:
            share = "" if self.share == 1 else f"={self.share:g}"
            message = f"until {self.what}{share}: it is one of {', '.join(KINDS)}, with a share above 0 and up to 1"
            raise UsageError(
                f"{message}, such as states=0.9, or a number, such as states=20; or {NOTHING_NEW}=10m; "
                "`otf run --until` takes requirements and uptime=1h, too"
            )
        there = Coverage(graph, places).all()
        if self.number is None and not there:
            cuts = ", ".join(graph.cuts) or "outputs that decide the next state"
            why = f"the model was not explored whole ({cuts})"
            message = f"a share of the {self.what} can never be reached: {why}; give a number"
            raise UsageError(message)
        if self.number is not None and there and self.number > there[self.what]:
            message = f"{self.number} {self.what} can never be reached: the model has {there[self.what]}"
            raise UsageError(message)

    def reached(self, coverage: Coverage) -> bool:
        """Return whether the coverage has reached the goal."""
        needed = self.number if self.number is not None else self.share * coverage.all()[self.what]
        return coverage.met()[self.what] >= needed


def covering(
    kind: StrategyKind, coverage: Coverage, until: Until | None = None, clock: Callable[[], float] | None = None
) -> StrategyKind:
    """Return a strategy that records its coverage; if you pass `until`, the campaign ends at this coverage.

    As soon as a path reaches `until`, the path ends, and no further path begins. `clock()` returns the time in seconds,
    which the goal `nothing-new` needs.

    >>> from otf.strategy.kinds import script
    >>> covering(script(["press"]), Coverage()).name
    'script'
    """
    if until is not None and coverage.graph is not None:
        until.check(coverage.graph, coverage.places)

    quiet = None if until is None or until.what != NOTHING_NEW else _NothingNew(coverage, until.number or 0.0, clock)

    def done() -> bool:
        if quiet is not None:
            return quiet.reached()
        return until is not None and until.reached(coverage)

    return replace(kind, makers=tuple(_with_notes(maker, coverage, done) for maker in kind.makers), done=done)


class _NothingNew:
    """Returns whether nothing new has been covered for a number of seconds."""

    def __init__(self, coverage: Coverage, seconds: float, clock: Callable[[], float] | None) -> None:
        if clock is None:
            message = f"until {NOTHING_NEW}: it needs a clock, as in covering(…, clock=time.monotonic)"
            raise UsageError(message)
        self._coverage, self._seconds, self._clock = coverage, seconds, clock
        self._seen, self._since, self._asked = coverage.seen, inf, False

    def reached(self) -> bool:
        now = self._clock()
        if self._coverage.seen > self._seen or (self._asked and self._since == inf):
            self._seen, self._since = self._coverage.seen, now
        self._asked = True
        return now - self._since >= self._seconds


def _with_notes(maker: Maker, coverage: Coverage, stop: Callable[[], bool]) -> Maker:
    def make(pool: Pool, visits: VisitCounts) -> Chooser:
        return _Noting(maker(pool, visits), coverage, stop)

    return make


@dataclass(slots=True)
class _Noting:
    chooser: Chooser
    coverage: Coverage
    stop: Callable[[], bool]
    before: View | None = None
    chosen: Symbol | None = None

    def choose(self, view: View) -> Symbol | None:
        """Return the choice of the other chooser, None if the coverage is enough."""
        if view.relation != "guess":
            # after a guess, what was covered is unknown
            self.coverage.note(self.before, self.chosen, view)
        self.before = view
        self.chosen = None if self.stop() else self.chooser.choose(view)
        return self.chosen


UPTIME: Final = "uptime"
ENDED: Final = 10  # paths in a row that end for lack of inputs, after which no other path begins


def lasting(kind: StrategyKind, seconds: float, clock: Callable[[], float]) -> StrategyKind:
    """Return the strategy; a path ends once it has lasted that many seconds, and then no other path begins.

    Give its paths no bound on inputs. A path that fails earlier ends as usual, and the next one starts from 0. No path
    begins later than that after the first, since a failing system never reaches such an uptime; nor after ten paths in
    a row that ran out of inputs. `clock` returns seconds.

    >>> from otf.strategy.kinds import script
    >>> lasting(script(["press"]), 3600.0, clock=lambda: 0.0).done()
    False
    """
    goal = _Goal(seconds, clock)
    makers = tuple(goal.maker(each) for each in kind.makers)
    return replace(kind, makers=makers, done=lambda: goal.reached or goal.starved or goal.over)


@dataclass(slots=True)
class _Goal:
    seconds: float
    clock: Callable[[], float]
    reached: bool = False
    began: float | None = None
    paths: deque[_Lasting] = field(default_factory=lambda: deque[_Lasting](maxlen=ENDED))

    @property
    def starved(self) -> bool:
        """Return whether the last paths all ended for lack of inputs: the next would not last either."""
        return len(self.paths) == ENDED and all(each.ended for each in self.paths)

    @property
    def over(self) -> bool:
        """Return whether a path would have lasted by now, had the first one not ended."""
        return self.began is not None and self.clock() - self.began >= self.seconds

    def maker(self, maker: Maker) -> Maker:
        def make(pool: Pool, visits: VisitCounts) -> Chooser:
            self.paths.append(_Lasting(maker(pool, visits), self))
            return self.paths[-1]

        return make


@dataclass(slots=True)
class _Lasting:
    chooser: Chooser
    goal: _Goal
    since: float | None = None
    ended: bool = False

    def choose(self, view: View) -> Symbol | None:
        """Return the choice of the other chooser, None once the path has lasted long enough."""
        now = self.goal.clock()
        if self.since is None:
            self.since = now
        self.goal.began = now if self.goal.began is None else self.goal.began
        self.goal.reached = self.goal.reached or now - self.since >= self.goal.seconds
        chosen = None if self.goal.reached else self.chooser.choose(view)
        # asked again once an output leads to a state with an input
        self.ended = chosen is None
        return chosen
