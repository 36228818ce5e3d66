"""Stalls: times in which the tester or the system could not run. They are no silence, and no system is blamed for them.

The machine is read elsewhere; what follows from it is decided here. Times are seconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, NamedTuple

from otf.core.monitor import Monitor, Oracle
from otf.core.pacing import PATIENCE
from otf.core.timing import Timing
from otf.trace.events import Event
from otf.trace.verdict import FailureKind, Verdict

NOISE: Final = 0.001
"""Lost time that does not matter: waking a process on an idle machine takes less."""

STALL: Final = 0.002
"""Time lost at once that is recorded: it is as long as L and R of most benches, which it may break."""

STEP: Final = 0.01
"""Time until the next look at a process that is ready to run: the kernel counts its time every few milliseconds."""

KEPT: Final = 1_000

CERTAIN: Final = frozenset[FailureKind]({"ended", "undecodable", "flood"})
"""Failures that no stall explains."""


class CpuUse(NamedTuple):
    """What the processes of the system have done so far, summed up.

    `waited`: the seconds in which they could have run and got no processor. `ran`: those in which they ran. `ready`:
    one of them could run now. `known`: the processes are those of the system; if not, `waited` is that of the machine.
    `own`: the seconds in which the tester could have run as well. `turns`: how often the processes got a processor.
    """

    waited: float = 0.0
    ran: float = 0.0
    ready: bool = False
    known: bool = False
    own: float = 0.0
    turns: int = 0


class Stall(NamedTuple):
    """Time that was lost at once; it was over at `at`."""

    at: float
    seconds: float


@dataclass(slots=True)
class Stalls:
    """The stalls of one run, and the end of the present wait, which lost time prolongs; `longest` is in seconds."""

    longest: float = 0.0
    _stalls: deque[Stall] = field(default_factory=lambda: deque[Stall](maxlen=KEPT))
    _use: CpuUse = field(default_factory=CpuUse)
    _looked: float = 0.0  # when `_use` was read
    _asked: float = -1.0
    _until: float = 0.0
    _lost: deque[Stall] = field(default_factory=lambda: deque[Stall](maxlen=KEPT))
    _sample: CpuUse = field(default_factory=CpuUse)
    _sampled: float = 0.0  # when `_sample` was read

    def until(self, asked: float) -> float:
        """Return the end of a wait that is to last until the time `asked`: later if time was lost in it."""
        return self._until if asked == self._asked else asked

    def note(self, at: float, seconds: float) -> None:
        """Note time that was lost at once, by the tester or the system."""
        if seconds >= STALL:
            self._stalls.append(Stall(at, seconds))
            self.longest = max(self.longest, seconds)

    def read(self, now: float, use: CpuUse, since: float) -> float:
        """Take what the system has done by now; return the time that it lost since the last reading and `since`."""
        span = now - max(since, self._looked)
        waited, ran = use.waited - self._use.waited, use.ran - self._use.ran
        # the time of a process that waits is counted only when it gets a processor; one that computes has got one
        stuck = use.ready and ran < span / 2
        lost = max(0.0, min(waited, now - since), STEP if stuck else 0.0)
        self._use, self._looked = use, now
        self.note(now, lost)
        return lost

    def lost(self, asked: float, began: float, late: float, now: float, use: CpuUse) -> bool:
        """Return whether a wait goes on, to `until(asked)`, since time was lost in it.

        It began at `began`, and the tester woke up `late`. If the system is known, only its own time counts. A machine
        that is busy for ever must not keep a tester: a wait becomes at most eleven times as long, and twice as long if
        only the machine is known.
        """
        more = asked == self._asked
        lost = self.read(now, use, self._looked if more else began)
        if not use.known:
            lost = max(lost, late if late >= STALL else 0.0)
        if lost < NOISE:
            return False
        most = asked + (PATIENCE if use.known else 1) * (asked - began)
        self._asked, self._until = asked, min(now + lost, most)
        return self._until > now

    def since(self, moment: float) -> float:
        """Return how much time was lost since a moment."""
        return sum(min(each.seconds, each.at - moment) for each in self._stalls if each.at > moment)

    def sample(self, now: float, use: CpuUse, busy: float = 0.0) -> None:
        """Take what the system and the tester have done by now, from which `delay` follows.

        `busy`: for so many seconds the tester had not looked before its last wait.
        """
        span, before = now - self._sampled, self._sample
        # the time of a process that waits is counted only when it gets a processor, that of one that runs not at once
        stuck = use.ready and use.turns == before.turns
        for seconds in (span if stuck else use.waited - before.waited, use.own - before.own + busy):
            if seconds > 0:
                self._lost.append(Stall(now, min(seconds, span)))
        self._sample, self._sampled = use, now

    def delay(self, bound: float) -> float:
        """Return by how many seconds more than `bound` a message or a timer may have been delayed in this run.

        No more than the bound of a delay was not lost. So this goes back from each loss to those before it, as long as
        the time between them is within the bound.
        """
        latest = [*reversed(self._lost)]
        return max((_chained(islice(latest, at, None), bound) for at in range(len(latest))), default=0.0)


def _chained(latest: Iterable[Stall], bound: float) -> float:
    lost, free, begin = 0.0, 0.0, float("inf")
    for at, seconds in latest:
        end = min(at, begin)
        free += begin - end if begin < float("inf") else 0.0
        if free > bound:
            break
        lost += max(0.0, end - (at - seconds))
        begin = min(end, at - seconds)
    return lost


def unless_delayed(verdict: Verdict, oracle: Oracle, events: Iterable[Event]) -> Verdict:
    """Return the verdict of a run; inconclusive if it fails, and would not with L and R longer by its `delay`.

    A delay does more than make one output late: the output came later than the tester believes, and so what follows
    looks early, or an input looks taken.
    """
    failure, more = verdict.failure, verdict.delay
    if failure is None or more < NOISE or failure.kind in CERTAIN:
        return verdict
    timing = oracle.timing
    longer = Timing(timing.quiescence, timing.latency + more, timing.busy + more)
    monitor = Monitor(replace(oracle, timing=longer))
    for event in events:
        if (found := monitor.tell(event)) is not None:
            if found.failed:
                return verdict
            break
    why = (
        f"the machine delayed the tester or the system by up to {more:.3f} s, and with L and R longer by that the run "
        f"would conform; seen: {failure.seen} ({failure.kind})"
    )
    return replace(verdict, outcome="inconclusive", failure=None, why=why)
