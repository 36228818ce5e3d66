"""Waits on the wire, and works out what the tester's own lateness means for times and for silence."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from resource import RUSAGE_THREAD, getrusage
from time import monotonic
from typing import Final

from anyio.lowlevel import checkpoint

from otf.adapter import Bench, Frame
from otf.adapter.line import NEVER
from otf.adapter.observed_rest.place import Placed
from otf.core import Session, Wait
from otf.core.pacing import PATIENCE, Strict
from otf.core.stalls import NOISE, STALL, CpuUse, Stalls
from otf.core.timing import Learnt
from otf.runner.cpu_use import cpu_use, in_real_time, own_use
from otf.runner.observing import Observer
from otf.runner.time_spent import spent
from otf.runner.waiting import FIRST, TURN, SpinWait
from otf.runner.wire import Arrived, Wire
from otf.strategy.pool import PlanPatience
from otf.trace.events import Event
from otf.trace.record import DIGITS

GLANCES: Final = 4  # during the time that a rest has to last
PONG: Final = 0.002  # seconds: a ping not answered by then may never be, which a rest shows
SAMPLED: Final = 0.1  # seconds after which the machine is read again, even if nothing comes
TURN_OF_WAIT: Final = 0.01  # the shortest turn of a wait in which times matter, in seconds
TRICKLE: Final = 30.0  # seconds after which a frame that still comes byte by byte is assumed to be endless


class Lookout:
    """Waits on the wire of one run; `looked` is the time of the last look, `floor` the earliest time of an event.

    `observed`: the last silence was a rest that the `observer` saw, not a time in which nothing came.

    Updates the monitor's `slack`: an arrival may be this many seconds older than its time.
    """

    def __init__(
        self, session: Session, wire: Wire, observer: Observer | None = None, started: Collection[int] | None = None
    ) -> None:
        self.observed: bool = False
        self.looked: float = wire.now
        self.floor: float = 0.0
        self._session = session
        self.wire = wire
        self._observer = observer
        self._timing = session.monitor.oracle.timing
        self._model = session.monitor.oracle.model  # `timed` as soon as a timed state is known
        self._stamping = False
        self._slack = 0.0
        self._spent = spent()
        self.stalls: Stalls = Stalls()
        self._late = 0.0
        self._used, self._switches = own_use(), -1
        self._turn = max(self._timing.latency / 2, TURN_OF_WAIT)
        # when all ports were certainly empty: whatever is found next has come since
        self._empty = wire.now
        self._real = in_real_time()
        # with a rest between all inputs, what comes is not from a thread that the last rest trusted
        self._strict = isinstance(session.pacing, Strict)
        self._started = started
        # threads of this process are known as exactly as a process: a busy machine alone is no excuse
        self._threads = all(isinstance(line, Placed) and line.place().threads for line in wire.lines.values())
        if self._model.timed:
            # what came before the first look may be as old as the run, or older: a hook ran with the ports open
            wire.poll()
            self.looked, self._empty = wire.now, wire.polled
            self._slack = wire.now + wire.unheard
        self.stalls.begin(self.looked, self._cpu_use(), timed=self._model.timed)

    async def begin(self) -> None:
        """Let the system take its connections, for at most the quiescence time.

        A server on a busy machine may read the first input before it has accepted the other clients, whom it then
        cannot tell of it.
        """
        until, observer = self.wire.now + self._timing.quiescence, self._observer
        if observer is not None and len(self.wire.lines) > 1:
            while not (observer.asleep() or self.wire.waiting or self.wire.over(until)):
                await self.look(min(until, self.wire.now + FIRST))

    async def turn(self) -> None:
        """Give the event loop its turn: many inputs may be sent without a wait, and interruptions must get through."""
        await checkpoint()
        self.wire.turned()
        self.wire.poll()
        self._glimpse()

    async def silent(self, wait: Wait) -> float | None:
        """Wait for an arrival, the end of the wait, or a rest of the system; return when there was silence, or None."""
        until = wait.until
        if self._observer is not None and wait.rest and not self._observer.why:
            # a look at all threads takes longer than most answers, and decides nothing before they come
            pings = self._session.pings
            soon = PONG if pings is not None and pings.begun else FIRST if self._session.answering else 0.0
            if soon:
                await self.look(min(until, self.wire.now + soon))
                if self.wire.waiting:
                    return None
            await self._rest(self._observer, wait)
            if self.wire.waiting:
                return None
            if self.observed:
                return self.wire.polled
        self.observed = False
        return await self._timed(until)

    async def _timed(self, asked: float) -> float | None:
        wire, until = self.wire, self.stalls.until(asked)
        await self._wait_with_glances(until)
        if wire.waiting or not wire.over(until):
            return None
        silent = self._silent_by(until)
        if not wire.over(silent):
            await self.look(silent)
            return None
        # The last look before silence is believed: the loop may have been late, and the output in time. Before that
        # look, since the system may have run only now:
        began, timing = self._session.times.event, self._timing
        if self._session.elapses:
            # only what is lost near its end can hold an output back beyond it
            began = max(began, asked - max(timing.quiescence, timing.latency))
        lost = self.stalls.lost(asked, began, self._late, wire.now, self._cpu_use())
        wire.poll()
        if wire.waiting:
            self._glimpse()
        if lost or wire.waiting or not wire.over(self._silent_by(until)):
            return None
        return max(until, wire.polled)

    async def _wait_with_glances(self, until: float) -> None:
        """Wait for an arrival, or until that time; glance at an observed system while one of its timers is awaited."""
        wire, observer = self.wire, self._observer
        if observer is not None and not observer.why and self._session.moment.quiet:
            often = max(self._timing.quiescence, 2 * self._timing.latency) / GLANCES
            observer.glance()
            while not wire.waiting and not wire.over(until - often):
                await self.look(wire.now + often)
                observer.glance()
        if not wire.waiting:
            await self.look(until)

    async def _rest(self, observer: Observer, wait: Wait) -> None:
        """Look until something has arrived or the system rests; longer after a path's last input, as for a failure.

        Timed silence takes as long as the quiescence time, so the next steps still see outputs that come later. Rests
        are so quick that such outputs would come after the end of the path.
        """
        wire, session, timing, until = self.wire, self._session, self._timing, wait.until
        wanted = until - min(session.times.event, wire.now)
        if wait.restless:
            # what is spontaneous prolongs no such wait, but a rest begins after it
            wanted = max(wanted, timing.quiescence, timing.latency)
        careful = session.doubting or session.over
        last = session.moment.last.input if self._strict and session.moment.last is not None else None
        rest, often = wanted, PATIENCE if session.over else 1
        if isinstance(timing, Learnt) and not (session.doubting or session.elapses):
            rest = timing.rest(wanted, session.moment.unproven)
        observer.wait(until, often * wanted, rest=often * rest, since=session.times.input, careful=careful, last=last)
        self.observed = False
        while not wire.waiting and not observer.why and not self.observed:
            if wait.restless and wire.over(until):
                return
            if observer.look():
                # a frame that has begun means that the line is not at rest
                self.observed = wire.stirred == NEVER or await self._is_stuck()
            elif wire.now - self.looked > TURN:
                # the event loop needs its turn
                await self.turn()
            elif not wire.waiting:
                # once something has arrived no rest is needed: in eager mode this may be all that the run waits for
                await self.look(wire.now + observer.pause)
        if self.observed or wire.waiting:
            self._glimpse()

    async def _is_stuck(self) -> bool:
        """Return whether the frame that has begun has not gone on for too long; if not, wait for that time."""
        silent = self._silent_by(self.wire.now)
        if not self.wire.over(silent):
            await self.look(silent)
            return False
        self.wire.poll()  # silence may have ended the frame since the look
        return not self.wire.waiting

    def heard(self, *, answer: bool) -> None:
        """Note an arrival; `answer`: the model demanded it, so it may answer the last input."""
        if self._observer is not None:
            session, since = self._session, self._session.times.input
            if answer and not self._observer.why:
                late = session.late[-1:] == [session.monitor.events]
                self._timing.slept(self.wire.now - since if late else self._observer.slept())
            if not (session.moment.unasked and session.monitor.verdict is None):
                self._observer.heard(since, answer=answer)

    def _cpu_use(self) -> CpuUse:
        return cpu_use(self._started, shared=SpinWait.open > 1, threads=self._threads) if self._real else CpuUse()

    def stalled(self) -> float:
        """Return the longest stall of the run so far; 0 if rests were observed, since no stall makes these wrong."""
        if self._observer is not None and not self._observer.why and not self._model.timed:
            return 0.0
        self.stalls.read(self.wire.now, self._cpu_use(), self._session.times.input)
        return self.stalls.longest

    def sample(self) -> None:
        """Read what the machine has done by now, if the model has windows."""
        if self._model.timed:
            self.stalls.sample(self.wire.now, self._cpu_use())

    async def look(self, until: float) -> None:
        """Wait for an arrival, or until that time; if times matter, in short turns.

        Nothing tells a tester that it was stopped in a wait (Ctrl-Z, a suspended machine, a frozen container). When it
        wakes up, whatever came meanwhile looks punctual, unless the wait should have ended earlier.
        """
        turns = self._real and self._model.timed
        while turns and (by := self.wire.now + self._turn) < until:
            await self._look(by)
            if self.wire.waiting:
                return
        await self._look(until)

    async def _look(self, until: float) -> None:
        wire, began = self.wire, self.wire.now
        if wire.waiting:
            return
        if self._model.timed:
            # what is there may have come since the last look, and what comes during the wait is new
            wire.poll()
            if wire.waiting:
                self._glimpse(held=False)
                return
            self._empty = wire.polled
        try:
            if not wire.spun(until):
                await wire.sleep(until)
        finally:
            self._looked(began, until)

    def _looked(self, began: float, until: float) -> None:
        """Note a wait for arrivals that was to last until that time."""
        wire, busy = self.wire, began - self.looked
        self.looked = now = wire.now
        self._spent.waited(now - began, silent=not wire.waiting, timed=self._model.timed and self._session.timed)
        # between two looks, and when it wakes up too late, the tester does not see arrivals
        late = self._late = now - max(began, until)
        empty, self._empty = self._empty, now - max(0.0, late)
        self._slack = self.allow(max(began - empty, late))
        if late >= STALL:
            self.stalls.note(late)
        if self._model.timed:
            if not self._stamping:
                self._stamping = True
                wire.stamp()
            stopped, lost, awake = self._unaccounted(busy + max(0.0, late))
            if wire.waiting:
                # It may have lost its processor after it was woken, and more has come since. The kernel of the system
                # may hold back more until the read, as TCP does for want of an acknowledgement.
                self._slack = self.allow(max(late, min(now - empty, awake)))
                wire.poll()
                self._empty = wire.polled
            soon = busy < NOISE and now - self.stalls.sampled < SAMPLED
            if soon and lost is not None and not stopped and not wire.waiting:
                self.stalls.forgive(lost, blocking=self._threads)
            elif stopped or now - began > NOISE:
                self.stalls.sample(now, self._cpu_use(), busy if busy > NOISE else 0.0, stopped)

    def _glimpse(self, *, held: bool = True) -> None:
        """Note a look that waited for nothing; what it found may have come at any time since the last look.

        `held`: it may have been found by an earlier look and left untaken; another look does not make it newer.
        """
        before, self.looked = self.looked, self.wire.now
        if not self._model.timed:
            return
        self._slack = self.allow(max(self.looked - self._empty, self._slack * (held and self.wire.waiting)))
        # the tester may have lost its processor since it looked
        self._empty = max(self._empty, self.wire.polled)
        if stopped := self._unaccounted(self.looked - before)[0]:
            self.stalls.sample(self.looked, self._cpu_use(), stopped=stopped)

    def _unaccounted(self, passed: float) -> tuple[float, float | None, float]:
        """Return how long the tester was stopped since the last look, what it lost on waking up, and its time awake.

        The tester was stopped for the part of the `passed` seconds in which, by the kernel's accounts, it neither ran
        nor waited for a processor. On waking up, other threads of the process may hold Python's lock. If the tester's
        own thread lost its processor, it kept the lock, and the second value is None.
        """
        use, switches = own_use(), getrusage(RUSAGE_THREAD).ru_nivcsw
        (ran, waited), before = (new - old for new, old in zip(use, self._used, strict=True)), self._switches
        self._used, self._switches = use, switches
        stopped = passed - ran - waited if self._real else 0.0
        # if the tester was stopped during a turn, the system may have been stopped from the beginning of the turn
        stopped = stopped + self._turn if stopped > self._turn else 0.0
        lost = waited + ran * (self._threads or SpinWait.open > 1)
        return stopped, lost if self._real and switches == before else None, (ran + waited) * self._real

    def _silent_by(self, until: float) -> float:
        """Return how long to wait: longer while a frame is coming, since its bytes are not silence."""
        stirred, timing = self.wire.stirred, self._timing
        # a frame that trickles in forever has no end, and the outstanding output counts as missing
        return max(until, min(stirred + max(timing.quiescence, timing.latency), until + TRICKLE))

    def allow(self, slack: float) -> float:
        """Set by how much the tester may have seen the next event late, rounded as in its trace; return that."""
        self._session.monitor.slack = slack = round(slack, DIGITS)
        return slack

    def taken(self, arrived: Arrived) -> None:
        """Set the slack for an arrival; one with a stamp needs none for a late tester."""
        if arrived.stamped:
            self.allow(max(arrived.at - self._since(arrived), 0.0))
            return
        # the event loop also reads between two looks: what it found then may have come since all was empty
        self.allow(max(self._slack, arrived.at - arrived.took - self._empty) + arrived.took)

    def _since(self, arrived: Arrived) -> float:
        """Return the earliest moment at which a stamped arrival may have come."""
        doubt = arrived.what.doubt if isinstance(arrived.what, Frame) else 0.0
        looked = min(arrived.looked - arrived.took - self._slack, self._empty)
        return max(arrived.at - doubt, looked) if doubt else arrived.at

    def between(self, event: Event, arrived: Arrived) -> Event:
        """Return a stamped event at the time of the look, with a slack back to its stamp.

        The stamp may come from another clock. The event came between the two, and only both ends can blame the system.
        """
        at = max(event.at, arrived.looked)
        self.allow(max(at - self._since(arrived), 0.0))
        self.floor = arrived.looked
        return replace(event, at=at)


def patience(bench: Bench) -> PlanPatience:
    """Return the patience with the bench's system: half of its pause (work may end later), no end in virtual time."""
    real: bool | None = None  # known once a path runs

    def waits() -> Callable[[], bool]:
        nonlocal real
        real = in_real_time() if real is None else real
        until = monotonic() + bench.pause / 2
        # planning takes no virtual time, and a slow machine must not change the path
        return (lambda: monotonic() >= until) if real else bool

    return waits
