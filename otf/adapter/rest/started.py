"""Who started which process: children of the tester that belong to one system, and those that belong to none."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Final

_SUBREAPER: Final = 36  # PR_SET_CHILD_SUBREAPER

OURS: Final = set[int]()
"""Children that the tester started by itself: they belong to one run, or to none, and somebody waits for them."""

_starting: ContextVar[set[int] | None] = ContextVar("starting", default=None)


def started(pid: int, *, helper: bool = False) -> None:
    """Note a process that was started, for the system that is being opened; a `helper` of the tester is for none."""
    OURS.add(pid)
    system = _starting.get()
    if system is not None and not helper:
        system.add(pid)


def ended(pid: int) -> None:
    """Forget a process that was started: it was waited for, and its number may be somebody else's now."""
    OURS.discard(pid)


@contextmanager
def starting() -> Generator[set[int]]:
    """Return the set into which the processes go that are started in the body, by this task."""
    system = set[int]()
    token = _starting.set(system)
    try:
        yield system
    finally:
        with suppress(ValueError):  # left in another context than it was entered in
            _starting.reset(token)


def adopt() -> bool:
    """Let orphans of what the tester starts become its own children; return whether the kernel does that."""
    if sys.platform != "linux":
        return False
    return int(ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)) == 0
