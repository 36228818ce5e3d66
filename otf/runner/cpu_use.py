"""Reads from the kernel how much processor time the tester's child processes got, or else the whole machine."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import get_native_id
from typing import Final

from otf.adapter.observed_rest.elsewhere import KERNEL, carriers
from otf.adapter.observed_rest.owners import OURS
from otf.adapter.waiting import asyncio_loop
from otf.codec.trial import TRIALS
from otf.core.stalls import CpuUse, ThreadUse

PROC: Final = Path("/proc")
MOST: Final = 200  # processes, and threads of each: a fork bomb must not hold up the tester
_SECOND: Final = 1e9  # nanoseconds


def cpu_use(
    own: Collection[int] | None = None, *, shared: bool = False, threads: bool = False, proc: Path = PROC
) -> CpuUse:
    """Return what the tester's descendants have done; if there are none, how long this machine kept tasks waiting.

    `own` lists the processes of this system: children started for other systems are left out, and listed processes that
    the tester did not start are included. With KERNEL, what carries bytes counts too; KERNEL alone means that the
    system is on another machine. `shared`: the tester tests several systems, and neglects the others while it computes
    for one. `threads`: the system runs in threads of this process, and other processes are ignored. If the kernel shows
    nothing (not Linux, or /proc not mounted), all values are zero.
    """
    if threads:
        return _beside_the_tester(proc, shared=shared)
    own, others = own or (), TRIALS | (set[int]() if own is None else OURS.difference(own))
    roots = [os.getpid(), *(each for each in own if each != KERNEL and (proc / str(each)).exists())]
    found, tester = _descendants(proc, roots, others), _tester(proc, shared=shared)
    if not found and {*own} != {KERNEL}:
        return CpuUse(pressure(proc), own=tester)
    carry = carriers(proc) if KERNEL in own else []
    return _summed([*carry, *(thread for pid in found for thread in _threads(proc / str(pid)))], tester)


def _beside_the_tester(proc: Path, *, shared: bool) -> CpuUse:
    tester, own = str(get_native_id()), _tester(proc, shared=shared)
    found = _summed((each for each in _threads(proc / "self") if each.name != tester), own)
    # the kernel does not count waits for Python's lock; the thread that holds it runs, or waits for a processor
    return found._replace(waited=found.waited + found.ran + _tester(proc, shared=True))


def _summed(threads: Iterable[Path], tester: float) -> CpuUse:
    found, stuck = list[ThreadUse](), list[ThreadUse]()
    for thread in threads:
        # a process may end at any moment
        with suppress(OSError, ValueError, IndexError):
            # Reads the state first, so that a thread that falls asleep between the two readings has been counted.
            # Before the state comes the program's name in brackets, and may itself contain brackets.
            state = (thread / "stat").read_bytes().rpartition(b")")[2].split()[0]
            ran, waited, got = map(int, (thread / "schedstat").read_bytes().split()[:3])
            found.append(ThreadUse(thread.name, ran / _SECOND, waited / _SECOND, got))
            # a thread that is stopped, by a signal or a debugger, cannot run either
            if state in b"RTt":
                stuck.append(found[-1])
    use = CpuUse(
        sum(each.waited for each in found), sum(each.ran for each in found), bool(stuck), known=True, own=tester
    )
    return use._replace(threads=frozenset(found), stuck=frozenset(stuck))


def own_use(proc: Path = PROC) -> tuple[float, float]:
    """Return for how many seconds this thread ran so far, and for how many it waited for a processor."""
    with suppress(OSError, ValueError):
        ran, waited = map(int, (proc / "thread-self" / "schedstat").read_bytes().split()[:2])
        return ran / _SECOND, waited / _SECOND
    return 0.0, 0.0


def _tester(proc: Path, *, shared: bool) -> float:
    ran, waited = own_use(proc)
    return waited + ran * shared


def _descendants(proc: Path, roots: Sequence[int], others: Collection[int]) -> list[int]:
    """Return what the first of the roots has started, and the other roots with what they have started."""
    found = list(dict.fromkeys(roots))
    for process in found:
        for thread in _threads(proc / str(process)):
            with suppress(OSError, ValueError):
                children = map(int, (thread / "children").read_bytes().split())
                found += [each for each in children if each not in others and each not in found]
        if len(found) > MOST:
            break
    return found[1:]


def _threads(process: Path) -> list[Path]:
    with suppress(OSError):
        return [process / "task" / name for name in os.listdir(process / "task")[:MOST]]  # noqa: PTH208 -- half the time
    return []


def pressure(proc: Path = PROC) -> float:
    """Return for how many seconds tasks of this machine have waited for a processor so far; 0 if unknown."""
    with suppress(OSError, ValueError, IndexError):
        some = (proc / "pressure" / "cpu").read_bytes().splitlines()[0]
        return int(some.rpartition(b"total=")[2]) / 1e6
    return 0.0


def in_real_time() -> bool:
    """Return whether the event loop uses the machine's clock: virtual time does not stall."""
    loop = asyncio_loop()
    if loop is None:
        trio = sys.modules.get("trio")
        if trio is None or not trio.lowlevel.in_trio_run():
            return False
        return type(trio.lowlevel.current_clock()).__name__ == "SystemClock"
    return type(loop).time is asyncio.BaseEventLoop.time or type(loop).__module__.startswith("uvloop")
