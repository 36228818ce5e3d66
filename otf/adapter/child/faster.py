"""Faster clocks: runs programs of the system under libfaketime, and detects programs that do not follow.

libfaketime sits between a program and the C library. It multiplies the time that clocks return and divides the
time-outs of waits. It cannot reach what bypasses the C library, and an absolute timerfd under it never expires.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

import anyio

from otf.errors import UsageError

FASTEST: Final = 1000.0
_LIBRARY: Final = "libfaketimeMT.so.1"  # the one for programs with threads; it also serves those without
_FOLDERS: Final = "/usr/lib/*/faketime", "/usr/lib/faketime", "/usr/lib64/faketime", "/usr/local/lib/faketime"
_GO: Final = b"\xff Go buildinf:"
_LOOKS: Final = 100
_PAUSE: Final = 0.005
_LARGEST: Final = 1 << 28  # the most bytes of a program that are searched
_SHARED: Final = Path("/dev/shm")  # noqa: S108 -- only what our own processes have left there is removed
_KERNEL: Final = {
    "anon_inode:[io_uring]": "it waits through io_uring",
    "anon_inode:[timerfd]": "it waits through a timerfd, which never expires if its time is absolute",
}


@dataclass(slots=True)
class FasterClock:
    """A clock that runs `speed` times as fast for the processes started under it; `pids` collects them."""

    speed: float
    pids: list[int] = field(default_factory=list[int])

    def environment(self, env: Mapping[str, str] | None) -> dict[str, str]:
        """Return the environment of a program under this clock."""
        own = dict(os.environ if env is None else env)
        preloaded = [library(), *filter(None, [own.get("LD_PRELOAD")])]
        return {**own, "LD_PRELOAD": ":".join(preloaded), "FAKETIME": f"+0 x{self.speed:g}"}

    def clean(self) -> None:
        """Remove the shared memory that libfaketime leaves behind when a signal ends its program."""
        for pid in self.pids:
            for name in (f"faketime_shm_{pid}", f"sem.faketime_sem_{pid}"):
                (_SHARED / name).unlink(missing_ok=True)

    async def check(self) -> None:
        """Reject a system that cannot follow. Raises UsageError with the program and the reason."""
        if not self.pids:
            raise refused(self.speed, "the bench starts no process, and only the clocks of its own can be changed")
        # a program just started may still be loading its libraries
        why = self._unfit()
        for _ in range(_LOOKS):
            if not why:
                return
            await anyio.sleep(_PAUSE)
            why = self._unfit()
        raise refused(self.speed, why)

    def _unfit(self) -> str:
        return next((why for pid in _with_children(self.pids) if (why := _unfit(pid))), "")


def refused(speed: float, why: str) -> UsageError:
    """Return the error for an impossible speed."""
    return UsageError(f"speed={speed:g}: {why}; leave the speed out")


CLOCK: ContextVar[FasterClock | None] = ContextVar("clock", default=None)
"""The clock under which processes now start; None: that of the machine."""


@contextmanager
def under(clock: FasterClock | None) -> Generator[None]:
    """Start the processes of this context, and of tasks started in it, under a faster clock."""
    token = CLOCK.set(clock)
    try:
        yield
    finally:
        CLOCK.reset(token)


@cache
def library() -> str:
    """Return the path of libfaketime. Raises UsageError if it is not installed."""
    for pattern in _FOLDERS:
        found = sorted(Path("/").glob(f"{pattern[1:]}/{_LIBRARY}"))
        if found:
            return str(found[0])
    message = f"there is no {_LIBRARY} on this machine, which a faster clock needs"
    raise UsageError(f"{message}; on Debian, `apt-get install faketime` brings it; or leave the speed out")


def _with_children(pids: list[int]) -> Iterator[int]:
    for pid in pids:
        yield pid
        for file in Path(f"/proc/{pid}/task").glob("*/children"):
            # a thread may end between two looks
            with suppress(OSError):
                yield from _with_children([int(each) for each in file.read_text().split()])


def _unfit(pid: int) -> str:
    """Return why a process does not follow the clock, "" if it seems to follow it or has ended."""
    folder = Path(f"/proc/{pid}")
    try:
        mapped = (folder / "maps").read_text(errors="replace")
        if mapped and _LIBRARY not in mapped:
            return _lagging(pid, "libfaketime is not loaded into it; it may be static, set-uid, or clear LD_PRELOAD")
        for descriptor in (folder / "fd").iterdir():
            with suppress(FileNotFoundError):
                if why := _KERNEL.get(str(descriptor.readlink())):
                    return _lagging(pid, why)
        return _lagging(pid, "it is a Go program, which reads clocks itself") if _is_go(folder / "exe") else ""
    except (FileNotFoundError, ProcessLookupError):
        return ""
    except PermissionError:
        return _lagging(pid, "it cannot be examined; it may have other rights, and then loads no libfaketime")


def _is_go(program: Path) -> bool:
    return _has(str(program.readlink()), _GO)


@cache
def _has(path: str, mark: bytes) -> bool:
    # a program that was replaced since its start cannot be searched
    with suppress(OSError, ValueError), Path(path).open("rb") as file:
        size = min(_LARGEST, os.fstat(file.fileno()).st_size)
        return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ).find(mark) >= 0
    return False


def _lagging(pid: int, why: str) -> str:
    name = f"process {pid}"
    with suppress(OSError):
        name = Path(f"/proc/{pid}/comm").read_text(errors="backslashreplace").strip()
    return f"{name} does not follow a faster clock: {why}"
