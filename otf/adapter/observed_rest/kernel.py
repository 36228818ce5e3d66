"""What the kernel shows of one thread: its counters, its state, the call in which it sleeps, its children."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from typing import Final

from otf.adapter.observed_rest.calls import UNKNOWN, Timeout, parsed, table, timeout
from otf.adapter.observed_rest.sleepers import ENDED, ThreadReading, Tid

_SHORT: Final = 512
LONG: Final = 1 << 16
_CAUGHT: Final = 32  # the place of `sigcatch`, the signals up to 31: the same as in `status`, at no cost
_COUNT: Final = 18  # the place of `num_threads` in `stat`, counted from the end of the name
_MASK: Final = 1 << (signal.SIGALRM - 1)  # not SIGVTALRM, SIGPROF: their timers count computing time
CALLS: Final = table(os.uname().machine)
"""The calls that wait on this machine; None where they are not known."""


class Gone(Exception):  # noqa: N818 -- what happened, not an error
    """The thread or process has ended."""


class Hidden(Exception):  # noqa: N818 -- the same
    """The kernel does not show it to us; the message says what."""


class Thread:
    """The files of one thread, kept open: to open one costs as much as to read it several times."""

    __slots__ = (
        "_call", "_counters", "_end", "_line", "_stat", "_syscall", "_timeout", "alarmed", "count", "listing", "tid"
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
        # the end of the line, from the number of threads on, and what it says: it hardly ever changes
        self._end = b"?"
        # how many threads its process had when it was read last: whether the known ones are all of them
        self.count: int = 0
        # whether its process handled SIGALRM then
        self.alarmed: bool = False

    def reading(self) -> ThreadReading:
        """Return the counters, and then the letter: one that was woken in between shows it in the letter."""
        try:
            counters = os.pread(self._counters, _SHORT, 0)
            self._line = line = os.pread(self._stat, _SHORT, 0)
        except ProcessLookupError as error:
            raise Gone from error
        # a line has as many fields as any other, and so an equal end holds the same fields
        if not line.endswith(self._end):
            self._read_end(line)
        # the name of the program stands before the state, in brackets, and may have brackets itself
        at = line.rfind(b")")
        return ThreadReading(counters, line[at + 2 : at + 3])

    @property
    def ended(self) -> bool:
        """Whether it had ended when it was read last."""
        at = self._line.rfind(b")")
        return self._line[at + 2 : at + 3] in ENDED

    def _read_end(self, line: bytes) -> None:
        *_, end = line[line.rfind(b")") :].split(None, _COUNT)
        fields = end.split(None, _CAUGHT - _COUNT + 1)
        self.count, self._end = int(fields[0]), b" " + end
        self.alarmed = bool(int(fields[_CAUGHT - _COUNT]) & _MASK)

    def timeout(self) -> Timeout | None:
        """Return where the time-out of the call is kept in which it sleeps; None where it runs. Raises Hidden."""
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
        """The number of the system call in which it slept when its time-out was read last."""
        return int(self._call.split()[0])

    def close(self) -> None:
        """Close its files."""
        close_all((self._counters, self._stat, self._syscall, self.listing))


def children(listing: int) -> list[int]:
    """Return the processes in an open list of children.

    The kernel skips one where another ends while it writes the list, so the list is read until it is the same twice.
    """
    line = os.pread(listing, LONG, 0)
    while line and line != (again := os.pread(listing, LONG, 0)):
        line = again
    return [*map(int, line.split())]


def open_file(path: str, flags: int = 0) -> int:
    """Return an open file of the kernel's. Raises Gone, Hidden."""
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
