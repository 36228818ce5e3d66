"""Searches for what explains an event, starting from a belief, and remembers the results."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import Final, TypeAlias, cast

from otf.core.belief import SPAN, Belief, EventResult, Ledger, renumber_inputs
from otf.core.crowd import join_crowded
from otf.core.deadlines import is_overdue
from otf.core.hypothesis import Hypothesis, with_input
from otf.core.memory import Symbol
from otf.core.model import Model
from otf.core.moves import Moves
from otf.core.oracle import Oracle
from otf.core.search import OvergrownError, Search
from otf.core.timing import FOREVER, Clock, behind
from otf.core.windows import widest
from otf.errors import ModelError
from otf.trace.events import Closed, Event, Quiet, Seen, Sent, Stalled, Taken
from otf.trace.verdict import FailureKind

NONE: Final = frozenset[str]()
STALLS: Final = 1_000  # latest stalls that may still delay what arrives: enough for seconds if L and R are 2 ms
SHALLOW: Final = 4  # the share of the work after which explanations are followed one at a time, if they can be

EventName: TypeAlias = tuple[Hashable, ...]
QUIET: Final[EventName] = ("quiet",)
RESTED: Final[EventName] = ("rested",)

Finder: TypeAlias = Callable[[Search, Iterable[Hypothesis]], Iterable[Hypothesis]]


class Explainer:
    """Finds what explains each event of a run, from a belief and a ledger.

    Results are cached in their belief under the name of the event. A result that depends on the time of the event holds
    only for that event; it is kept briefly, since a run asks what an event `would` leave before telling it. `work`
    counts the moves considered. `late` holds the stalls of the run, the latest first. `slack`: by how many seconds the
    tester may have seen the event late. `by_time`: whether the last search depended on time. Moves that implement the
    requirement `without` are left out.
    """

    def __init__(self, oracle: Oracle, without: str = "") -> None:
        self.oracle = oracle
        self.work: int = 0
        # whether all searches together may do no more work than one search
        self.bounded: bool = False
        self.late: deque[Stalled] = deque(maxlen=STALLS)
        self.slack: float = 0.0
        self.by_time: bool = False
        self._without = without
        self._last: tuple[Belief, Ledger, Hashable, EventResult] | None = None

    def result(self, belief: Belief, ledger: Ledger, event: Event) -> EventResult:
        """Return the belief after an event, and what else follows from it."""
        name = self._name(event, ledger)
        known = belief.after.get(name)
        if known is None:
            return self._search(belief, ledger, event, name)
        if not known.belief.recurs:
            self.oracle.model.memory.meet(known.belief)
        return known

    def _name(self, event: Event, ledger: Ledger) -> EventName:
        """Return the key under which to cache the result of an event; its last part is the value, if any."""
        name: EventName
        if isinstance(event, Quiet):
            name = RESTED if event.restless else QUIET
        elif isinstance(event, Sent):
            name = "sent", event.port, self.oracle.model.symbol(event.input)
        elif isinstance(event, Taken):
            name = "taken", ledger.upto(event.upto)
        else:
            seen = cast("Seen | Closed", event)
            name = "seen", seen.port, self.oracle.model.output_symbol(seen.output)
        return ("without", self._without, *name) if self._without else name

    def _search(self, belief: Belief, ledger: Ledger, event: Event, name: EventName) -> EventResult:
        alone = self.oracle.model.alone
        if alone and belief.at_rest and isinstance(event, Quiet) and not event.restless:
            return EventResult(belief)
        what, last = (event.at, self.slack, name), self._last
        if last is not None and last[0] is belief and last[1] is ledger and last[2] == what:
            self.by_time = True
            return last[3]
        if isinstance(event, Sent) and not belief.timed:
            # it makes no moves: setting up a search would double the time
            inp, number = self.oracle.model.symbol(event.input), len(ledger.inputs) + 1
            result, self.by_time = self._collect(with_input(belief.hypotheses, event.port, inp, number)), False
        else:
            clock = self.clock(event, ledger)
            number = ledger.upto(event.upto) if isinstance(event, Taken) else len(ledger.inputs) + 1
            result = self.find(belief, finder(self.oracle.model, event, number), clock)
            self.by_time = clock.used
        # a result that depends on the time of this event does not hold for the next event like it
        if self.by_time:
            self._last = belief, ledger, what, result
        elif not (isinstance(name[-1], Symbol) and name[-1].heavy):
            self.oracle.model.memory.put(belief.after, name, result, belief)
        return result

    def clock(self, event: Event, ledger: Ledger) -> Clock:
        """Return the time of an event in the form that a search needs."""
        timing = self.oracle.timing
        late = behind(self.late, event.at, timing.latency + timing.busy) if self.late else 0.0
        # an output seen late came earlier, and so did the start of what it reveals: else the next output would look
        # early
        spans = tuple(map(SPAN, ledger.inputs))
        return Clock(event.at, timing.latency, timing.busy, spans, behind=late + self.slack, stalls=self.late)

    def find(self, belief: Belief, find: Finder, clock: Clock) -> EventResult:
        """Return the result of a search, without caching it."""
        oracle = self.oracle
        commuting = oracle.relation == "uioco" and (not oracle.model.alone or len(belief.in_flight) > 1)
        free, work = frozenset[int](), (before := self.work * self.bounded)
        if follows_one(oracle, belief):
            work = before = before + oracle.limits.work - oracle.limits.work // SHALLOW
        while True:
            moves = Moves(oracle.model, oracle.relation, oracle.limits, free=free, without=self._without)
            search = Search(moves, clock, commuting and not free, work)
            found = find(search, search.current(belief.hypotheses) if belief.timed else belief.hypotheses)
            # outputs of moves made during the search may have been due long ago
            found = search.current(found) if clock.used else found
            if free or oracle.relation != "any" or not moves.unspecified - moves.specified:
                break
            # no possible state specifies these inputs, so none of them is preferred
            work, free = search.work, frozenset(moves.unspecified - moves.specified)
        self.work += search.work - before
        requirements = frozenset(moves.requirements) if moves.requirements else NONE
        cut = frozenset(moves.cut) if moves.cut else NONE
        # results that depend on time do not recur
        return self._collect(join_crowded(widest(found)) if clock.used else found, requirements, cut, once=clock.used)

    def _collect(
        self,
        found: Iterable[Hypothesis],
        requirements: frozenset[str] = NONE,
        cut: frozenset[str] = NONE,
        *,
        once: bool = False,
    ) -> EventResult:
        hypotheses, kept = renumber_inputs(found)
        # nor do sets whose numbers differ by one more input in flight
        once = once or isinstance(hypotheses, list)
        belief = Belief(tuple(hypotheses)) if once else self.oracle.beliefs.of(hypotheses)
        return EventResult(belief, kept, requirements, cut)

    def untimely(self, belief: Belief, ledger: Ledger, event: Event) -> FailureKind | None:
        """Return how the time of an output that nothing explains is wrong; None if the time is not the only fault.

        If an output is overdue in every explanation, a later output does not matter: the first one is missing. So is an
        answer that every explanation demands, if the output (a heartbeat, for example) would be right before it.
        """
        if not self.by_time or not isinstance(event, (Seen, Closed)):
            return None
        model, clock = self.oracle.model, self.clock(event, ledger)
        find, output = finder(model, event, 0), model.output_symbol(event.output)
        moves = Moves(model, self.oracle.relation, self.oracle.limits, without=self._without)
        current = Search(moves, clock).current(belief.hypotheses)
        if not current and not any(is_overdue(model, now, event.port, output, clock) for now in belief.hypotheses):
            return "missing"
        late, early = replace(clock, late=True), replace(clock, early=True)
        kinds: tuple[tuple[FailureKind, Clock], ...] = (("late", late), ("early", early))
        found: FailureKind | None = next((kind for kind, each in kinds if self._explains(belief, find, each)), None)
        untaken = replace(clock, inputs=tuple(each._replace(b=FOREVER) for each in clock.inputs))
        if found or not self._explains(belief, find, untaken) or self._explains(belief, Search.rested, clock):
            return found
        return "missing"

    def _explains(self, belief: Belief, find: Finder, clock: Clock) -> bool:
        try:
            return bool(self.find(belief, find, clock).belief.hypotheses)
        except (OvergrownError, ModelError):
            # where time does not count, a silent clock goes on without end
            return False


def follows_one(oracle: Oracle, belief: Belief) -> bool:
    """Return whether the explanations of a belief may be followed one at a time if there are too many to keep."""
    model = oracle.model
    varied = model.timed or belief.timed or model.spec.emits or model.requirements
    return not varied and oracle.relation == "uioco"


def finder(model: Model, event: Event, number: int) -> Finder:
    """Return the search for what explains an event; `number` is that of the input sent, or how many were taken."""
    if isinstance(event, (Seen, Closed)):
        port, output = event.port, model.output_symbol(event.output)
        return lambda search, now: search.seen(now, port, output)
    if isinstance(event, Sent):
        port, inp = event.port, model.symbol(event.input)
        return lambda _search, now: with_input(now, port, inp, number)
    if isinstance(event, Taken):
        return lambda search, now: search.taken(now, number)
    return Search.rested if isinstance(event, Quiet) and event.restless else Search.quiet
