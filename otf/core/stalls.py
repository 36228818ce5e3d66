"""Stalls: times when the tester or the system could not run. They do not count as silence, and blame no system.

Another module measures the machine; this one decides what the measurements mean. Times are in seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final, NamedTuple

from otf.core.missed_times import LONG
from otf.core.pacing import PATIENCE
from otf.trace.events import Event, Seen, Sent, Stalled
from otf.trace.verdict import FailureKind, Verdict

NOISE: Final = 0.001
"""Lost time that does not matter: waking a process on an idle machine takes less."""

STALL: Final = 0.002
"""The shortest loss that is recorded: as long as L and R of most benches, which it may break."""

SOON: Final = 0.05
"""Seconds within which short losses are added up."""

STEP: Final = 0.01
"""Time until the next look at a process that is ready to run: the kernel updates its time every few milliseconds."""

CERTAIN: Final = frozenset[FailureKind]({"ended", "undecodable", "flood"})
"""Failures that no stall explains."""


UNTIMELY: Final = frozenset[FailureKind]({"late", "early", "missing"})

NEAR: Final = 5.0
"""Seconds: how busy a machine is changes slowly."""

MANY: Final = 1_000
"""Events after which a run has confirmed the stated times of a bench, however fast it was."""


class ThreadUse(NamedTuple):
    """What a thread has done so far: seconds for which it ran and waited, and how often it got a processor."""

    name: str
    ran: float
    waited: float
    got: int


class CpuUse(NamedTuple):
    """What all processes of the system have done so far, in total.

    `waited`: seconds for which they were ready but got no processor. `ran`: seconds for which they ran. `ready`: one of
    them is ready to run now. If `known`, `waited` counts the system's own processes; otherwise it covers the whole
    machine. `own`: the seconds for which the tester waited for a processor. `threads`: each thread, with how long it
    ran, how long it waited, and how often it got a processor; `stuck`: those that are ready to run.
    """

    waited: float = 0.0
    ran: float = 0.0
    ready: bool = False
    known: bool = False
    own: float = 0.0
    threads: frozenset[ThreadUse] = frozenset()
    stuck: frozenset[ThreadUse] = frozenset()

    def waited_since(self, before: CpuUse) -> float:
        """Return for how many seconds these have waited since an earlier reading, whatever has ended in between."""
        there = {thread.name for thread in self.threads}
        ended = sum(thread.waited for thread in before.threads if thread.name not in there)
        return self.waited - before.waited + ended


@dataclass(slots=True)
class Stalls:
    """The stalls of one run, and the end of the current wait, which is extended by lost time. `longest` is in seconds.

    `fresh` holds the stalls not yet passed to the monitor; `sampled` is when the machine was last read for them.
    """

    longest: float = 0.0
    _use: CpuUse = field(default_factory=CpuUse)
    _looked: float = 0.0  # when `_use` was read
    _asked: float = -1.0
    _until: float = 0.0
    fresh: list[Stalled] = field(default_factory=list[Stalled])
    _short: Stalled = field(default_factory=lambda: Stalled(0.0, 0.0))
    _sample: CpuUse = field(default_factory=CpuUse)
    _waits: float = 0.0  # since when a thread may have waited that was ready at the last reading
    sampled: float = 0.0

    def until(self, asked: float) -> float:
        """Return when a wait until the time `asked` really ends: later if the machine lost time during it."""
        return self._until if asked == self._asked else asked

    def note(self, seconds: float) -> None:
        """Note a single loss of time, by the tester or the system."""
        if seconds >= STALL:
            self.longest = max(self.longest, seconds)

    def read(self, now: float, use: CpuUse, since: float) -> float:
        """Take what the system has done by now; return the time it lost since the last reading and since `since`."""
        span = now - max(since, self._looked)
        waited, ran = use.waited_since(self._use), use.ran - self._use.ran
        # the kernel counts the time of a waiting process only when it gets a processor; one that computes has one
        stuck = use.ready and ran < span / 2
        lost = max(0.0, min(waited, now - since), STEP if stuck else 0.0)
        self._use, self._looked = use, now
        self.note(lost)
        return lost

    def lost(self, asked: float, began: float, late: float, now: float, use: CpuUse) -> bool:
        """Return whether a wait goes on, to `until(asked)`, because time was lost in it.

        It began at `began`, and the tester woke up `late`. If the system's processes are known, only their own time
        counts. A machine that is always busy must not hold up the tester: a wait becomes at most eleven times as long,
        or twice as long if only the machine is known.
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

    def begin(self, now: float, use: CpuUse, *, timed: bool) -> None:
        """Start counting at the first look; if times matter, include time lost before it."""
        if timed:
            self.sample(now, use)
        self._sample, self.sampled, self._waits = use, now, now

    def forgive(self, own: float, *, blocking: bool) -> None:
        """Leave out what the tester lost while nothing came, since it delayed nothing.

        `blocking`: the system runs in the tester's process, so the loss also counts as waiting of the system.
        """
        before = self._sample
        self._sample = before._replace(waited=before.waited + own * blocking, own=before.own + own)

    def sample(self, now: float, use: CpuUse, busy: float = 0.0, stopped: float = 0.0) -> None:
        """Take what the system and the tester have done by now, and derive the stalls.

        `busy`: seconds since the tester's last look until it waited. `stopped`: seconds for which the tester was
        stopped. That is not waiting for a processor, and may have stopped the system too.
        """
        self.note(stopped)
        span, before = now - self.sampled, self._sample
        # The kernel counts the time of a waiting thread only when it gets a processor, and others may run meanwhile.
        # Then that time may have begun before the last readings: what was due by then missed all of it.
        stuck = not use.stuck.isdisjoint(before.threads)
        waited = max(span * stuck, min(use.waited_since(before), now - self._waits))
        # time that the system and the tester lose together counts once
        lost = max(waited, min(max(use.own - before.own + busy, stopped), span))
        if lost > 0:
            self._lose(now, lost)
        if not stuck:
            self._waits = self.sampled if use.stuck else now
        self._sample, self.sampled = use, now

    def _lose(self, now: float, seconds: float) -> None:
        # short losses in quick succession are added up
        soon = now - self._short.at < SOON
        self._short = Stalled(seconds + (self._short.seconds if soon else 0.0), now)
        if self._short.seconds >= NOISE:
            self.fresh.append(self._short)
            self._short = Stalled(0.0, now)

    def told(self, now: float = 0.0, overdue: float = 0.0) -> list[Stalled]:
        """Return the stalls not yet passed to the monitor, each only once.

        `overdue`: by how many seconds the tester is late with what it sends by its own clock.
        """
        fresh, self.fresh = self.fresh, []
        # these stalls may include what made the tester late, which counts once
        before = [each for each in fresh if each.at <= now - overdue]
        meanwhile = sum(each.seconds for each in fresh[len(before) :])
        return [*before, Stalled(overdue, now)] if overdue > meanwhile else fresh


def is_proven(verdict: Verdict, events: Sequence[Event]) -> bool:
    """Return whether the failure of a long run, in seconds or events, counts although there is no time to see it again.

    It does if no delay explains it: a value is wrong rather than a time, and no stall could have delayed an answer to
    an earlier input that much. It also does if nothing happened for far longer than any stall, or if a window, opened
    by all stalls in it, is missed by more than twice the longest stall of the last seconds.
    """
    failure = verdict.failure
    if failure is None or not events or (events[-1].at < LONG and len(events) < MANY):
        return False
    if failure.kind in UNTIMELY and failure.off > max(PATIENCE * STALL, 2 * _longest(events)):
        return True
    if failure.kind != "missing":
        return failure.kind in CERTAIN or not (failure.times or verdict.stalled >= STALL)
    last = max((each.at for each in events if isinstance(each, (Sent, Seen))), default=0.0)
    return events[-1].at - last > PATIENCE * max(verdict.stalled, STALL)


def _longest(events: Sequence[Event]) -> float:
    """Return the longest stall near the end of a run."""
    since = events[-1].at - NEAR
    near = takewhile(lambda each: each.at >= since, reversed(events))
    return max((each.seconds for each in near if isinstance(each, Stalled)), default=0.0)
