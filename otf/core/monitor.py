"""The monitor: it judges the events of a run.

The live runner, the replay, the shrinker and every simulation use this one object; no other code judges. It has no
clock (times come with the events), no randomness and no input or output.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from typing import Final, TypeAlias, cast

from otf.core.belief import Belief, EventResult, counted
from otf.core.crowd import thinned
from otf.core.deadlines import answered, due, is_overdue, pending, timers
from otf.core.deep import DeepSearch, Find, PortOutput
from otf.core.due_times import times
from otf.core.failure import EventPosition, FailedStep, explain
from otf.core.guess import guessed
from otf.core.hypothesis import Hypothesis
from otf.core.ledger import Ledger
from otf.core.lookahead import EVENTS, CutSearch, Lookahead
from otf.core.memory import Symbol
from otf.core.moves import Moves
from otf.core.nodes import Node
from otf.core.oracle import Oracle
from otf.core.properties import PropertyWatch, violated
from otf.core.search import OvergrownError, Search, sent
from otf.core.timing import FOREVER, Clock, Span, Window, behind, is_later
from otf.core.windows import opened, widest, windows
from otf.trace.events import Closed, Ended, Event, Guess, Quiet, Seen, Sent, Stalled, Taken
from otf.trace.verdict import Failure, FailureKind, Judged, Verdict

PASS: Final = Verdict("pass")
TRUNCATED: Final = Verdict("pass", truncated=True)
NONE: Final = frozenset[str]()
DEEPER: Final = 4  # times as many spontaneous outputs are followed where those before explain nothing

STALLS: Final = 1_000  # latest stalls that may still delay what arrives: with L and R of 2 ms these last for seconds

Finder: TypeAlias = Callable[[Search, Iterable[Hypothesis]], Iterable[Hypothesis]]


class Monitor:
    """The judge of one run.

    `tell` judges the events in order and returns a verdict as soon as there is one; `end` returns the verdict of a run
    that ended without. `belief` holds the possible states, `ledger` the facts about the inputs, `requirements` those
    that a move on the last event may implement. `slack` is set by code that measures how late the tester is.

    >>> from otf.core import Model
    >>> from otf.spec import Spec, goto
    >>> from otf.trace import Seen, Sent
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit, "on" if not lit else "off")], False, ["press"])))
    >>> monitor = Monitor(oracle)
    >>> monitor.tell(Sent("press", "sut", 0.0)), monitor.tell(Seen("on", "sut", 0.1))
    (None, None)
    >>> monitor.tell(Seen("off", "sut", 0.2)).outcome
    'fail'
    """

    def __init__(self, oracle: Oracle, belief: Belief | None = None) -> None:
        """Begin at the start of a run, or from a settled `belief`."""
        self.oracle = oracle
        self.belief: Belief = belief or oracle.start()
        self.ledger: Ledger = Ledger()
        self.requirements: frozenset[str] = NONE
        self.step: FailedStep = FailedStep(self.belief, [], [])
        self.events: int = 0
        # how many moves were considered to explain them
        self.work: int = 0
        self.verdict: Verdict | None = None
        # the failures that the run went on past
        self.past: tuple[Failure, ...] = ()
        # whether time decided on the last event that was searched for
        self._by_time = False
        # the last result that time decided, and for what: `would` and then `tell` ask about the same event
        self._last: tuple[Belief, Ledger, Hashable, EventResult] | None = None
        self.lookahead: Lookahead = Lookahead()
        # whether it judges again with more spontaneous outputs under way
        self.deepens: bool = True
        # the seconds by which the tester itself may have seen outputs late
        self.slack: float = 0.0
        # how many stalls were told, and those after which something may still be on its way, the latest first
        self.stalls: int = 0
        # the ends of intervals that they opened, with those before, and how many events were judged in doubt
        self._opened = dict[float, float]()
        self._doubtful: int = 0
        self._doubted = self._now = 0.0
        # where there are too many explanations to keep, and the inputs that were in flight before
        self._deep: DeepSearch | None = None
        self._shallow: Ledger = self.ledger
        self.late: deque[Stalled] = deque(maxlen=STALLS)
        # they speak of whole runs: a monitor that begins elsewhere cannot judge them
        self.properties: PropertyWatch | None = None
        if oracle.properties and belief is None:
            self.properties = PropertyWatch.start(oracle.properties)

    @property
    def states(self) -> tuple[Node, ...]:
        """Return the nodes that the system may be in, as far as events have required moves."""
        return self.belief.nodes

    @property
    def sent(self) -> int:
        """Return how many inputs were sent."""
        return self.ledger.sent

    @property
    def crowded(self) -> bool:
        """Return whether the set has outgrown its cap, so that nothing may be sent before it is settled."""
        return self._deep is not None or len(self.belief.hypotheses) > self.oracle.limits.hypotheses

    @property
    def cut(self) -> bool:
        """Return whether spontaneous outputs were left out that may have been under way."""
        return self.lookahead.lost or bool(self.lookahead.cuts)

    def tell(self, event: Event) -> Verdict | None:
        """Judge one event; return the verdict of the run if it is decided now, else None."""
        self.events += 1
        if isinstance(event, Guess):
            self._go_past(event)
        elif self.verdict is None:
            settled = self.properties is None or not isinstance(event, Sent) or self._answered()
            try:
                # before quiescence is believed: what was left out may still have to answer
                if self.lookahead.cuts and self.deepens:
                    self._deepen(event.at)
                if self._opened:
                    self._doubt(event)
                self._now = max(self._now, event.at)
                if isinstance(event, Stalled):
                    self._stall(event)
                elif self._deep is not None:
                    self._judge_deep(self._deep, event)
                else:
                    self._judge(event)
            except OvergrownError:
                self._overgrown(event)
            if self.properties is not None and self.verdict is None:
                broken = self.properties.tell(event, settled=settled)
                self.verdict = None if broken is None else violated(broken, self.events)
        return self.verdict

    def _answered(self) -> bool:
        """Return whether all that was sent has been answered, so that the next outputs belong to what follows."""
        return self._deep is None and (self.belief.settled or answered(self.oracle.model, self.belief))

    def guess(self) -> list[Node]:
        """Return the states from which the run may go on past its failure; empty if no guess is possible."""
        failed = self.verdict is not None and self.verdict.failed
        return guessed(self.oracle, self.belief, self.step) if failed and self._deep is None else []

    def _go_past(self, guess: Guess) -> None:
        nodes, failure = self.guess(), None if self.verdict is None else self.verdict.failure
        # a trace has guesses at failures that the model of today may not see: then it knows the state
        if nodes and failure is not None:
            self.past, self.verdict, self.oracle = (*self.past, failure), None, self.oracle.guessing()
            self.belief = self.oracle.anywhere(nodes, Span(-FOREVER, 0.0))
            self.step = FailedStep(self.belief, [], [])
            self.ledger, self.lookahead, self.requirements = self.ledger.over(guess.at), Lookahead(), NONE
            # of a run with a wrong answer they say nothing
            self.properties = None

    def _overgrown(self, event: Event | None) -> None:
        """Follow one explanation at a time from now on, the next event being this one, where that is possible."""
        oracle, ticks = self.oracle, self.oracle.model.timed or self.belief.timed
        if self._deep or ticks or oracle.relation != "uioco" or oracle.model.spec.emits or oracle.model.requirements:
            self.verdict = _too_many(oracle.limits.most)
            return
        self._deep, self._shallow = DeepSearch(self.belief.hypotheses, self._moves, oracle.limits.work), self.ledger
        if event is not None:
            try:
                self._judge_deep(self._deep, event)
            except OvergrownError:
                self.verdict = _too_many(oracle.limits.most)

    def _judge_deep(self, deep: DeepSearch, event: Event) -> None:
        if not deep.tell(*self._deeply(event)):
            self.verdict = self._empty(event)
            return
        ledger, settles = self.ledger, isinstance(event, Quiet)
        if isinstance(event, Sent):
            self.step.inputs.append(event)
            then = ledger.then(event, self.oracle.timing)
            # of inputs that are not proven taken only the first counts
            self.ledger = then._replace(inputs=then.inputs[:1])
        elif isinstance(event, (Seen, Closed)):
            self.step.outputs.append(event)
        elif settles:
            found, _ = counted(deep.all(self.oracle.limits.hypotheses))
            self._deep, self.belief = None, self.oracle.beliefs.of(found)
            self.step, self.ledger = self.step.rested(self.belief), ledger.over(event.at + self.oracle.timing.busy)
        if not settles:
            self.belief = Belief((deep.now,))

    def _deeply(self, event: Event) -> tuple[Find, PortOutput | None]:
        """Return the search for an event, and its output; inputs are numbered on from the set that outgrew its cap."""
        before, model = self._shallow, self.oracle.model
        base = len(before.inputs) - before.sent
        if isinstance(event, Sent):
            port, inp, number = event.port, model.symbol(event.input), base + self.sent + 1
            return lambda _search, now: sent(now, port, inp, number), None
        if isinstance(event, Taken):
            upto = before.upto(event.upto) if event.upto <= before.sent else base + event.upto
            return lambda search, now: search.taken(now, upto), None
        output = None
        if isinstance(event, (Seen, Closed)):
            output = event.port, model.output_symbol(event.output if isinstance(event, Seen) else Ended(event.reason))
        return self._finder(event), output

    def would(self, event: Event) -> bool:
        """Return whether the event would leave a possible state, without judging it."""
        name = self._name(event)
        try:
            if self._deep is not None:
                return self._deep.would(*self._deeply(event))
            found = self.belief.after.get(name) or self._searched(event, name)
            return bool(found.belief.hypotheses) or self._deeper(event, found) is not None
        except OvergrownError:
            return True

    def due(self) -> float | None:
        """Return the time by which an output must have been seen in every explanation; None if one allows silence."""
        return due(self.belief, self.oracle.timing.latency)

    def timers(self) -> dict[str | int | None, float]:
        """Return the running timers that have an effect, each with the time by which its output has been seen."""
        return timers(self.belief, self.oracle.timing.latency)

    def pending(self) -> float | None:
        """Return the time by which all answers that are due in windows have been seen; None if there are none."""
        return pending(self.belief, self.oracle.timing.latency)

    def end(self) -> Verdict:
        """Return the verdict of a run in which nothing more happens."""
        verdict = (self.verdict or (TRUNCATED if self.belief.unconstrained else PASS)).after(self.past)
        return replace(verdict, judged=self.judged) if self.oracle.model.timed else verdict

    @property
    def judged(self) -> Judged:
        """Return how much was judged, and how much of that while stalls left times open."""
        return Judged(self.events - self.stalls, self._now, self._doubtful, self._doubted)

    def _judge(self, event: Event) -> None:
        name = self._name(event)
        result = self.belief.after.get(name)
        if result is None:
            result = self._searched(event, name)
        elif not result.belief.recurs:
            self.oracle.model.memory.met(result.belief)
        if result.belief.hypotheses:
            if result.cut or self.lookahead.cuts:
                self.lookahead.note(event, self._cut(event, result.cut))
            self._advance(event, result)
        elif (deeper := self._deeper(event, result)) is not None:
            self._adopt(event, deeper, result)
        elif self.slack:
            # the tester itself was late by this
            slack, self.slack = self.slack, 0.0
            self._stall(Stalled(slack, event.at))
            self._judge(event)
            self.slack = slack
        else:
            # whoever judges again has to know that this failure may go away with still more of them
            self.lookahead.note(event, self._cut(event, result.cut))
            self.verdict = self._empty(event)

    def _doubt(self, event: Event) -> None:
        """Count an event that without the stalls might have left other states, or none."""
        open_now = [each for each in _windows(self.belief) if each.trigger.b in self._opened]
        if not open_now:
            self._opened.clear()
            return
        before = event.at - self.oracle.timing.latency
        overdue = any(is_later(before, self._opened[each.trigger.b] + each.hi) for each in open_now)
        states = {(each.position, *(timer.name for timer in each.timers)) for each in self.belief.hypotheses}
        if overdue or len(states) > 1:
            self._doubtful += not isinstance(event, Stalled)
            self._doubted += max(0.0, event.at - self._now)

    def _stall(self, stall: Stalled) -> None:
        """Take a stall: what was to happen then may come later by its length, and so may what arrives soon."""
        latency, before = self.oracle.timing.latency, [*_windows(self.belief)]
        self.stalls += 1
        # a monitor that judges events again knows those of the run
        if stall not in self.late:
            self.late.appendleft(stall)
        if self.belief.timed:
            self.belief = Belief(tuple(opened(each, stall, latency) for each in self.belief.hypotheses))
        for old, new in zip(before, _windows(self.belief), strict=True):
            if new.trigger.b > old.trigger.b:
                self._opened[new.trigger.b] = self._opened.get(old.trigger.b, old.trigger.b)
        self.ledger = self.ledger.delayed(stall)
        self.requirements = NONE
        if self.lookahead.cuts:
            self.lookahead.note(stall, None)

    def _cut(self, event: Event, ports: frozenset[str]) -> CutSearch | None:
        """Return what the search for an event left out."""
        by = event.at + self.oracle.timing.latency + self.slack
        return CutSearch(self.events, ports, by, self.belief, self.ledger) if ports else None

    def _deeper(self, event: Event, result: EventResult) -> Monitor | None:
        """Return a monitor that explains an event with more spontaneous outputs under way; None if there is none."""
        first = self.lookahead.first or self._cut(event, result.cut)
        if first is None or not self.deepens:
            return None
        followed, most = self.oracle.limits.spontaneous, self.oracle.limits.ahead
        while followed < most:
            followed = min(max(1, DEEPER * followed), most)
            other = self._following(followed, first, event)
            if other.verdict is None:
                return other
            if not other.verdict.failed:
                raise OvergrownError
            if not other.cut:
                return None
        return None

    def _deepen(self, now: float) -> None:
        """Follow more from now on if more spontaneous outputs were under way at once than were followed."""
        followed = self.oracle.limits.spontaneous
        seen = self.lookahead.more(now, followed)
        first = self.lookahead.first
        if seen and first is not None and self.verdict is None:
            while followed < seen:
                followed = max(1, DEEPER * followed)
            other = self._following(min(followed, self.oracle.limits.ahead), first)
            if other.verdict is None:
                self.oracle, self.belief, self.ledger = other.oracle, other.belief, other.ledger
                self.lookahead = other.lookahead
            else:
                # the event itself may still be explained; what is not is no certain failure
                self.lookahead.give_up()

    def _following(self, spontaneous: int, first: CutSearch, *events: Event) -> Monitor:
        """Return a monitor that has judged once more what came since something was left out, and these events."""
        oracle = self.oracle.following(spontaneous)
        other = self._alike(oracle, oracle.beliefs.of(first.belief.hypotheses))
        other.ledger, other.slack, other.events, other.deepens = first.ledger, self.slack, first.event - 1, False
        other.late = self.late.copy()
        for event in (*self.lookahead.events, *events):
            other.tell(event)
            # a tester that computes for seconds sees what comes meanwhile too late
            if other.work > oracle.limits.work:
                other.verdict = _too_many(oracle.limits.most)
                break
        return other

    def _alike(self, oracle: Oracle, belief: Belief) -> Monitor:
        return Monitor(oracle, belief)

    def _adopt(self, event: Event, other: Monitor, result: EventResult) -> None:
        """Go on with the explanations of a monitor that follows more."""
        belief = self.oracle.beliefs.of(other.belief.hypotheses)
        self.lookahead.note(event, self._cut(event, result.cut))
        self._advance(event, EventResult(belief, requirements=other.requirements))
        self.ledger = other.ledger

    def _advance(self, event: Event, result: EventResult) -> None:
        before, timing, ledger = self.belief, self.oracle.timing, self.ledger
        self.belief, kept, self.requirements, _ = result
        if isinstance(event, Sent):
            if before.settled:
                self.step = FailedStep(before, [], [])
            self.step.inputs.append(event)
            ledger = ledger.then(event, timing)
        elif isinstance(event, (Seen, Closed)):
            self.step.outputs.append(event)
        elif isinstance(event, Quiet):
            self.step = self.step.rested(self.belief)
            ledger = ledger.done(event.at)
        # if no input matters any more, the last was taken before the present output was emitted
        self.ledger = ledger.kept(kept) if kept else ledger.over(event.at + timing.busy)
        if len(self.belief.hypotheses) > self.oracle.limits.hypotheses:
            self._bounded(event)

    def _bounded(self, event: Event) -> None:
        limits = self.oracle.limits
        bound = limits.hypotheses if isinstance(event, (Quiet, Taken)) else limits.most
        if len(self.belief.hypotheses) > bound:
            if bound == limits.most:
                self._overgrown(None)
            else:
                self.verdict = _too_many(bound)

    def _empty(self, event: Event) -> Verdict:
        if self.lookahead.lost:
            return Verdict("inconclusive", why=self._unjudgeable())
        return Verdict("fail", self._failure(event))

    def _unjudgeable(self) -> str:
        latency, limits = self.oracle.timing.latency, self.oracle.limits
        said = f"more spontaneous outputs may be under way within the latency ({latency:g} s) than can be judged again"
        work = f"at most {EVENTS:,} events, and {limits.work:,} moves for one (Limits.hypotheses={limits.hypotheses:,})"
        return f"{said}: {work}; a smaller latency= of the bench, if it is true, needs fewer"

    def _failure(self, event: Event) -> Failure:
        model = self.oracle.model
        late, clock = self._untimely(event), self._clock(event)
        described = times(model, self.belief, event, clock, late) if model.timed else ()
        at = EventPosition(self.events, self.sent)
        return explain(model, self.step, event, at, late, described, self.oracle.requirements)

    def _untimely(self, event: Event) -> FailureKind | None:
        """Return how the time of an output is wrong, None if not only that is.

        Where every explanation has missed an output by now, another output is no news: the first one is missing.
        """
        if not self._by_time or not isinstance(event, (Seen, Closed)):
            return None
        find, clock = self._finder(event), self._clock(event)
        if not Search(self._moves(), clock).current(self.belief.hypotheses) and not self._is_overdue(event, clock):
            return "missing"
        late, early = replace(clock, late=True), replace(clock, early=True)
        kinds: tuple[tuple[FailureKind, Clock], ...] = (("late", late), ("early", early))
        return next((kind for kind, each in kinds if self._find(find, each).belief.hypotheses), None)

    def _is_overdue(self, event: Seen | Closed, clock: Clock) -> bool:
        """Return whether an output is one that should have been seen before."""
        model = self.oracle.model
        output = model.output_symbol(event.output if isinstance(event, Seen) else Ended(event.reason))
        return any(is_overdue(model, now, event.port, output, clock) for now in self.belief.hypotheses)

    def _searched(self, event: Event, name: Hashable) -> EventResult:
        find = self._finder(event)
        if self.belief.at_rest and find is Search.quiet and self.oracle.model.spec.emits is None:
            return EventResult(self.belief)
        what, last = (event.at, name), self._last
        if last is not None and last[0] is self.belief and last[1] is self.ledger and last[2] == what:
            self._by_time = True
            return last[3]
        if isinstance(event, Sent) and not self.belief.timed:
            # it makes no moves: setting up a search for it would take half of its time
            number, self._by_time = len(self.ledger.inputs) + 1, False
            inp = self.oracle.model.symbol(event.input)
            result = self._result(sent(self.belief.hypotheses, event.port, inp, number))
        else:
            clock = self._clock(event)
            result = self._find(find, clock)
            self._by_time = clock.used
        # a result that depends on the time of this event does not hold for the next one like it
        if self._by_time:
            self._last = self.belief, self.ledger, what, result
        elif not _heavy(name):
            self.oracle.beliefs.remember(self.belief, name, result)
        return result

    def _clock(self, event: Event) -> Clock:
        timing = self.oracle.timing
        bound = timing.latency + timing.busy
        late = behind(self.late, event.at, bound) if self.late else 0.0
        return Clock(event.at, timing.latency, timing.busy, self.ledger.spans, behind=late, stalls=self.late)

    def _find(self, find: Finder, clock: Clock) -> EventResult:
        oracle = self.oracle
        commuting = oracle.relation == "uioco" and (
            oracle.model.spec.emits is not None or len(self.belief.in_flight) > 1
        )
        moves = self._moves()
        search = Search(moves, clock, commuting)
        found = self._found(search, find)
        free = frozenset(moves.unspecified - moves.specified)
        if free and oracle.relation == "any":
            # no possible state specifies these inputs: none is to be preferred to the others
            moves = self._moves(free)
            search = Search(moves, clock)
            found = self._found(search, find)
        self.work += search.work
        # results decided by time do not come again
        requirements = frozenset(moves.requirements) if moves.requirements else NONE
        cut = frozenset(moves.cut) if moves.cut else NONE
        return self._result(thinned(widest(found)) if clock.used else found, requirements, cut, once=clock.used)

    def _result(
        self,
        found: Iterable[Hypothesis],
        requirements: frozenset[str] = NONE,
        cut: frozenset[str] = NONE,
        *,
        once: bool = False,
    ) -> EventResult:
        hypotheses, kept = counted(found)
        # nor do sets with numbers that differ by one more input in flight
        once = once or isinstance(hypotheses, list)
        belief = Belief(tuple(hypotheses)) if once else self.oracle.beliefs.of(hypotheses)
        return EventResult(belief, kept, requirements, cut)

    def _moves(self, free: frozenset[int] = frozenset()) -> Moves:
        return Moves(self.oracle.model, self.oracle.relation, self.oracle.limits, free=free)

    def _found(self, search: Search, find: Finder) -> Iterable[Hypothesis]:
        now: Iterable[Hypothesis] = self.belief.hypotheses
        if self.belief.timed:
            now = search.current(now)
        found = find(search, now)
        # outputs of moves made in the search may have been due long ago
        return search.current(found) if search.clock.used else found

    def _name(self, event: Event) -> Hashable:
        """Return what the result of an event is remembered under; a value is the last part of it."""
        model = self.oracle.model
        if isinstance(event, Seen):
            return "seen", event.port, model.output_symbol(event.output)
        if isinstance(event, Sent):
            return "sent", event.port, model.symbol(event.input)
        if isinstance(event, Quiet):
            return "rested" if event.restless else "quiet"
        if isinstance(event, Taken):
            return "taken", self.ledger.upto(event.upto)
        closed = cast("Closed", event)
        return "seen", closed.port, model.output_symbol(Ended(closed.reason))

    def _finder(self, event: Event) -> Finder:
        """Return the search for the hypotheses that explain an event."""
        model = self.oracle.model
        if isinstance(event, (Seen, Closed)):
            port = event.port
            output = model.output_symbol(event.output if isinstance(event, Seen) else Ended(event.reason))
            return lambda search, now: search.seen(now, port, output)
        if isinstance(event, Sent):
            port, inp, number = event.port, model.symbol(event.input), len(self.ledger.inputs) + 1
            return lambda _search, now: sent(now, port, inp, number)
        if isinstance(event, Taken):
            number = self.ledger.upto(event.upto)
            return lambda search, now: search.taken(now, number)
        return Search.rested if isinstance(event, Quiet) and event.restless else Search.quiet


def _windows(belief: Belief) -> Iterator[Window]:
    return (window for each in belief.hypotheses for window in windows(each)) if belief.timed else iter(())


def _heavy(name: Hashable) -> bool:
    value = cast("tuple[object, ...]", name)[-1] if isinstance(name, tuple) else None
    return isinstance(value, Symbol) and value.heavy


def _too_many(most: int) -> Verdict:
    why = (
        f"more than {most} explanations left; with fewer inputs in flight there are fewer (strict mode, smaller bursts)"
    )
    return Verdict("inconclusive", why=why)
