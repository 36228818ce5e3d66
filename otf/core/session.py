"""One run as a state machine: events go in, commands come out. It has no clock and does nothing on its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from otf.core.belief import Belief, Ledger, silent
from otf.core.burst import Burst
from otf.core.commands import Barrier, Chooser, GoesPast, Pings, Send, SessionCommand, Stop, Wait
from otf.core.deadlines import may_answer
from otf.core.failure import flooded
from otf.core.memory import Symbol
from otf.core.monitor import Monitor
from otf.core.nodes import UNCONSTRAINED, Node
from otf.core.oracle import Oracle
from otf.core.pacing import PATIENCE, Moment, Pacing, Pause, SentInput, Times, hindrance, idle, silence, starving
from otf.core.view import View
from otf.spec import Elapse
from otf.trace.events import Closed, Event, Guess, KnownBy, Quiet, Seen, Sent, Stalled, Taken
from otf.trace.verdict import Verdict

FLOOD: Final = 1 << 26  # bytes: a system that never stops may send few but large outputs


class Session:
    """A session drives one path of at most `steps` inputs: `chooser` chooses them, and `pacing` decides when to send.

    `times` lists the times of the path's events, in seconds. `late` lists the numbers of the outputs that came after
    quiescence. `moment` contains the facts by which the pacing decides whether to send or to wait. `over` is true if
    the path has ended.

    `flood` is the largest number of outputs in a row, with no input or quiescence between them; otf does not count
    outputs that the model requires. Beyond `flood` outputs or 64 MiB, the path ends with a verdict, because a system
    that never stops sending must not hold up otf forever. If there is a `barrier`, otf sends pings instead of waiting
    for quiescence. If `goes_past` returns true for a failure, the path continues from a guess of the state once the
    system is silent.

    >>> from otf.spec import Spec, goto
    >>> from otf.core import Model
    >>> from otf.core.pacing import Strict
    >>> from otf.strategy import Script
    >>> from otf.trace import Quiet, Seen, Sent
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit, "on" if not lit else "off")], False, ["press"])))
    >>> session = Session(oracle, Script(["press"]), Strict(oracle.timing), steps=1)
    >>> session.command().input.value
    'press'
    >>> session.tell(Sent("press", "sut", 0.0)), session.tell(Seen("on", "sut", 0.01)), session.tell(Quiet(0.2))
    (None, None, None)
    >>> session.command().verdict.outcome
    'pass'
    """

    def __init__(  # noqa: PLR0913 -- what a run needs, each once
        self,
        oracle: Oracle,
        chooser: Chooser,
        pacing: Pacing,
        *,
        steps: int,
        flood: int = 10_000,
        barrier: Barrier | None = None,
        goes_past: GoesPast | None = None,
    ) -> None:
        self.steps = steps
        self._goes_past = goes_past
        # after a failure: until when the system must be silent, so that the run may go past it
        self._silent_by: float | None = None
        self.flood = flood
        self.times: Times = Times()
        self.late: list[int] = []
        self.chooser: Chooser = chooser
        self.pacing: Pacing = pacing
        # whether silence was seen that would fail, and is awaited once more
        self.doubting: bool = False
        self._rested = 0.0
        self._outputs = self._bytes = 0
        self._pause = Pause(0.0)
        # when an input that only waits ends, 0 if there is none: nothing may be sent before
        self.elapses: float = 0.0
        # while pings prove quiescence, an output may be the answer to one
        self.pings: Pings | None = None if barrier is None else Pings(barrier)
        # the inputs to send right after the current one
        self.others: list[Send] = []
        self.over: bool = False
        # whether the path is over because no input is enabled: an output may lead to a state where one is
        self._starved = False
        # the states in which the run waited for that since the last input, each with the number of the event before
        self._starved_in: dict[frozenset[Node], int] = {}
        # the most inputs in flight together, none of them known to have been taken
        self.together: int = 0
        # spontaneous outputs may come at once: such a run first looks at what is there
        quiet = (barrier is not None and not barrier.pings) or not oracle.model.spontaneous(oracle.model.initial)
        self.moment: Moment = Moment(Monitor(oracle), self.times, quiet=quiet)

    @property
    def monitor(self) -> Monitor:
        """The monitor that judges the path; you may replace the monitor before the first event."""
        return self.moment.monitor

    @monitor.setter
    def monitor(self, monitor: Monitor) -> None:
        self.moment.monitor = monitor

    @property
    def verdict(self) -> Verdict | None:
        """Return the verdict on the path, if there is one already."""
        return self.monitor.end() if self.monitor.past else self.monitor.verdict

    @property
    def timed(self) -> bool:
        """Return whether the path now waits for a time window, for a timer, or for an `Elapse` to end."""
        return bool(self.elapses) or self.moment.quiet or self.monitor.pending() is not None

    @property
    def answering(self) -> bool:
        """Return whether the system may still answer an input that otf sent."""
        belief = self.moment.monitor.belief
        known = belief.silent
        return not belief.settled and not (silent(self.moment.monitor.oracle.model, belief) if known is None else known)

    def command(self) -> SessionCommand:
        """Return the next command of the session."""
        moment = self.moment
        monitor = moment.monitor
        if monitor.verdict is not None or monitor.belief.done:
            return self._past_failure() or Stop(self._verdict())
        if self.others:
            return self.others[0] if moment.next is None else Send(moment.next, moment.port or "")
        if self.elapses:
            pause: Pause | None = self._elapsing()
        else:
            # with too many explanations only one is known: what the model says is certain only once all is settled
            crowded = monitor.crowded and not moment.quiet
            if not crowded and self.pacing.ready(moment):
                self._choose()
            pause = silence(monitor.oracle.timing, moment) if crowded else self.pacing.pause(moment)
            if pause is None and moment.next is not None:
                first = Send(moment.next, moment.port or "")
                if isinstance(self.pacing, Burst):
                    most = self.steps - monitor.sent
                    self.others = self.pacing.others(self.chooser, monitor, first, self.times.event, most)
                return first
        if pause is None and self._starved and moment.quiet:
            pause = self._starving(monitor)
        if pause is None and self.over and moment.quiet:
            return Stop(self._verdict())
        self._pause = pause or Pause(self.times.event)
        # if nothing has happened since the last quiescence, this waits for a timer, which no answer to a ping ends
        probes = self.pings is not None and self._pause.means != "taken" and not moment.quiet
        ping = self.pings.next(monitor.belief.in_flight) if probes and self.pings is not None else None
        until = self._doubt_ends() if self.doubting else self._pause.until
        return ping or Wait(until, rest=not moment.quiet, restless=self._pause.means == "rested")

    def _starving(self, monitor: Monitor) -> Pause | None:
        """Return the wait for an output due where no input is enabled; None if it waited in this state before."""
        # a message that comes again and again must not keep a run alive in which nothing can be sent
        places, events = frozenset(map(monitor.oracle.model.place, monitor.states)), monitor.events - monitor.stalls
        if self._starved_in.setdefault(places, events) != events:
            return None
        return starving(monitor.oracle.timing, self.moment)

    def _past_failure(self) -> Wait | None:
        """Return the wait after which the run goes past its failure; None if it ends there."""
        times, timing = self.times, self.monitor.oracle.timing
        if self._goes_past is not None and self._silent_by is None:
            self._silent_by = 0.0
            verdict, last = self.monitor.verdict, self.moment.last
            failure = None if verdict is None else verdict.failure
            known = failure is not None and last is not None and self._goes_past(last.nodes, last.input, failure)
            if known and self.monitor.guess():
                self._silent_by = times.event + PATIENCE * max(timing.quiescence, timing.latency)
        if not self._silent_by or times.event > self._silent_by:
            return None
        if self.moment.quiet:
            return Wait(times.event)
        # whatever still comes belongs to the wrong answer
        silence = times.event + max(timing.quiescence, timing.latency)
        until = max(silence, times.input + timing.round_trip(max(1, self.moment.burst)))
        return Wait(until, self._pause.means != "rested")

    def _guess(self, at: float) -> Guess:
        """Go past the failure; return the event to record."""
        event, moment = Guess(at), self.moment
        self.monitor.tell(event)
        self.plan(None)
        self._silent_by, self.doubting, self.elapses = None, False, 0.0
        if self.pings is not None:
            self.pings.begun = False
        self._outputs = self._bytes = moment.burst = 0
        moment.quiet, moment.restless, self.times.event = True, False, at
        return event

    def tell(self, event: Event, size: int = 0) -> Verdict | None:
        """Judge an event with `size` bytes on the wire; return the verdict if the event decides the path, else None."""
        moment = self.moment
        monitor = moment.monitor
        if isinstance(event, (Stalled, Guess)):
            return monitor.tell(event)
        if isinstance(event, (Seen, Closed)):
            moment.unasked = self._count(event, size)
            self.over, self._starved = self.over and not self._starved, False
            moment.restless = moment.restless and moment.unasked
            moment.quiet = moment.quiet and moment.restless
        else:
            self._note(event)
        self.doubting = False
        if isinstance(event, Sent):
            self.together = max(self.together, monitor.ledger.unproven + 1)
        if monitor.tell(event) is None:
            if self._outputs > self.flood or self._bytes > FLOOD:
                monitor.verdict = self._flood()
            elif moment.next is not None and not self.view().allows(moment.next):
                # an output between the choice of an input and its sending may lead to a state in which it is disabled
                self.plan(None)
            if isinstance(event, Quiet):
                self.pacing.learn(moment)
                moment.burst = 0
        elif isinstance(event, Closed):
            self._goes_past = None  # the system has ended
        return monitor.verdict

    def pinged(self, port: str, at: float) -> None:
        """Take note that otf has sent a ping."""
        self.times.event = at
        if self.pings is not None:
            self.pings.sent(port)

    def pong(self, seen: Seen) -> bool:
        """Return whether an output is the answer to a ping, which otf does not judge."""
        return self.pings is not None and self.pings.answered(seen)

    def proven(self, at: float, seen: Seen | None = None) -> Quiet | None:
        """Judge and return quiescence if the system has answered all pings, or if the output `seen` ends an answer."""
        pings, over = self.pings, self.verdict is not None
        if pings is None or not (pings.done if seen is None else pings.ends(seen) and not over):
            return None
        event = Quiet(at, by="barrier")
        self.tell(event)
        return event

    def silence(self, at: float, by: KnownBy = "timed") -> Event | None:
        """Take note that the system was silent until the end of the last `Wait`; return the event to record, if any."""
        if self._silent_by:
            return self._guess(at)
        if self._pause.means == "taken":
            # outputs of these inputs might still be in flight, but this pause is used only after silent inputs
            taken = Taken(self.monitor.sent, at)
            self.tell(taken)
            return taken
        # a system that seemed to speak forever, and was seen to rest, has taken all inputs and sent all outputs
        event = Quiet(at, self._pause.means == "rested" and by != "observed", by=by)
        if not self.doubting and not self.moment.monitor.would(event):
            # a system that got no processor may have come to rest only now, long after the last event
            self.doubting, self._rested = True, at * (by == "observed")
            if self._doubt_ends() > at:
                return None
        self.tell(event)
        return event

    def skip(self, belief: Belief, ledger: Ledger, steps: int, events: int) -> None:
        """Take over a path after `steps` steps judged from a cache; `belief` and `ledger` are those after the steps."""
        monitor = self.monitor
        monitor.belief, monitor.ledger, monitor.events = belief, ledger, monitor.events + events
        self.moment.burst += steps

    def hindrance(self) -> str:
        """Return a text that explains why the session cannot send an input now."""
        if self.elapses:
            return f"an input that only waits lasts until {self.elapses:.3f} s of the run"
        return hindrance(self.moment)

    def _note(self, event: Sent | Quiet | Taken) -> None:
        """Note an event that is not an output."""
        moment = self.moment
        self.times.note(event)
        self._outputs = self._bytes = 0
        if self.pings is not None:
            self.pings.begun = False
        moment.quiet = isinstance(event, Quiet)
        moment.restless = isinstance(event, Quiet) and event.restless
        if isinstance(event, Sent):
            moment.burst += 1
            self._starved_in.clear()
            moment.last = SentInput(self.view().nodes, moment.monitor.oracle.model.symbol(event.input))
            if moment.next is None and self.others:
                del self.others[0]
            moment.next = moment.port = None
            if isinstance(event.input, Elapse):
                self.elapses = event.at + event.input.seconds / moment.monitor.oracle.timing.speed
        elif moment.quiet and event.at >= self.elapses:
            self.elapses = 0.0

    def _elapsing(self) -> Pause:
        """Return the pause for an input that only waits: to its end, and at least until quiescence."""
        # the quiescence at its end also decides on outputs that timers owed by then
        pause = None if self.moment.quiet else self.pacing.pause(self.moment)
        if pause is None:
            return Pause(self.elapses, window=self.monitor.oracle.timing.quiescence)
        return Pause(max(pause.until, self.elapses), pause.means, pause.window)

    def _choose(self) -> None:
        if self.moment.next is None and not self.over:
            if self.moment.monitor.ledger.sent < self.steps:
                view, pacing = self.view(), self.pacing
                first = isinstance(pacing, Burst) and pacing.held(view)
                first = first or (view.model.timed and idle(pacing, self.moment, self.chooser))
                self.moment.next = chosen = first or self.chooser.choose(view)
                self.moment.port = None if chosen is None else view.model.port(chosen)
                self._starved = chosen is None and not view.specified
            self.over = self.moment.next is None

    def plan(self, chosen: Symbol | None) -> None:
        """Set the next input of the path; `None` means that the next input is not known yet."""
        if self.others and isinstance(self.pacing, Burst):
            self.pacing.hold([each.input for each in self.others])
            self.others = []
        self.moment.next = chosen
        self.moment.port = None if chosen is None else self.moment.monitor.oracle.model.port(chosen)

    def view(self) -> View:
        """Return the view from which the chooser chooses the next input."""
        monitor = self.moment.monitor
        return monitor.belief.view or monitor.oracle.view(monitor.belief)

    def _doubt_ends(self) -> float:
        """Return until when a silence that would fail must last."""
        return max(self._pause.until, self._rested) + (PATIENCE - 1) * self._pause.window

    def _count(self, event: Seen | Closed, size: int) -> bool:
        """Note the time of an output, and count it for the flood; return whether it can only be spontaneous."""
        monitor = self.moment.monitor
        belief = monitor.belief
        spontaneous = not may_answer(monitor.oracle.model, belief, event.port)
        self.times.note(event, obliged=belief.ticking or spontaneous)
        # outstanding outputs are not a flood, however many: a long answer ends some time
        if not belief.expecting:
            self._outputs += 1
            self._bytes += size
        if self.doubting:
            self.late.append(monitor.events + 1)
        return spontaneous

    def _flood(self) -> Verdict:
        monitor = self.moment.monitor
        most = f"{self.flood}" if self._outputs > self.flood else f"{FLOOD} bytes of"
        open_to = any(each.position is UNCONSTRAINED for each in monitor.belief.hypotheses)
        return flooded(monitor.step, most, monitor.events, monitor.sent, leaves_open=open_to)

    def _verdict(self) -> Verdict:
        return replace(self.monitor.end(), late=tuple(self.late))
