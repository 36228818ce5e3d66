"""What the kernel shows of one process: its threads, its children, and the timers that wake it."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import sys
import time
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from typing import Final

from otf.adapter.observed_rest.calls import ANYTIME, PAIR_SIZE, REALTIME, Timeout, arming, seconds
from otf.adapter.observed_rest.place import Unseen
from otf.adapter.observed_rest.threads import (
    ASLEEP,
    ENDED,
    LONG,
    Gone,
    Hidden,
    Thread,
    ThreadReading,
    Tid,
    Wake,
    children,
    close_all,
    open_file,
)
from otf.adapter.observed_rest.wakers import Waker

_TIMEVAL: Final = struct.Struct("@2q")
_MICRO: Final = 1e-6
_POLLED: Final = struct.Struct("@ihh")  # struct pollfd
_FIRST: Final = itemgetter(0)
_TIMERFD: Final = "anon_inode:[timerfd]"
RING: Final = "anon_inode:[io_uring]"
_AT_ONCE: Final = 1e-9
_KEPT: Final = 64  # files about descriptors that stay open
_DEEPEST: Final = 4  # nested epoll descriptors: the kernel allows five
_PIDFD_GETFD: Final = 438  # on every architecture


class Process:
    """One process of a system. Raises Gone if it does not exist, Hidden if it cannot be seen."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.threads: dict[Tid, Thread] = {}
        self._files: list[int] = []
        self._infos: dict[int, int] = {}
        self._armer: tuple[int, str] | None = None
        try:
            self._timers = self._file("timers")
            self._memory = self._file("mem")
            self._folder = self._file("fd", os.O_DIRECTORY)
            self._tasks = self._file("task", os.O_DIRECTORY)
            self._handle = _pidfd(pid)
            self._files.append(self._handle)
            self.refresh()
        except BaseException:
            self.close()
            raise

    def refresh(self) -> None:
        """Read the list of threads."""
        try:
            tids = {int(name) for name in _names(self._tasks)}
        except (FileNotFoundError, ProcessLookupError) as error:
            raise Gone from error
        if not tids:
            raise Gone
        for tid in self.threads.keys() - tids:
            self.threads.pop(tid).close()
        for tid in tids - self.threads.keys():
            with suppress(Gone):
                self.threads[tid] = Thread(self.pid, tid)

    def read(self, into: dict[Tid, ThreadReading]) -> bool:
        """Add readings of all known threads to `into`; return whether the process has no others.

        The last reading decides: if the others sleep by then, none of them can start a thread. A later count could miss
        a thread that answered after otf looked at the ports, and then ended.
        """
        there = 0
        for tid, thread in self.threads.items():
            into[tid] = thread.reading()
            there = thread.count
        if there > 1 and self.pid in into and into[self.pid].letter in ENDED:
            _refuse_headless(self.pid, {into[tid].letter for tid in self.threads})
        return 0 < there == len(self.threads)

    @property
    def ended(self) -> bool:
        """Whether all its threads had ended when last read."""
        return all(thread.ended for thread in self.threads.values())

    def children(self) -> list[int]:
        """Return the children of all its threads.

        Those of a thread that had none and has not run since need not be read. Only the first thread gets those of
        others that have ended.
        """
        found: list[int] = []
        try:
            for tid, thread in self.threads.items():
                if tid == self.pid or thread.childless != thread.read.counters:
                    found += (these := children(thread.listing))
                    thread.childless = None if these else thread.read.counters
        except ProcessLookupError as error:
            raise Gone from error
        return found

    def why_untimed(self) -> str:
        """Return why its timers cannot be read now, "" if they can.

        Timers that measure CPU time wake nothing: while all threads sleep, no CPU time passes.
        """
        try:
            if timers := os.pread(self._timers, LONG, 0):
                clocks = [line.split()[1] for line in timers.splitlines() if line.startswith(b"ClockID:")]
                if not clocks or any(not clock.startswith(b"-") for clock in clocks):
                    return "it has a POSIX timer, and the kernel does not show when that is due"
            alarmed = next(iter(self.threads.values())).alarmed
            file = self._arming_file() if alarmed else ""
        except (FileNotFoundError, ProcessLookupError, StopIteration) as error:
            raise Gone from error
        if not file:
            return ""
        return f"it handles SIGALRM, and by {file} it may have set a timer that the kernel does not show"

    def _arming_file(self) -> str:
        """Return the file by which it may arm an interval timer, read once and again if it runs another program."""
        program = os.stat(f"/proc/{self.pid}/exe")  # noqa: PTH116 -- at each sleep of a program that handles SIGALRM
        if self._armer is None or self._armer[0] != program.st_ino:
            self._armer = program.st_ino, arming(self.pid)
        return self._armer[1]

    def wake(self, where: Timeout, now: float) -> Wake:
        """Return when a thread that sleeps with this time-out wakes by itself. Read it between the two readings."""
        wake = Wake(where.after) if not where.pointer else self._behind(where, now)
        return self._received(where.descriptor, wake) if where.role == "reads" else wake

    def waker(self, tid: Tid) -> Waker:
        """Return the identity of a thread that sleeps with a time-out. Raises Gone."""
        try:
            names = {each: _name(self.pid, each) for each in sorted(self.threads)}
            program = os.readlink(f"/proc/{self.pid}/exe")  # noqa: PTH115 -- a name, and no path of ours
            own = [each for each in names if names[each] == names[tid]]
            return Waker(program, names[tid], own.index(tid), self.threads[tid].call)
        except (KeyError, FileNotFoundError, ProcessLookupError, PermissionError) as error:
            raise Gone from error

    def alarms(self, where: Timeout) -> dict[int, float]:
        """Return how many seconds are left of the timers that a call waits for, by descriptor."""
        if where.role == "epoll":
            return self._watched(where.descriptor, _DEEPEST)
        if where.role == "reads":
            return self._timers_in((where.descriptor,))
        return self._timers_in(self._polled(*where.many, bits=where.role == "select"))

    def _polled(self, number: int, address: int, *, bits: bool) -> Iterable[int]:
        """Return the descriptors that a call waits for, from the list in the process's memory; or all it has."""
        size = (number + 63) // 64 * 8 if bits else number * _POLLED.size
        try:
            raw = self._read(size, address) if number and address else b""
        except OSError:
            return [int(name) for name in _names(self._folder)]
        if bits:
            mask = int.from_bytes(raw, sys.byteorder)
            return [each for each in range(number) if mask >> each & 1]
        whole = len(raw) // _POLLED.size * _POLLED.size
        # poll ignores negative ones, and no descriptor has such a name
        return map(_FIRST, _POLLED.iter_unpack(raw[:whole]))

    def _watched(self, epoll: int, depth: int) -> dict[int, float]:
        """Return the remaining times of the timers in an epoll descriptor, including nested ones."""
        found: dict[int, float] = {}
        for line in self._info(epoll).splitlines():
            if not line.startswith(b"tfd:") or line.rpartition(b"ino:")[2].split()[0] != _ANONYMOUS:
                continue  # sockets, pipes and terminals are not timers
            descriptor = int(line.split()[1])
            info = self._info(descriptor)
            if b"tfd:" in info and depth:
                found |= self._watched(descriptor, depth - 1)
            elif (left := _left(info)) is not None:
                found[descriptor] = left
            elif not info:
                found[descriptor] = _AT_ONCE  # it has another number now, and may be a timer
        return found

    def _timers_in(self, descriptors: Iterable[int]) -> dict[int, float]:
        found: dict[int, float] = {}
        for each in descriptors:
            if self._kind(each) == _TIMERFD and (left := _left(self._info(each))) is not None:
                found[each] = left
        return found

    def _info(self, descriptor: int) -> bytes:
        """Return what the kernel shows of a descriptor now, b"" if it is closed.

        The file stays open, since opening it takes four times as long as reading it. It is that of the number: if the
        process opens something else under it, that is what it shows.
        """
        try:
            if descriptor not in self._infos:
                if len(self._infos) >= _KEPT:
                    close_all([self._infos.popitem()[1]])
                self._infos[descriptor] = open_file(f"/proc/{self.pid}/fdinfo/{descriptor}")
            return os.pread(self._infos[descriptor], LONG, 0)
        except (Gone, OSError):
            close_all([self._infos.pop(descriptor)] if descriptor in self._infos else [])
            return b""

    def descriptors(self) -> list[str]:
        """Return what its descriptors are. Raises Gone, Hidden."""
        try:
            return [self._kind(int(name)) for name in _names(self._folder)]
        except PermissionError as error:
            raise Hidden("its descriptors") from error
        except OSError as error:
            raise Gone from error

    def _behind(self, where: Timeout, now: float) -> Wake:
        try:
            raw = self._read(PAIR_SIZE, where.pointer)
        except OSError:
            return Wake(ANYTIME)
        found = seconds(raw, where.unit)
        if found is None:
            return Wake(ANYTIME)
        if where.clock < 0:
            return Wake(found)
        return Wake(at=found + (now - time.time()) if where.clock == REALTIME else found)

    def _read(self, size: int, address: int) -> bytes:
        """Return bytes of its memory. Raises OSError, Gone, Hidden."""
        raw = os.pread(self._memory, size, address)
        if not raw:
            # the file belongs to the program that ran when it was opened, and another one runs now
            self._files.remove(self._memory)
            os.close(self._memory)
            self._memory = self._file("mem")
            raw = os.pread(self._memory, size, address)
        if not raw:
            raise ProcessLookupError
        return raw

    def _received(self, descriptor: int, wake: Wake) -> Wake:
        """Return the wake-up of a thread that reads this descriptor, which may have its own time-out."""
        kind = self._kind(descriptor)
        if kind.startswith(("pipe:", "anon_inode:")):
            return wake
        if not kind.startswith("socket:"):
            return Wake(ANYTIME)
        try:
            with socket.socket(fileno=_copy_of(self._handle, descriptor)) as sock:
                whole, micro = _TIMEVAL.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIMEVAL.size))
        except OSError:
            return Wake(ANYTIME)
        return Wake(whole + micro * _MICRO) if whole or micro else wake

    def _kind(self, descriptor: int) -> str:
        try:
            return os.readlink(str(descriptor), dir_fd=self._folder)
        except OSError:
            return ""

    def _file(self, name: str, flags: int = 0) -> int:
        file = open_file(f"/proc/{self.pid}/{name}", flags)
        self._files.append(file)
        return file

    def close(self) -> None:
        """Close all its files."""
        for thread in self.threads.values():
            thread.close()
        self.threads.clear()
        close_all([*self._files, *self._infos.values()])
        self._files.clear()
        self._infos.clear()


def has_ended(pid: int) -> bool:
    """Return whether a process has ended with its files closed. Raises Unseen if only its first thread has ended."""
    letters = dict[str, bytes]()
    try:
        for each in Path(f"/proc/{pid}/task").iterdir():
            stat = (each / "stat").read_bytes()
            letters[each.name] = stat[stat.rfind(b")") + 2 :][:1]
    except (FileNotFoundError, ProcessLookupError):
        return not letters
    if letters.get(str(pid)) in ENDED:
        _refuse_headless(pid, {*letters.values()})
    return ENDED.issuperset(letters.values())


def _refuse_headless(pid: int, letters: AbstractSet[bytes]) -> None:
    """Raise Unseen if other threads run on after the first has ended: in a process that is ending, none sleeps."""
    if ASLEEP in letters:
        raise Unseen(f"of the process {pid} the first thread has ended while others run: the kernel hides its timers")


def _name(pid: int, tid: Tid) -> str:
    return Path(f"/proc/{pid}/task/{tid}/comm").read_text(encoding="utf-8", errors="replace").strip()


def _names(folder: int) -> list[str]:
    return os.listdir(folder)


def _pidfd(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError as error:
        raise Gone from error


def _copy_of(handle: int, descriptor: int) -> int:
    """Return a copy of another process's descriptor; close it soon, since it keeps the file open."""
    copy = _LIBC.syscall(_PIDFD_GETFD, handle, descriptor, 0)
    if copy < 0:
        raise OSError(ctypes.get_errno(), "pidfd_getfd")
    return int(copy)


def _left(info: bytes) -> float | None:
    """Return how many seconds are left of a timer, by its `fdinfo`; None if it is not a timer."""
    _, found, rest = info.partition(b"it_value: (")
    if not found:
        return None
    whole, _, nano = rest.partition(b")")[0].partition(b", ")
    return int(whole) + int(nano) * 1e-9


def _anonymous() -> bytes:
    """Return the inode shared by timers and other descriptors without a file."""
    probe = os.eventfd(0)
    try:
        return b"%x" % os.fstat(probe).st_ino
    finally:
        os.close(probe)


_ANONYMOUS: Final = _anonymous()
_LIBC: Final = ctypes.CDLL(None, use_errno=True)
