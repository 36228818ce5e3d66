"""A system as its processes: one look at all of them decides whether it rests."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias

from otf.adapter.observed_rest.calls import Timeout
from otf.adapter.observed_rest.owners import OURS, Strangers, program_name
from otf.adapter.observed_rest.place import Unseen
from otf.adapter.observed_rest.process import Process, has_ended
from otf.adapter.observed_rest.threads import STOPPED, Gone, Hidden, Sleepers, ThreadReading, Tid, Wake, children
from otf.adapter.observed_rest.wakers import Sleeping, Waker
from otf.codec.trial import TRIALS
from otf.values.identity import light

MOST: Final = 64
"""The most threads to look at: with more, looking takes longer than waiting, and descriptors run out."""

Look: TypeAlias = Callable[[], bool]
"""Looks at all ports; returns whether nothing was there, and the kernel knows of nothing in transit."""


@light
class Rest:
    """All threads slept from before `began` until after `ended`; none wakes by itself before `due`.

    `still`: no thread has run since the previous rest.
    """

    began: float
    ended: float
    due: float
    still: bool


class Orphans:
    """Children of the tester that it did not start itself: orphans of systems, and what a bench has started.

    otf reaps orphans. Code that started a process may itself wait for it.
    """

    def __init__(self) -> None:
        pid = os.getpid()
        # the kernel gives orphans to the first living thread, and this one lives longest
        self._children = os.open(f"/proc/{pid}/task/{pid}/children", os.O_RDONLY | os.O_CLOEXEC)
        self._before = self.now()

    def now(self) -> set[int]:
        """Return those that exist now."""
        there = children(self._children)
        return set(there) - OURS - TRIALS if there else set()

    def reap(self, pid: int) -> None:
        """Reap an orphan that has ended."""
        with suppress(ChildProcessError, ProcessLookupError):
            # what this process started is in its session, or leads one of its own
            if pid not in self._before or os.getsid(pid) not in {os.getsid(0), pid}:
                os.waitpid(pid, os.WNOHANG)

    def close(self) -> None:
        """Close its file."""
        os.close(self._children)


class SystemProcesses:
    """The processes of a system: `roots`, what they started, and orphans. Raises Unseen.

    `foreign`: the tester did not start its processes, so their orphans do not become its own.
    """

    def __init__(self, roots: Iterable[int], *, foreign: bool = False) -> None:
        self.sleepers: Sleepers = Sleepers()
        self.roots: frozenset[int] = frozenset(roots)
        self.processes: dict[int, Process] = {}
        self._dead = set[int]()
        self._wakers: dict[tuple[Tid, int], Waker] = {}
        self._strangers = Strangers(self.roots) if foreign else None
        self._orphans: Orphans | None = None
        self._where: dict[Tid, tuple[Process, Timeout]] = {}
        try:
            self._orphans = Orphans()
            self._enter(self.roots)
            before = set[int]()
            while not self._read_lists(whole=False) and self.pids != before:
                before = self.pids
        except BaseException:
            self.close()
            raise

    @property
    def pids(self) -> set[int]:
        """The processes that belong to it now."""
        return set(self.processes)

    def look(self, quiet: Look) -> Rest | None:
        """Look at all threads, at the ports, and at all threads again; return the rest, or None. Raises Unseen."""
        try:
            return self._look(quiet)
        except Gone:
            # the file of a thread that has ended does not always reveal that, so all lists are read anew
            self._read_lists(whole=False)
            return None
        except Hidden as hidden:
            raise Unseen(f"the kernel does not show {hidden} of one of its processes") from hidden

    def glance(self) -> None:
        """Note which threads still sleep as at the last look: their next sleep begins after this moment."""
        readings: dict[Tid, ThreadReading] = {}
        began = time.monotonic()
        # what cannot be read is found missing, or rejected, at the next look
        with suppress(Gone, Hidden, Unseen):
            for process in self.processes.values():
                process.read(readings)
            self.sleepers.first(began, time.monotonic(), readings)

    def waking(self, now: float, by: float) -> dict[Tid, Sleeping]:
        """Return the threads that a time-out wakes by that moment; empty if something else may wake one."""
        sleepers = self.sleepers
        try:
            return {tid: Sleeping(self._waker(tid), sleepers.counters(tid)) for tid in sleepers.waking(now, by)}
        except Gone:
            return {}

    def _waker(self, tid: Tid) -> Waker:
        process = next((each for each in self.processes.values() if tid in each.threads), None)
        if process is None:
            raise Gone
        key = tid, process.threads[tid].call
        if key not in self._wakers:
            self._wakers[key] = process.waker(tid)
        return self._wakers[key]

    def used(self) -> float:
        """Return for how many seconds its threads have run so far, not counting those that have ended."""
        total = 0
        for thread in [each for process in self.processes.values() for each in process.threads.values()]:
            with suppress(Gone, ValueError, IndexError):
                total += int(thread.reading().counters.split()[0])
        return total * 1e-9

    def close(self) -> None:
        """Close all files."""
        for process in self.processes.values():
            process.close()
        self.processes.clear()
        if self._orphans is not None:
            self._orphans.close()
            self._orphans = None
        if self._strangers is not None:
            self._strangers.close()
            self._strangers = None

    def _look(self, quiet: Look) -> Rest | None:
        # `dict[…]()` takes ten times as long as `{}`, and this happens at each step
        readings: dict[Tid, ThreadReading] = {}
        again: dict[Tid, ThreadReading] = {}
        sleepers, processes, clock = self.sleepers, self.processes.values(), time.monotonic
        began = clock()
        whole = True
        for process in processes:
            whole = process.read(readings) and whole
        first = clock()
        if not sleepers.first(began, first, readings):
            _refuse_stopped(readings)
            return None
        if not self._read_lists(whole=whole):
            return None
        sleepers.note_all(first, readings.keys())
        if not quiet():
            return None
        wakes = self._wakes()
        if wakes is None:
            return None
        for process in processes:
            process.read(again)
        if not sleepers.second(again, wakes):
            return None
        ended = clock()
        still, sleepers.ran = not sleepers.ran, False
        return Rest(first, ended, sleepers.due(ended), still)

    def _read_lists(self, *, whole: bool) -> bool:
        """Read the lists of children, the orphans last; return whether all processes and threads are known.

        If the known threads of a process are not the `whole` of them, lists them anew.
        """
        listed: set[int] = {*self.roots}
        new = listed - self.processes.keys()
        known = not (new and self._enter(new)) and whole
        for pid, process in [*self.processes.items()]:
            try:
                if not whole:
                    process.refresh()
                if children := process.children():
                    listed.update(children)
                    known = not self._enter(children) and known
            except Gone:
                known = False
                self.processes.pop(pid).close()
        if not whole:
            self._count()
        if self._orphans is not None and (orphans := self._orphans.now()):
            known = not self._enter(orphans) and known
            for pid in orphans:
                # a process that had ended before it was seen has no files to open
                if pid not in self.processes or self.processes[pid].ended:
                    self._orphans.reap(pid)
            listed |= orphans
        if self._strangers is not None:
            known = not self._enter(self._strangers.new()) and known
        self._dead &= listed
        return known

    def _enter(self, pids: Iterable[int]) -> bool:
        """Add processes to the system; return whether one is new."""
        new = [pid for pid in pids if pid not in self.processes and pid not in self._dead]
        if not new:
            return False
        for pid in new:
            try:
                self.processes[pid] = Process(pid)
            except Gone:
                if _is_hidden(pid):
                    raise Unseen(f"the process {pid} belongs to the system, and is hidden (hidepid)") from None
                # an exiting process has lost its memory, and closes its pipes only after that: it is looked at again
                if has_ended(pid):
                    self._dead.add(pid)  # it is listed until someone asks how it ended
            except Hidden as hidden:
                raise Unseen(f"the process {pid} belongs to the system, and {hidden}") from hidden
        self._count()
        return True

    def _count(self) -> None:
        threads = sum(len(process.threads) for process in self.processes.values())
        if threads > MOST:
            raise Unseen(f"it has {threads} threads, and more than {MOST} are not looked at")

    def _wakes(self) -> dict[Tid, Wake] | None:
        """Return the time-outs of new sleeps; None if a thread is not asleep."""
        wakes: dict[Tid, Wake] = {}
        for process in self.processes.values():
            for tid in process.threads.keys() & self.sleepers.unread:
                where = process.threads[tid].timeout()
                if where is None:
                    return None
                if why := process.why_untimed():
                    # servers start a process for each client, whose numbers would make as many reasons
                    raise Unseen(f"of its process {program_name(process.pid)}: {why}")
                self._where[tid] = process, where
                wakes[tid] = process.wake(where, time.monotonic())
        if self.sleepers.ran:
            self._alarms()
        return wakes

    def _alarms(self) -> None:
        """Read the timers that have descriptors: any thread may have set one that another waits for."""
        for tid, (process, where) in [*self._where.items()]:
            if tid not in process.threads:
                del self._where[tid]
            elif where.role != "none":
                self.sleepers.note_alarms(tid, time.monotonic(), process.alarms(where))


def _refuse_stopped(readings: Mapping[Tid, ThreadReading]) -> None:
    for tid, reading in readings.items():
        if reading.letter in STOPPED:
            raise Unseen(f"its thread {tid} was stopped, by a signal or a debugger")


def _is_hidden(pid: int) -> bool:
    """Return whether a process exists but cannot be seen."""
    if Path(f"/proc/{pid}").exists():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not Path(f"/proc/{pid}").exists()
