"""Finds the descriptors and processes that a piece of a test has left open.

Other things happen in the same process: an earlier test's program ends, or the garbage collector closes a file. And the
kernel may give this process the orphans of another program (`PR_SET_CHILD_SUBREAPER`, which otf asks for).
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import anyio

SETTLING: Final = 0.25
"""Seconds that something must stay open to count: closing takes a moment on a busy machine."""

_LOOK: Final = 0.005  # seconds between two looks
_ROUNDS: Final = 3
_STARTED: Final = 19  # the field of `starttime` in `stat`, counted from the state


class Descendant(NamedTuple):
    """A process below this one; `started` is in ticks since the start of the machine."""

    pid: int
    name: str
    is_zombie: bool
    group: int
    session: int
    started: int


class Leak(NamedTuple):
    """Something left open; `is_sure`: nothing else in this process can have opened it."""

    name: str
    is_sure: bool


class Baseline:
    """What this process has open before a piece of a test; `leaks` returns what has been left open since.

    Something that was open before and is closed now does not count. A process counts if it started since then, and if
    neither its group nor its session belongs to a process that was there before. Linux only; elsewhere it finds
    nothing.

    >>> import os
    >>> before = Baseline()
    >>> with open(os.devnull) as file:
    ...     print([leak.name.partition(" ")[2] for leak in before.leaks()])
    ['/dev/null']
    >>> before.leaks()
    []
    """

    def __init__(self) -> None:
        self._began = _ticks()
        self._descriptors = descriptors()
        there = _below(children())
        self._there = {(each.pid, each.started) for each in there}
        self._groups = {number for each in there for number in (each.group, each.session)}
        own = {os.getpgrp(), os.getsid(0)}
        # an earlier process may start something, and end: that leaves an orphan in our own group
        self._is_shared = bool(own & self._groups)
        self._groups -= own

    def leaks(self) -> list[Leak]:
        """Return what is open now and was opened since."""
        opened = [Leak(name, is_sure=True) for name in sorted(descriptors() - self._descriptors)]
        started = [each for pid in sorted(children()) if (each := _child(pid)) and self._counts(each)]
        return opened + [Leak(f"process {each.pid} ({each.name})", self._is_sure(each)) for each in started]

    def lasting_leaks(self) -> list[Leak]:
        """Return what is still open after a moment; this thread sleeps meanwhile."""
        until = time.monotonic() + SETTLING
        while (found := self.leaks()) and time.monotonic() < until:
            time.sleep(_LOOK)
        return found

    def _counts(self, child: Descendant) -> bool:
        if (child.pid, child.started) in self._there or child.started < self._began:
            return False
        if {child.group, child.session} & self._groups:
            return False
        # a zombie in the group of another process of a system had another parent, who would have waited for it
        return not child.is_zombie or child.group in {child.pid, os.getpgrp()}

    def _is_sure(self, child: Descendant) -> bool:
        return not self._is_shared or child.group != os.getpgrp()


async def leaks_of(use: Callable[[], Awaitable[None]], lingers: float = 0.0) -> list[str]:
    """Return what `use` left open, if it is still open a moment after `lingers` seconds.

    What something else in this process may have left counts only if all three rounds find it.
    """
    left = list[Leak]()
    for _ in range(_ROUNDS):
        before = Baseline()
        await use()
        with anyio.move_on_after(lingers + SETTLING):
            while before.leaks():  # noqa: ASYNC110 -- no event reports this
                await anyio.sleep(_LOOK)
        left = before.leaks()
        if not left or any(leak.is_sure for leak in left):
            break
    return [leak.name for leak in left]


def descriptors() -> set[str]:
    """Return the descriptors that this process has open, with their targets (Linux; elsewhere none)."""
    folder = Path("/proc/self/fd")
    # this includes the one of this very look, which is gone at once
    return {f"{path.name} {path.readlink()}" for path in list(folder.glob("*")) if path.is_symlink()}


def children(pid: int | str = "self") -> set[int]:
    """Return a process's children, started or adopted, that it has not waited for (only on Linux)."""
    found = set[int]()
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):  # a thread may end meanwhile
            found.update(map(int, (thread / "children").read_bytes().split()))
    return found


def _below(pids: set[int]) -> list[Descendant]:
    """Return these processes, and all that they have started."""
    found = list[Descendant]()
    for pid in pids:
        if child := _child(pid):
            found += [child, *_below(children(pid))]
    return found


def _child(pid: int) -> Descendant | None:
    """Return a process; None if it is gone."""
    try:
        line = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # the name of the program is in brackets, and may contain brackets
    at = line.rfind(b")")
    state, _, group, session, *rest = line[at + 2 :].split()
    name = line[line.find(b"(") + 1 : at].decode(errors="replace")
    return Descendant(pid, name, state in b"ZX", int(group), int(session), int(rest[_STARTED - 4]))


def _ticks() -> int:
    """Return the current time in the unit of `stat`."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))
