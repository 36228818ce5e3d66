"""One run as a state machine: events go in, commands come out. It knows no clock and does nothing by itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from otf.core.barrier import Barrier, Round
from otf.core.belief import Belief
from otf.core.failure import flooded
from otf.core.ledger import Ledger
from otf.core.memory import Symbol
from otf.core.monitor import DOUBT, Monitor, Oracle
from otf.core.nodes import UNCONSTRAINED
from otf.core.pacing import PATIENCE, Moment, Pacing, Pause, SentInput, Times
from otf.core.view import View
from otf.trace.events import Closed, Event, Quiet, Seen, Sent, Taken
from otf.trace.verdict import Verdict
from otf.values.light import light

FLOOD: Final = 1 << 26  # bytes: a system that never stops may do so in few and large outputs


@light
class Send:
    """Send this input now."""

    input: Symbol


@dataclass(frozen=True, slots=True)
class Ping:
    """Send this input of a barrier now, and tell that with `pinged`; its answer is for `pong`, and nobody judges it."""

    port: str
    input: object


@light
class Wait:
    """Wait for an output until this time (seconds since the start of the run); then call `silence`."""

    until: float


@dataclass(frozen=True, slots=True)
class Stop:
    """The run is over."""

    verdict: Verdict


SessionCommand: TypeAlias = Send | Ping | Wait | Stop


class Chooser(Protocol):
    """Chooses inputs: a strategy, or a script."""

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, or None where the path is to end."""
        ...


class Session:
    """The conduct of one run of at most `steps` inputs.

    More than `flood` outputs, or 64 MiB of them, without an input or quiescence between them, those aside that the
    model demands, are a verdict of their own: a system that never stops must not keep a tester for ever. With a
    `barrier`, quiescence is asked for instead of waited for.
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
    ) -> None:
        self.steps = steps
        self.flood = flood
        self.times: Times = Times()
        self.late: list[int] = []
        self.chooser: Chooser = chooser
        self.pacing: Pacing = pacing
        self._patient = False
        self._outputs = self._bytes = 0
        self._pause = Pause(0.0)
        self._barrier = barrier
        self._round: Round | None = None
        # pings that an input overtook are answered all the same
        self._unanswered = Counter[str]()
        self.over: bool = False
        # what may come unasked may come at once: such a run begins with a look at what is there
        self.moment: Moment = Moment(
            Monitor(oracle), self.times, quiet=not oracle.model.spontaneous(oracle.model.initial)
        )

    @property
    def monitor(self) -> Monitor:
        """The judge of the run; before anything is told, another may be put in its place."""
        return self.moment.monitor

    @monitor.setter
    def monitor(self, monitor: Monitor) -> None:
        self.moment.monitor = monitor

    @property
    def probing(self) -> bool:
        """Tell whether quiescence is asked for, so that an output may be the answer to a ping."""
        return self._barrier is not None

    @property
    def verdict(self) -> Verdict | None:
        """Return the verdict, if there is one already."""
        return self.monitor.verdict

    def command(self) -> SessionCommand:
        """Return what is to be done now."""
        moment = self.moment
        monitor = moment.monitor
        if monitor.verdict is not None or monitor.belief.done:
            return Stop(self._verdict())
        if self.pacing.ready(moment):
            self._choose()
        pause = self.pacing.pause(moment)
        if pause is None and moment.next is not None:
            return Send(moment.next)
        if pause is None and self.over and moment.quiet:
            return Stop(self._verdict())
        self._pause = pause or Pause(self.times.event)
        return self._probe() or Wait(self._deadline())

    def tell(self, event: Event, size: int = 0) -> Verdict | None:
        """Judge an event, of so many bytes on the wire; return the verdict if it is decided now."""
        kind = event.__class__
        if kind is Seen or kind is Closed:
            belief = self.moment.monitor.belief
            self.times.note(event, obliged=belief.ticking)
            self._count(belief, size)
        else:
            self.times.note(event)
            self._outputs, self._bytes, self._round = 0, 0, None
        if isinstance(event, Sent):
            self._note(event)
        moment = self.moment
        self._patient, moment.quiet, monitor = False, kind is Quiet, moment.monitor
        if monitor.tell(event) is None:
            if self._outputs > self.flood:
                monitor.verdict = _flood(monitor, f"more than {self.flood} outputs without a pause")
            elif self._bytes > FLOOD:
                monitor.verdict = _flood(monitor, f"more than {FLOOD} bytes of outputs without a pause")
            elif moment.next is not None:
                self._look()
            if kind is Quiet:
                self._settle()
        return monitor.verdict

    def pinged(self, port: str, at: float) -> None:
        """Take that the input of a `Ping` was sent."""
        self.times.event = at
        self._unanswered[port] += 1
        if self._round is not None:
            self._round.sent(port)

    def pong(self, seen: Seen) -> bool:
        """Tell whether an output is the answer to a ping: such a one is not told as an event."""
        if self._barrier is None or not self._unanswered[seen.port] or not self._barrier.pong(seen.port, seen.output):
            return False
        self._unanswered[seen.port] -= 1
        if self._round is not None and not self._unanswered[seen.port]:
            self._round.answered(seen.port)
        return True

    def proven(self, at: float) -> Quiet | None:
        """Return quiescence, judged already, if the answers to all pings have proven it; it is to be recorded."""
        if self._round is None or not self._round.done:
            return None
        event = Quiet(at)
        self.tell(event)
        return event

    def silence(self, at: float) -> Event | None:
        """Take that nothing came until the time that `Wait` named; return the event to record if it is believed."""
        if self._pause.means == "taken":
            # what these inputs bring may still be on its way, but where this pause is taken they bring nothing
            taken = Taken(self.monitor.sent, at)
            self.tell(taken)
            return taken
        event = Quiet(at, self._pause.means == "rested")
        if not self._patient and not self.monitor.would(event):
            self._patient = True
            if self._deadline() > at:
                return None
        self.tell(event)
        return event

    def skip(self, belief: Belief, ledger: Ledger, steps: int, events: int) -> None:
        """Go on where so many steps and events led, each as it would have been commanded: to a belief and a ledger."""
        monitor = self.monitor
        monitor.belief, monitor.ledger = belief, ledger
        monitor.events += events
        self.moment.burst += steps

    def _look(self) -> None:
        # an output may come between the choice of an input and its sending, and lead to where the input is senseless
        if self.moment.next is not None and not self.view().allows(self.moment.next):
            self.plan(None)

    def _probe(self) -> Ping | None:
        """Return the next ping of a barrier, None where there is none or answers are to be waited for."""
        # where nothing has happened since the last quiescence it is a timer that is waited for: no answer ends that
        if self._barrier is None or self._pause.means != "quiet" or self.moment.quiet:
            return None
        if self._round is None:
            self._round = Round(self._barrier, tuple(sorted(self.monitor.belief.in_flight)))
        port = self._round.next()
        return None if port is None else Ping(port, self._barrier.pings[port])

    def _note(self, event: Sent) -> None:
        moment = self.moment
        moment.burst += 1
        moment.last = SentInput(self.view().nodes, self.monitor.oracle.model.symbol(event.input))
        moment.next = moment.port = None

    def _settle(self) -> None:
        self.pacing.settled(self.moment)
        self.moment.burst = 0

    def _choose(self) -> None:
        if self.moment.next is None and not self.over:
            if self.monitor.sent < self.steps:
                self.plan(self.chooser.choose(self.view()))
            self.over = self.moment.next is None

    def plan(self, chosen: Symbol | None) -> None:
        """Take what is to be sent next, None for nothing yet."""
        self.moment.next = chosen
        self.moment.port = None if chosen is None else self.monitor.oracle.model.routes.into(chosen.value)

    def view(self) -> View:
        """Return what may be offered now."""
        monitor = self.monitor
        return monitor.belief.view or monitor.oracle.view(monitor.belief)

    def _deadline(self) -> float:
        return self._pause.until + (PATIENCE - 1) * self._pause.window if self._patient else self._pause.until

    def _count(self, belief: Belief, size: int) -> None:
        # what is owed is no flood, however much it is: a long answer comes to its end
        if not belief.expecting:
            self._outputs += 1
            self._bytes += size
        if self._patient:
            self.late.append(self.monitor.events + 1)

    def _verdict(self) -> Verdict:
        verdict = self.monitor.end()
        return Verdict(verdict.outcome, verdict.failure, verdict.why, verdict.truncated, tuple(self.late))


def _flood(monitor: Monitor, seen: str) -> Verdict:
    hypotheses = monitor.belief.hypotheses
    if any(each.position is UNCONSTRAINED for each in hypotheses):
        return Verdict("inconclusive", why=f"{seen}, and the model may say nothing of them")
    if any(each.beyond for each in hypotheses):
        # there were pauses, it may be: a doubt does not let silence be believed
        return Verdict("inconclusive", why=f"{seen} that can be believed: {DOUBT}")
    return Verdict("fail", flooded(monitor.step, seen, monitor.events, monitor.sent))
