"""The oracle: it is told events and answers what they mean.

The live runner, the replay, the shrinker and every simulation use this one object; nobody else judges. It has no
clock (times come with the events), no randomness and no input or output.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Final

from otf.core.belief import Belief, Beliefs, Led, counted
from otf.core.clock import FOREVER, Clock, Span, Window, deadline
from otf.core.failure import At, Step, explain
from otf.core.hypothesis import Hypothesis
from otf.core.model import Model
from otf.core.places import Place
from otf.core.search import Limits, OvergrownError, Relation, Search, sent
from otf.core.timing import Timing
from otf.core.windows import widest
from otf.trace.events import Closed, Ended, Event, Quiet, Seen, Sent, Taken
from otf.trace.verdict import Failure, Kind, Verdict

PASS: Final = Verdict("pass")
TRUNCATED: Final = Verdict("pass", truncated=True)
DOUBT: Final = "more unasked outputs may be unseen than are followed (the bench's cap)"

_Finder = Callable[[Search, Hypothesis], Iterator[Hypothesis]]


@dataclass(slots=True)
class Oracle:
    """What all runs against one spec share: the model, how it is related to the system, and what is remembered."""

    model: Model
    relation: Relation = "uioco"
    limits: Limits = field(default_factory=Limits)
    timing: Timing = field(default_factory=Timing)
    beliefs: Beliefs = field(default_factory=Beliefs)

    def start(self) -> Belief:
        """Return the belief at the start of a run: the initial state and nothing else."""
        # it may have been started long ago, but it is there now
        since = None if self.model.must(self.model.initial) is None else Span(-FOREVER, 0.0)
        return self.beliefs.of([Hypothesis(self.model.initial, since=since)])


class Monitor:
    """The judge of one run.

    `tell` takes the events in their order and returns a verdict as soon as there is one; `end` gives the verdict of a
    run that ended without. `belief` holds the possible states. `slack` is set by who measures how late the tester is.
    """

    def __init__(self, oracle: Oracle, belief: Belief | None = None) -> None:
        """Begin at the start of a run, or where `belief`, in which everything is settled, tells that a run is."""
        self.oracle = oracle
        self.belief: Belief = belief or oracle.start()
        self.step: Step = Step(self.belief, [], [])
        self.events: int = 0
        self.sent: int = 0
        self.verdict: Verdict | None = None
        # the seconds by which the tester itself may have been late with what it saw
        self.slack: float = 0.0
        # the numbers from 1 in the belief stand for these inputs of the run
        self._inputs: tuple[int, ...] = ()
        self._spans: tuple[Span, ...] = ()
        self._ports: tuple[str, ...] = ()
        # the times by which the last input was taken, and all of them were dealt with
        self.taken_by: float = -FOREVER
        self.done_by: float = -FOREVER

    @property
    def states(self) -> tuple[Place, ...]:
        """Return the places that the system may be in, as far as events have asked."""
        return self.belief.places

    @property
    def unproven(self) -> int:
        """Return how many inputs are not proven taken, those after the first of them included."""
        return self.sent - self._inputs[0] + 1 if self._inputs else 0

    @property
    def crowded(self) -> bool:
        """Tell whether the set has outgrown its cap, so that nothing may be sent before it is settled."""
        return len(self.belief.hypotheses) > self.oracle.limits.hypotheses

    def tell(self, event: Event) -> Verdict | None:
        """Judge one event; return the verdict of the run if it is decided now, else None."""
        self.events += 1
        if self.verdict is None:
            try:
                self._judge(event)
            except OvergrownError:
                self.verdict = _too_many(self.oracle.limits.most)
        return self.verdict

    def would(self, event: Event) -> bool:
        """Tell whether the event would leave a possible state, without telling it."""
        name, find = self._question(event)
        try:
            return (self.belief.after.get(name) or self._searched(event, name, find)).belief.sure
        except OvergrownError:
            return True

    def _judge(self, event: Event) -> None:
        name, find = self._question(event)
        led = self.belief.after.get(name) or self._searched(event, name, find)
        if led.belief.sure:
            self._advance(event, led)
        else:
            self.verdict = self._empty(event, led.belief)

    def due(self) -> float | None:
        """Return the time by which something must have been seen in every explanation; None where nothing must be."""
        dues = [self._due(each) for each in self.belief.hypotheses]
        return max((due for due in dues if due is not None), default=None) if None not in dues else None

    def pending(self) -> float | None:
        """Return the time by which all answers have been seen that may be due in windows; None where there are none."""
        owed = (owed for each in self.belief.hypotheses for _, owing in each.owed for owed in owing)
        windows = [each.window for each in owed if each.window]
        return max((deadline(window, self.oracle.timing.latency) for window in windows), default=None)

    def end(self) -> Verdict:
        """Return the verdict of a run in which nothing more happens."""
        return self.verdict or (TRUNCATED if self.belief.unconstrained else PASS)

    def _advance(self, event: Event, led: Led) -> None:
        before, (belief, kept), oracle = self.belief, led, self.oracle
        self.belief = belief
        if isinstance(event, Sent):
            self._note_input(event, before)
        elif isinstance(event, (Seen, Closed)):
            self.step.outputs.append(event)
        elif isinstance(event, Quiet):
            self.step = Step(belief, [], [])
            self.done_by = min(self.done_by, event.at)
        # they are kept in their order, so that as many are the same
        if len(kept) != len(self._inputs):
            self._keep(kept)
        if not kept:
            # the last input was taken before what is seen now was emitted
            self.done_by = min(self.done_by, event.at + oracle.timing.busy)
        if len(belief.hypotheses) > oracle.limits.hypotheses:
            self._bounded(event)

    def _keep(self, kept: tuple[int, ...]) -> None:
        """Forget the inputs that do not matter any more."""
        if not kept:
            self._inputs, self._spans, self._ports = (), (), ()
            return
        self._inputs = tuple(self._inputs[number - 1] for number in kept)
        self._spans = tuple(self._spans[number - 1] for number in kept)
        self._ports = tuple(self._ports[number - 1] for number in kept)

    def _note_input(self, event: Sent, before: Belief) -> None:
        if before.settled:
            self.step = Step(before, [], [])
        self.step.inputs.append(event)
        self.sent += 1
        timing = self.oracle.timing
        # one after another: it is taken when it has arrived and those before it are dealt with
        self.taken_by = max(event.at + timing.latency, self.done_by)
        self.done_by = self.taken_by + timing.busy
        before_it = map(self._overtaken, self._spans, self._ports, repeat(event)) if self._inputs else ()
        self._spans = (*before_it, Span(event.at, self.done_by))
        self._inputs += (self.sent,)
        self._ports += (event.port,)

    def _overtaken(self, span: Span, port: str, event: Sent) -> Span:
        """Return when an input is dealt with before which another may be taken: one that comes on another port."""
        free = port == event.port or span.b < event.at
        return span if free else span._replace(b=span.b + self.oracle.timing.busy)

    def _bounded(self, event: Event) -> None:
        limits = self.oracle.limits
        bound = limits.hypotheses if isinstance(event, (Quiet, Taken)) else limits.most
        if len(self.belief.hypotheses) > bound:
            self.verdict = _too_many(bound)

    def _empty(self, event: Event, doubts: Belief) -> Verdict:
        if doubts.hypotheses:
            return Verdict("inconclusive", why=DOUBT)
        if self.slack and self._find(self._question(event)[1], self._clock(event, self.slack)).belief.sure:
            return Verdict(
                "inconclusive", why=f"an output may have been in time: the tester itself was {self.slack:.3f} s late"
            )
        return Verdict("fail", self._failure(event))

    def _failure(self, event: Event) -> Failure:
        return explain(self.oracle.model, self.step, event, At(self.events, self.sent), self._untimely(event))

    def _untimely(self, event: Event) -> Kind | None:
        """Return whether only the time of an output is wrong, and how."""
        if not isinstance(event, (Seen, Closed)):
            return None
        _, find = self._question(event)
        late, early = replace(self._clock(event), late=True), replace(self._clock(event), early=True)
        kinds: tuple[tuple[Kind, Clock], ...] = (("late", late), ("early", early))
        return next((kind for kind, clock in kinds if self._find(find, clock).belief.sure), None)

    def _due(self, each: Hypothesis) -> float | None:
        windows = [owed.window for _, owing in each.owed for owed in owing if owed.window]
        if each.since is not None and isinstance(each.spot, Place):
            windows.append(Window(each.since, 0.0, self.oracle.model.must(each.spot) or 0.0))
        return min((deadline(window, self.oracle.timing.latency) for window in windows), default=None)

    def _searched(self, event: Event, name: Hashable, find: _Finder) -> Led:
        clock = self._clock(event)
        led = self._find(find, clock)
        # what depends on the time of this event says nothing about the next one like it
        if not clock.used:
            self.oracle.beliefs.remember(self.belief, name, led)
        return led

    def _clock(self, event: Event, slack: float = 0.0) -> Clock:
        timing = self.oracle.timing
        return Clock(event.at, timing.latency + slack, timing.busy, self._spans)

    def _find(self, find: _Finder, clock: Clock) -> Led:
        search = Search(self.oracle.model, self.oracle.relation, self.oracle.limits, clock)
        found = self._found(search, find)
        free = frozenset(search.unspecified - search.specified)
        if free and self.oracle.relation == "any":
            # no possible state says what happens on these inputs: there is none to prefer to the others
            found = self._found(Search(search.model, search.relation, search.limits, clock, free), find)
        found, kept = counted(widest(found) if clock.used else found)
        return Led(Belief(tuple(found)) if clock.used else self.oracle.beliefs.of(found), kept)

    def _found(self, search: Search, find: _Finder) -> list[Hypothesis]:
        now = (later for each in self.belief.hypotheses for later in search.current(each))
        found = dict.fromkeys(then for each in now for then in find(search, each))
        # moves that were made now may have been due long ago
        return list(dict.fromkeys(later for each in found for later in search.current(each)))

    def _question(self, event: Event) -> tuple[Hashable, _Finder]:
        # asked twice a step: matching classes one after another took as long as all the rest of it
        model = self.oracle.model
        if isinstance(event, (Seen, Closed)):
            port, output = event.port, model.heard(event.output if isinstance(event, Seen) else Ended(event.reason))
            return ("seen", port, output), lambda search, each: search.seen(each, port, output, search.known)
        if isinstance(event, Sent):
            port, inp, number = event.port, model.symbol(event.input), len(self._inputs) + 1
            return ("sent", port, inp), lambda _search, each: iter([sent(each, port, inp, number)])
        if isinstance(event, Taken):
            number = bisect_right(self._inputs, event.upto)
            return ("taken", number), lambda search, each: search.taken(each, number)
        return "quiet", lambda search, each: search.quiet(each, search.known)


def _too_many(most: int) -> Verdict:
    why = (
        f"more than {most} explanations left; with fewer inputs in flight there are fewer (strict mode, smaller bursts)"
    )
    return Verdict("inconclusive", why=why)
