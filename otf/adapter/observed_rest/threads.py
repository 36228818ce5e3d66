"""The threads of a system: what the kernel shows of each, since when it sleeps, and when it wakes by itself.

A look reads the same threads twice. In between it reads the lists of threads and children, then the ports, then the
time-outs. If every thread slept at the first reading and the second is equal, no thread ran in between. Then everything
emitted earlier was seen at the ports, and nothing can be emitted before a thread wakes.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from otf.adapter.observed_rest.calls import ANYTIME, NEVER, UNKNOWN, Timeout, parsed, table, timeout
from otf.values.identity import light

GRACE: Final = 1.0
"""Seconds after which a thread that has not woken when due is taken to sleep for an unknown time."""

ASLEEP: Final = b"S"
STOPPED: Final = frozenset((b"T", b"t"))
ENDED: Final = frozenset((b"Z",))
"""Ended, but still listed. A vanishing thread (X) is looked at again: it would confuse the count of threads."""
RESTING: Final = ENDED | {ASLEEP}

Tid: TypeAlias = int


@light
class ThreadReading:
    """What the kernel shows of a thread: the whole line of its counters, and the letter of its state."""

    counters: bytes
    letter: bytes


@light
class Wake:
    """When a sleep ends by itself: `after` that many seconds, or `at` that time; each may be `NEVER` or `ANYTIME`."""

    after: float = NEVER
    at: float = NEVER


_SHORT: Final = 512
LONG: Final = 1 << 16
_CAUGHT: Final = 32  # the position of `sigcatch`, the signals up to 31: the same as in `status`, at no cost
_COUNT: Final = 18  # the position of `num_threads` in `stat`, counted from the end of the name
_MASK: Final = 1 << (signal.SIGALRM - 1)  # not SIGVTALRM, SIGPROF: their timers count computing time
CALLS: Final = table(os.uname().machine)
"""The calls that wait on this machine; None if unknown."""


class Gone(Exception):  # noqa: N818 -- what happened, not an error
    """The thread or process has ended."""


class Hidden(Exception):  # noqa: N818 -- the same
    """The kernel does not show it to us; the message says what."""


class Thread:
    """The files of one thread, kept open: opening one costs as much as reading it several times."""

    __slots__ = (
        "_call", "_counters", "_end", "_line", "_stat", "_syscall", "_timeout", "alarmed", "childless", "count",
        "listing", "read", "tid",
    )  # fmt: skip

    def __init__(self, pid: int, tid: Tid) -> None:
        self.tid = tid
        folder = f"/proc/{pid}/task/{tid}"
        files: list[int] = []
        try:
            files.extend(open_file(f"{folder}/{name}") for name in ("schedstat", "stat", "syscall", "children"))
        except BaseException:
            close_all(files)
            raise
        self._counters, self._stat, self._syscall, self.listing = files
        self._line = self._call = b""
        self._timeout = UNKNOWN
        # the last reading, and the counters at which it had no children
        self.read: ThreadReading = ThreadReading(b"", b"")
        self.childless: bytes | None = None
        # the end of the line, from the number of threads on, hardly ever changes
        self._end = b"?"
        # how many threads its process had when last read: whether the known ones are all of them
        self.count: int = 0
        # whether its process handled SIGALRM then
        self.alarmed: bool = False

    def reading(self) -> ThreadReading:
        """Return the counters, then the letter: a thread woken in between shows it in the letter."""
        try:
            counters = os.pread(self._counters, _SHORT, 0)
            line = os.pread(self._stat, _SHORT, 0)
        except ProcessLookupError as error:
            raise Gone from error
        if line == self._line and counters == self.read.counters:
            return self.read
        self._line = line
        # all lines have the same number of fields, so equal ends hold the same fields
        if not line.endswith(self._end):
            self._read_end(line)
        # the name of the program comes before the state, in brackets, and may contain brackets itself
        at = line.rfind(b")")
        self.read = ThreadReading(counters, line[at + 2 : at + 3])
        return self.read

    @property
    def ended(self) -> bool:
        """Whether it had ended when last read."""
        return self.read.letter in ENDED

    def _read_end(self, line: bytes) -> None:
        *_, end = line[line.rfind(b")") :].split(None, _COUNT)
        fields = end.split(None, _CAUGHT - _COUNT + 1)
        self.count, self._end = int(fields[0]), b" " + end
        self.alarmed = bool(int(fields[_CAUGHT - _COUNT]) & _MASK)

    def timeout(self) -> Timeout | None:
        """Return where the call that it sleeps in keeps its time-out; None if it runs. Raises Hidden."""
        try:
            line = os.pread(self._syscall, _SHORT, 0)
        except ProcessLookupError as error:
            raise Gone from error
        except PermissionError as error:
            raise Hidden("the calls of its threads") from error
        # most programs wait in one place, always in the same way
        if line != self._call:
            call = parsed(line)
            if call is None:
                return None
            self._call, self._timeout = line, timeout(call, CALLS or {})
        return self._timeout

    @property
    def call(self) -> int:
        """The number of the system call in which it slept when its time-out was last read."""
        return int(self._call.split()[0])

    def close(self) -> None:
        """Close its files."""
        close_all((self._counters, self._stat, self._syscall, self.listing))


def children(listing: int) -> list[int]:
    """Return the processes in an open list of children.

    If a process ends while the kernel writes the list, the kernel skips another, so the list is read until it repeats.
    """
    line = os.pread(listing, LONG, 0)
    while line and line != (again := os.pread(listing, LONG, 0)):
        line = again
    return [*map(int, line.split())]


def open_file(path: str, flags: int = 0) -> int:
    """Open a file of the kernel. Raises Gone, Hidden."""
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags)
    except (FileNotFoundError, ProcessLookupError) as error:
        raise Gone from error
    except PermissionError as error:
        message = f"you may not read {path}"
        raise Hidden(message) from error


def close_all(descriptors: Iterable[int]) -> None:
    """Close descriptors."""
    for each in descriptors:
        os.close(each)


@dataclass(slots=True)
class _Sleep:
    """One sleep of a thread, identified by its counters, and between which moments it began.

    `looked`: when the thread was last seen with these counters. `alarms`: when the timers are due whose descriptors it
    waits for.
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

    `ran`: a thread has run, started or ended since this was set to false. `unread`: the threads whose time-outs must be
    read between the two readings.
    """

    ran: bool = True
    unread: set[Tid] = field(default_factory=set[Tid])
    _known: dict[Tid, _Sleep] = field(default_factory=dict[Tid, _Sleep])
    _listed: float = ANYTIME

    def first(self, at: float, end: float, readings: Mapping[Tid, ThreadReading]) -> bool:
        """Take a first reading of some threads, made between two moments; return whether all of them sleep."""
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

    def recall(self, earlier: Sleepers) -> None:
        """Compare with an earlier look at the same threads: a sleep that differs began after that look."""
        for tid, sleep in earlier._known.items():
            self._known[tid] = replace(sleep, wake=None, alarms={})
            self.unread.add(tid)

    def second(self, readings: Mapping[Tid, ThreadReading], wakes: Mapping[Tid, Wake]) -> bool:
        """Take the second reading, with the time-outs read before it; return whether no thread ran in between.

        Only then do the time-outs count: if a thread ran, its memory had changed by the time it was read.
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
        """Take how many seconds are left, by descriptor, of the timers that a thread waits for.

        No time left means disarmed, or expired with a late interrupt: a timer armed during this sleep is still to come.
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
        """Return the threads that may wake by that moment; empty if anything but a call's time-out may wake one."""
        due = {tid: sleep.due(now) for tid, sleep in self._known.items()}
        found = [tid for tid in due if due[tid] <= by]
        return [] if any(due[tid] in {ANYTIME, *self._known[tid].alarms.values()} for tid in found) else found

    def counters(self, tid: Tid) -> bytes:
        """Return the counters of a thread when last read, b"" if it has ended."""
        sleep = self._known.get(tid)
        return b"" if sleep is None else sleep.counters
