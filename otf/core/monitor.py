"""The monitor, which judges the events of a run.

The live runner, the replay, the shrinker and every simulation use it; no other code judges. It has no clock (times come
with the events), no randomness and no I/O.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Final

from otf.core.belief import LONG, Belief, EventResult, FailedStep, Ledger, renumber_inputs
from otf.core.deadlines import answered, due, pending, timers, times
from otf.core.deep import DeepRun, too_many
from otf.core.doubts import Doubts
from otf.core.explainer import NONE, Explainer, follows_one
from otf.core.failure import EventPosition, explain
from otf.core.lookahead import DEEPER, CutSearch, Lookahead, deeper, unjudgeable
from otf.core.missed_times import MissedTimes
from otf.core.nodes import Node
from otf.core.oracle import Oracle
from otf.core.properties import PropertyWatch, violated
from otf.core.search import OvergrownError
from otf.core.timing import FOREVER, NEVER, Span
from otf.trace.events import Closed, Event, Guess, Quiet, Seen, Sent, Stalled, Taken
from otf.trace.verdict import Failure, Judged, Verdict

STEPS: Final = 100  # whose times are remembered for the words of a failure
PASS: Final = Verdict("pass")
TRUNCATED: Final = Verdict("pass", truncated=True)


class Monitor:
    """The monitor judges one path: it follows the set of states that the model allows after each event.

    `tell` judges the next event, and returns None or the verdict on the path, which is also in `verdict`. `end` returns
    the verdict if the path ended before `tell` found one. `oracle` contains the model. `events` is the number of events
    passed to `tell`. `step` is the current step, from which otf makes the text of a failure. `explainer` searches for
    explanations of an event, and `lookahead` decides how many spontaneous outputs may be in flight. `belief` holds the
    possible states, and `ledger` holds facts about the inputs sent. `requirements` holds the requirements that the last
    event may prove. `slack` is how many seconds late otf may have seen an event.

    >>> from otf.core import Model
    >>> from otf.spec import Spec, goto
    >>> from otf.trace import Seen, Sent
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit, "on" if not lit else "off")], False, ["press"])))
    >>> monitor = Monitor(oracle)
    >>> monitor.tell(Sent("press", "sut", 0.0)), monitor.tell(Seen("on", "sut", 0.1))
    (None, None)
    >>> monitor.tell(Seen("off", "sut", 0.2)).outcome, monitor.end().outcome
    ('fail', 'fail')
    """

    def __init__(self, oracle: Oracle, belief: Belief | None = None) -> None:
        """Start at the beginning of a run, or continue from a settled `belief`."""
        self.oracle = oracle
        self.belief: Belief = belief or oracle.start()
        self.ledger: Ledger = Ledger()
        self.requirements: frozenset[str] = NONE
        self.step: FailedStep = FailedStep(self.belief, [], [])
        self.events: int = 0
        self.verdict: Verdict | None = None
        self.past: tuple[Failure, ...] = ()  # the failures that the run went past
        self.explainer: Explainer = Explainer(oracle)
        self.lookahead: Lookahead = Lookahead()
        self.deepens: bool = True  # whether it judges again with more spontaneous outputs in flight
        self.slack: float = 0.0  # by how many seconds the tester may have seen outputs late
        self.stalls: int = 0  # how many were told
        self.stalled: float = 0.0  # their seconds
        self._doubts = Doubts(oracle.model)
        self._missed = MissedTimes()
        # the work of judging again for this event: all depths together take at most twice as much as one search
        self._again = -oracle.limits.work
        self._now = 0.0
        self._sent = deque[tuple[int, float]](maxlen=STEPS)  # the numbers of the last inputs, and their times
        self._deep: DeepRun | None = None  # if there are too many explanations to keep
        # properties concern whole runs, so a monitor that begins elsewhere cannot judge them
        self.properties: PropertyWatch | None = None
        if oracle.properties and belief is None:
            self.properties = PropertyWatch.start(oracle.properties)

    @property
    def states(self) -> tuple[Node, ...]:
        """Return the model states in which the system may be after the events so far."""
        return self.belief.nodes

    @property
    def sent(self) -> int:
        """Return the number of inputs sent on the path."""
        return self.ledger.sent

    @property
    def crowded(self) -> bool:
        """Return whether there are too many possible states: otf then waits for quiescence before the next input."""
        return self._deep is not None or len(self.belief.hypotheses) > self.oracle.limits.hypotheses

    def tell(self, event: Event) -> Verdict | None:
        """Judge one event; return the verdict on the path if this event decides it, else None."""
        self.events += 1
        self.explainer.slack, self._again = self.slack, -self.oracle.limits.work
        if isinstance(event, Guess):
            self._go_past(event)
        elif self.verdict is None:
            all_answered = self.properties is None or not isinstance(event, Sent) or self._answered()
            try:
                # before it believes quiescence: what was left out may still have to answer
                if self.lookahead.cuts and self.deepens:
                    self._deepen(event.begun if isinstance(event, Stalled) else event.at)
                if self._doubts.ends:
                    self._doubts.weigh(event, self._now, self.belief, self.oracle.timing.latency)
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
                broken = self.properties.tell(event, answered=all_answered)
                self.verdict = None if broken is None else violated(broken, self.events)
        return self.verdict

    def _answered(self) -> bool:
        """Return whether everything sent has been answered, so that the next outputs belong to what follows."""
        return self._deep is None and (self.belief.settled or answered(self.oracle.model, self.belief))

    def guess(self) -> list[Node]:
        """Return the states from which the path may continue past its failure; none if no guess is possible."""
        failed = self.verdict is not None and self.verdict.failed
        return self.oracle.guessed(self.belief, self.step) if failed and self._deep is None else []

    def _go_past(self, guess: Guess) -> None:
        nodes, failure = self.guess(), None if self.verdict is None else self.verdict.failure
        # a trace may have guesses at failures that today's model does not see: then the state is known
        if nodes and failure is not None:
            self.past, self.verdict = (*self.past, failure), None
            self.oracle = self.explainer.oracle = self.oracle.for_guesses()
            self.belief = self.oracle.anywhere(nodes, Span(-FOREVER, 0.0))
            self.step = FailedStep(self.belief, [], [])
            self.ledger, self.lookahead, self.requirements = self.ledger.keep((), guess.at), Lookahead(), NONE
            # properties say nothing about a run with a wrong answer
            self.properties = None

    def _overgrown(self, event: Event | None) -> None:
        """Follow one explanation at a time from now on, if possible, beginning with this event."""
        if self._deep or not follows_one(self.oracle, self.belief):
            self.verdict = too_many(self.oracle.limits.most)
            return
        self._deep = DeepRun(self.explainer, self.belief, self.ledger)
        if event is not None:
            try:
                self._judge_deep(self._deep, event)
            except OvergrownError:
                self.verdict = too_many(self.oracle.limits.most)

    def _judge_deep(self, deep: DeepRun, event: Event) -> None:
        if not deep.tell(event, self.ledger):
            self.verdict = self._empty(event)
            return
        ledger, settles = self.ledger, isinstance(event, Quiet)
        if isinstance(event, Sent):
            self.step.inputs.append(event)
            self._sent.append((ledger.sent + 1, event.at))
            then = ledger.then(event, self.oracle.timing)
            # of the inputs not proven taken, only the first counts
            self.ledger = then._replace(inputs=then.inputs[:1])
        elif isinstance(event, (Seen, Closed)):
            self.step.outputs.append(event)
        elif settles:
            found, _ = renumber_inputs(list(deep.search.each(self.oracle.limits.hypotheses)))
            self._deep, self.belief = None, self.oracle.beliefs.of(found)
            self.step, self.ledger = self.step.next(self.belief), ledger.keep((), event.at + self.oracle.timing.busy)
        if not settles:
            self.belief = Belief((deep.search.now,))

    def would(self, event: Event) -> bool:
        """Return whether a possible state would remain after an event, without judging the event."""
        self.explainer.slack, self._again = self.slack, -self.oracle.limits.work
        try:
            if self._deep is not None:
                return self._deep.would(event, self.ledger)
            found = self.explainer.result(self.belief, self.ledger, event)
            return bool(found.belief.hypotheses) or self._deeper(event, found) is not None
        except OvergrownError:
            if self._deep is not None or not follows_one(self.oracle, self.belief):
                return True
            self._deep = DeepRun(self.explainer, self.belief, self.ledger)
            return self.would(event)

    def due(self) -> float | None:
        """Return the time by which an output must come; None if one of the possible states allows silence."""
        return due(self.belief, self.oracle.timing.latency)

    def timers(self) -> dict[str | int | None, float]:
        """Return the running timers whose expiry has an effect, each with the latest time of its output."""
        return timers(self.belief, self.oracle.timing.latency)

    def pending(self) -> float | None:
        """Return the time by which all answers with a time window must have come; None if there are none."""
        return pending(self.belief, self.oracle.timing.latency)

    def end(self) -> Verdict:
        """Return the verdict on a path on which nothing more happens."""
        verdict = self.verdict or (TRUNCATED if self.belief.unconstrained else PASS)
        verdict = (verdict if verdict.failed else self._missed.verdict or verdict).after(self.past)
        return replace(verdict, judged=self.judged) if self.oracle.model.timed else verdict

    @property
    def judged(self) -> Judged:
        """Return how many seconds of the path were judged, and during how many a stall made times uncertain."""
        return self._doubts.judged(self.events - self.stalls, self._now)

    def _judge(self, event: Event) -> None:
        result = self.explainer.result(self.belief, self.ledger, event)
        if result.belief.hypotheses:
            if result.cut or self.lookahead.cuts:
                self.lookahead.note(event, self._cut(event, result.cut), self.slack)
            self._advance(event, result)
        elif (more := self._deeper(event, result)) is not None:
            belief = self.oracle.beliefs.of(more.belief.hypotheses)
            self.lookahead.note(event, self._cut(event, result.cut), self.slack)
            self._advance(event, EventResult(belief, requirements=more.requirements))
            self.ledger = more.ledger
        elif self.slack:
            # the tester itself was this late
            slack, self.slack, self.explainer.slack = self.slack, 0.0, 0.0
            self._stall(Stalled(slack, event.at))
            self._judge(event)
            self.slack = slack
        else:
            self.verdict = self._empty(event)
            if self.deepens:
                late = self.explainer.late
                self.verdict = self._missed.weigh(self.verdict, event.at, late, lambda each: self._goes_on(event, each))
            # whoever judges again must know that this failure may go away with still more of them
            if self.verdict is not None and (cut := self._cut(event, result.cut)) is not None:
                self.lookahead.cuts.append(cut)

    def _goes_on(self, event: Event, stall: Stalled) -> bool:
        """Return whether a hidden stall explains an event; if so, the run goes on as if there had been one."""
        belief, ledger, self.deepens, self.verdict = self.belief, self.ledger, False, None
        self._stall(stall)
        self._judge(event)
        self.deepens = True
        if self.verdict is not None:
            self.belief, self.ledger = belief, ledger
        return self.verdict is None

    def _stall(self, stall: Stalled) -> None:
        """Take a stall: whatever was due then may come later by its length, and so may what arrives soon."""
        self.stalls += 1
        self.stalled += stall.seconds
        # a monitor that judges events again knows the stalls of the run already
        if stall not in self.explainer.late:
            self.explainer.late.appendleft(stall)
        if self.belief.timed:
            # as much work as moves if hundreds of outputs are in flight
            self.explainer.work += sum(len(each) for now in self.belief.hypotheses for _, each in now.outstanding)
        self.belief = self._doubts.opened(self.belief, stall, self.oracle.timing.latency)
        self.ledger = self.ledger.delay(stall, self.oracle.timing.busy)
        self.requirements = NONE
        if self.lookahead.cuts:
            self.lookahead.note(stall, None, self.slack)

    def _cut(self, event: Event, ports: frozenset[str]) -> CutSearch | None:
        """Return what the search for an event left out."""
        by = event.at + self.oracle.timing.latency + self.slack
        return CutSearch(self.events, ports, by, self.belief, self.ledger) if ports else None

    def _deeper(self, event: Event, result: EventResult) -> Monitor | None:
        """Return a monitor that explains an event with more spontaneous outputs in flight, or None."""
        first = self.lookahead.first or self._cut(event, result.cut)
        if first is None or not self.deepens:
            return None
        for followed in deeper(self.oracle.limits):
            other = self._following(followed, first, event)
            if other.verdict is None:
                return other
            if not other.verdict.failed:
                raise OvergrownError
            if not other.lookahead.cut:
                return None
        return None

    def _deepen(self, now: float) -> None:
        """If more spontaneous outputs were in flight at once than were followed, raise the limit from now on."""
        followed = self.oracle.limits.spontaneous
        seen = self.lookahead.more(now, followed)
        first = self.lookahead.first
        if seen and first is not None and self.verdict is None:
            while followed < seen:
                followed = max(1, DEEPER * followed)
            other = self._following(min(followed, self.oracle.limits.ahead), first)
            if other.verdict is None:
                self.oracle = self.explainer.oracle = other.oracle
                # what was lost before the first of these events stays lost
                other.lookahead.lost |= self.lookahead.lost
                self.belief, self.ledger, self.lookahead = other.belief, other.ledger, other.lookahead
            else:
                # the event itself may still be explained; if not, the failure is not certain
                self.lookahead.give_up()

    def _following(self, spontaneous: int, first: CutSearch, *events: Event) -> Monitor:
        """Return a monitor that has rejudged everything since something was left out, then these events."""
        oracle = self.oracle.following(spontaneous)
        other = self._alike(oracle, oracle.beliefs.of(first.belief.hypotheses))
        other.ledger, other.events, other.deepens = first.ledger, first.event - 1, False
        other.explainer.late = self.explainer.late.copy()
        # a tester that computes for seconds sees too late what comes meanwhile
        other.explainer.work, other.explainer.bounded = self._again, True
        for event, slack in (*self.lookahead.events, *((each, self.slack) for each in events)):
            other.slack = slack
            other.tell(event)
            if other.explainer.work > oracle.limits.work:
                other.verdict = too_many(oracle.limits.most)
                break
        self._again = other.explainer.work
        return other

    def _alike(self, oracle: Oracle, belief: Belief) -> Monitor:
        return Monitor(oracle, belief)

    def _advance(self, event: Event, result: EventResult) -> None:
        before, timing, ledger = self.belief, self.oracle.timing, self.ledger
        self.belief, kept, self.requirements, _ = result
        # if no input matters any more, the last was taken before this output was emitted
        over = event.at + timing.busy
        if isinstance(event, Sent):
            if before.settled:
                self.step = FailedStep(before, [], [], [], self.step.before if self.step.inputs else self.step.earlier)
            self.step.inputs.append(event)
            self._sent.append((ledger.sent + 1, event.at))
            ledger = ledger.then(event, timing)
        elif isinstance(event, (Seen, Closed)):
            if len(self.step.outputs) >= LONG:
                self.step = self.step.next(before)
            self.step.outputs.append(event)
        elif isinstance(event, Quiet):
            self.step = self.step.next(self.belief)
            finishes = kept or event.by == "barrier"
            ledger, over = (ledger.finish(event, timing.busy), FOREVER) if finishes else (ledger, event.at)
        self.ledger = ledger.keep(kept, over)
        if len(self.belief.hypotheses) > self.oracle.limits.hypotheses:
            self._bounded(event)

    def _bounded(self, event: Event) -> None:
        if isinstance(event, (Quiet, Taken)):
            self.verdict = too_many(self.oracle.limits.hypotheses)
        elif len(self.belief.hypotheses) > self.oracle.limits.most:
            self._overgrown(None)

    def _empty(self, event: Event) -> Verdict:
        if self.lookahead.lost:
            return Verdict("inconclusive", why=unjudgeable(self.oracle.timing.latency, self.oracle.limits))
        model = self.oracle.model
        late = self.explainer.untimely(self.belief, self.ledger, event)
        clock = self.explainer.clock(event, self.ledger)
        found = times(model, self.belief, event, clock, late) if model.timed else NEVER
        described = found.dated(self._sent, self.oracle.timing.busy)
        at = EventPosition(self.events, self.sent)
        return Verdict("fail", explain(model, self.step, event, at, late, described, self.oracle.requirements))
