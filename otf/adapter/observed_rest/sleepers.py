"""The threads of a system over many looks: since when each sleeps, and when it wakes by itself. Data in, answers out.

A look has two readings of the same threads. Between them the lists of threads and children are read, then the ports,
then the time-outs. Where every thread slept at the first reading and the second is the same, no thread ran between
them: what was emitted before was seen at the ports, and nothing can be emitted before a thread wakes.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from otf.adapter.observed_rest.calls import ANYTIME, NEVER
from otf.values.identity import light

GRACE: Final = 1.0
"""Seconds after which a thread that has not woken when it was due is taken to sleep for an unknown time."""

ASLEEP: Final = b"S"
STOPPED: Final = frozenset((b"T", b"t"))
ENDED: Final = frozenset((b"Z",))
"""Ended, and still listed. One that is just vanishing (X) is looked at again: it would confuse the count of threads."""
RESTING: Final = ENDED | {ASLEEP}

Tid: TypeAlias = int


@light
class ThreadReading:
    """What the kernel shows of a thread: the whole line of its counters, and the letter of its state."""

    counters: bytes
    letter: bytes


@light
class Wake:
    """When a sleep ends by itself: `after` seconds from its begin, else `at` a moment; `NEVER`, `ANYTIME`."""

    after: float = NEVER
    at: float = NEVER


@dataclass(slots=True)
class _Sleep:
    """One sleep of a thread, known by its counters, with the moments between which it began.

    `looked`: when the thread was last seen with these counters. `alarms`: when the timers are due for whose
    descriptors it waits.
    """

    counters: bytes
    earliest: float
    latest: float
    looked: float
    wake: Wake | None = None
    alarms: dict[int, float] = field(default_factory=dict[int, float])

    def due(self, now: float) -> float:
        """Return the earliest moment at which it may end by itself."""
        wake = self.wake
        if wake is None or (wake.after != NEVER and self.latest + wake.after + GRACE < now):
            # the time-out of a thread that should have woken long ago was misread
            return ANYTIME
        return min((wake.at if wake.after == NEVER else self.earliest + wake.after, *self.alarms.values()))


@dataclass(slots=True)
class Sleepers:
    """Decides at each look whether all threads sleep, and when one of them may wake.

    `ran`: a thread has run, come or gone since this was set to false. `unread`: the threads whose time-outs are to be
    read between the two readings.
    """

    ran: bool = True
    unread: set[Tid] = field(default_factory=set[Tid])
    _known: dict[Tid, _Sleep] = field(default_factory=dict[Tid, _Sleep])
    _listed: float = ANYTIME

    def first(self, at: float, end: float, readings: Mapping[Tid, ThreadReading]) -> bool:
        """Take a first reading, made between two moments, of some threads; return whether all of these sleep."""
        asleep = True
        for tid, reading in readings.items():
            known = self._known.get(tid)
            if known is not None and known.counters == reading.counters:
                known.looked = at
            else:
                earliest, wakes = self._listed if known is None else known.looked, reading.letter not in ENDED
                self._known[tid] = _Sleep(reading.counters, earliest, end, at, None if wakes else Wake())
                (self.unread.add if wakes else self.unread.discard)(tid)
                self.ran = True
            asleep = asleep and reading.letter in RESTING
        return asleep

    def second(self, readings: Mapping[Tid, ThreadReading], wakes: Mapping[Tid, Wake]) -> bool:
        """Take the second reading, with the time-outs read before it; return whether no thread ran in between.

        The time-outs count only then: of a thread that ran, the memory was something else by the time it was read.
        """
        if readings.keys() != self._known.keys():
            return False
        for tid, reading in readings.items():
            if reading.counters != self._known[tid].counters or reading.letter not in RESTING:
                return False
        for tid, wake in wakes.items():
            self._known[tid].wake = wake
        self.unread.difference_update(wakes)
        return True

    def note_all(self, at: float, tids: AbstractSet[Tid]) -> None:
        """Record that exactly these threads were there, by lists that were read after that moment."""
        self._listed = at
        for tid in self._known.keys() - tids:
            del self._known[tid]
            self.unread.discard(tid)
            self.ran = True

    def note_alarms(self, tid: Tid, now: float, left: Mapping[int, float]) -> None:
        """Take in how many seconds are left of the timers for whose descriptors a thread waits, by descriptor.

        None left means disarmed, or expired with its interrupt late: one that was armed in this sleep is still to come.
        """
        sleep, alarms = self._known[tid], dict[int, float]()
        for each, seconds in left.items():
            alarms[each] = now + seconds if seconds > 0 else sleep.alarms.get(each, NEVER)
        sleep.alarms = alarms

    def due(self, now: float) -> float:
        """Return the earliest moment at which a thread may wake by itself."""
        found = NEVER
        for sleep in self._known.values():
            found = min(found, sleep.due(now))
        return found

    def waking(self, now: float, by: float) -> list[Tid]:
        """Return the threads that may wake by that moment; none of them if anything but the time-out of a call may."""
        due = {tid: sleep.due(now) for tid, sleep in self._known.items()}
        found = [tid for tid in due if due[tid] <= by]
        return [] if any(due[tid] in {ANYTIME, *self._known[tid].alarms.values()} for tid in found) else found

    def counters(self, tid: Tid) -> bytes:
        """Return the counters of a thread when it was read last; empty where it has ended."""
        sleep = self._known.get(tid)
        return b"" if sleep is None else sleep.counters


TICKS: Final = 200
"""Rests within one wait that timers ended, after which the system is taken to tick for ever."""


@dataclass(slots=True)
class Stillness:
    """The rest that is still wanted, `left` seconds of the `wanted`: the quiescence time counts that, and nothing else.

    By the clock on the wall, a chain of short timers, new threads and new processes outlives any quiescence time on a
    busy machine; while all threads sleep, only the timers pass.

    It is believed as soon as no thread can wake within what is left. A thread that may is waited for, and then a new
    rest is needed: what is left grows less only by the time for which all threads certainly slept.
    """

    left: float
    wanted: float
    ticks: int = 0
    _since: float | None = None
    _due: float = ANYTIME

    def rest(self, began: float, ended: float, due: float, *, still: bool) -> bool:
        """Take a rest that was observed between two moments; return whether silence is believed.

        `due`: the earliest moment at which a thread may wake. `still`: no thread ran since the rest before.
        """
        self._count(began, still=still)
        if not still:
            self.ticks += 1
        self._since, self._due = ended, due
        if due > ended + max(self.left, 0.0):
            return True
        # a wake-up that nothing is known about is not waited for longer than that; one that should have come, twice
        # as long: its interrupt may be late
        return self.left <= (0.0 if due == ANYTIME else -self.wanted)

    def broken(self, at: float) -> None:
        """Record that a thread was seen to run at that moment."""
        self._count(at, still=False)
        self._since = None

    @property
    def ticking(self) -> bool:
        """Whether timers end the rests again and again."""
        return self.ticks > TICKS

    def _count(self, until: float, *, still: bool) -> None:
        if self._since is not None:
            # a sleep that nothing but a timer can end lasted until that timer at least
            asleep = until if still else min(until, self._due)
            self.left -= max(asleep - self._since, 0.0)
