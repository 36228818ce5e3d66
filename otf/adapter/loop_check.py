"""Ends a process in which Python itself no longer works: code of a bench can break what every loop needs.

If `len` is replaced, asyncio finds nothing to do and spins forever, as may any loop of otf; no time limit and no Ctrl-C
ever takes effect. Only another thread can see that.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from asyncio import AbstractEventLoop
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

from otf.errors import INCONCLUSIVE

LOOKS: Final = 12
"""Looks at a loop that was running, had a processor, and had not done what it was last asked; together 3 s."""
_BY: Final = "code of the bench, its model or its system changed what it needs; nothing can be judged"
NO_LOOP: Final = f"the event loop does nothing that it is asked: {_BY}"
NO_PYTHON: Final = f"len, range and the like do not work, or the recursion limit is below 200: {_BY}"
DEEP: Final = 200  # nested calls that otf and its event loop need; Python allows 1,000


class Waitable(Protocol):
    """What a watchdog waits for."""

    def wait(self, timeout: float, /) -> bool:
        """Wait up to `timeout` seconds; return whether it is over."""
        ...


class LoopCheck:
    """Waits like an event, and ends the process if this thread's event loop does nothing any more.

    >>> LoopCheck(threading.Event(), print).wait(0.01)
    False
    """

    def __init__(self, over: Waitable, tell: Callable[[str], object]) -> None:
        self._over, self._tell = over, tell
        self._loop, self._thread = _running(), threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self._thread)
        self._beats, self._missed, self._used = True, 0, 0.0

    def wait(self, seconds: float) -> bool:
        """Return whether it is over."""
        if self._over.wait(seconds):
            return True
        if not sound():
            self._end(NO_PYTHON)
        if self._loop is not None:
            self._look(self._loop)
        return False

    def _look(self, loop: AbstractEventLoop) -> None:
        # A busy machine may leave the loop without a processor for seconds while this thread has one. A broken loop,
        # however, spins at each look.
        before, self._used = self._used, time.clock_gettime(self._clock)
        if self._beats or not in_loop(self._thread):
            # a model or system at work for long keeps the loop from its turn, but breaks nothing
            self._missed = 0
        elif self._used > before:
            self._missed += 1
        self._beats = False
        with suppress(RuntimeError):  # it was closed
            loop.call_soon_threadsafe(self._beat)
        if self._missed >= LOOKS:
            self._end(NO_LOOP)

    def _end(self, why: str) -> None:
        self._tell(why)
        os._exit(INCONCLUSIVE)

    def _beat(self) -> None:
        self._beats = True


def _running() -> AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def sound() -> bool:
    """Return whether the functions that every loop needs still give the right results, whatever replaces them.

    >>> sound()
    True
    """
    with suppress(Exception):
        if sys.getrecursionlimit() < DEEP:
            return False
        counts = len((1, 2)), max(1, 2), min(2, 3), sum((1, 1)), [*range(2)][1] + 1, sorted((2, 1))[1]
        one = next(iter((1,)))
        return set(counts) == {2} and isinstance(one, int)  # pyright: ignore[reportUnnecessaryIsInstance] -- it may be another one
    return False


def in_loop(thread: int) -> bool:
    """Return whether a thread is in the event loop itself, not in something that it calls."""
    frame = sys._current_frames().get(thread)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] -- Python offers no other way
    return frame is not None and frame.f_globals.get("__name__") in _LOOP


_LOOP: Final = {"selectors", "asyncio.base_events", "asyncio.selector_events"}
