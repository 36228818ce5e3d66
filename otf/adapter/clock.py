"""The clock of lines and runs: that of the event loop, and virtual where that is, without the way through anyio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import anyio


def clock() -> Callable[[], float]:
    """Return the function that tells the time by which the event loop wakes: a step asks for it many times.

    Anyio finds out at each call which loop it is on, which takes ten times as long as the answer. Uvloop's own time is
    that of its last turn, in whole milliseconds, though it wakes by the same clock.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return anyio.current_time
    real = type(loop).time is asyncio.BaseEventLoop.time or type(loop).__module__.startswith("uvloop")
    return time.monotonic if real else loop.time
