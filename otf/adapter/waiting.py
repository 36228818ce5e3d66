"""Waits until one of several descriptors is ready or a time is over; also reads the clock."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TypeAlias

import anyio

Alarm: TypeAlias = Callable[[float, Callable[[], None]], None]
"""Takes a time of anyio's clock and a function to call then, if the context is still open."""


async def any_readable(descriptors: Iterable[int]) -> None:
    """Wait until one of these descriptors is readable; no other task may wait for any of them."""
    async with anyio.create_task_group() as waiting:

        async def wait(descriptor: int) -> None:
            await anyio.wait_readable(descriptor)
            waiting.cancel_scope.cancel()

        for descriptor in descriptors:
            waiting.start_soon(wait, descriptor)
        await anyio.sleep_forever()


@asynccontextmanager
async def alarms() -> AsyncGenerator[Alarm, None]:
    """Return a function that sets alarms; leaving the context cancels all of them.

    Errors of the body are raised as they are, not in a group as from a plain task group.
    """
    loop = asyncio_loop()
    if loop is None:
        async with _tasks() as alarm:
            yield alarm
        return
    calls = _Calls(loop)
    try:
        yield calls.alarm
    finally:
        calls.off()


Spawn: TypeAlias = Callable[..., object]
"""Starts a coroutine function with its arguments as a task."""


@asynccontextmanager
async def spawning() -> AsyncGenerator[Spawn, None]:
    """Return a function that starts tasks, which all end with the context. Errors of the body are raised ungrouped."""
    failure: BaseException | None = None
    async with anyio.create_task_group() as tasks:
        try:
            yield tasks.start_soon
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # noqa: BLE001 -- raised again below, outside the task group
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


class _Calls:
    """Alarms as timers of asyncio's loop: a task per alarm would cost ten times as much, and each byte may set one."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._set = set[asyncio.TimerHandle]()

    def alarm(self, at: float, ring: Callable[[], None]) -> None:
        """Set an alarm."""
        handle: asyncio.TimerHandle

        def rung() -> None:
            self._set.discard(handle)
            # a loop may ring a rounding error early, and no alarm would follow
            if self._loop.time() < at:
                self.alarm(at, ring)
            else:
                ring()

        handle = self._loop.call_at(at, rung)
        self._set.add(handle)

    def off(self) -> None:
        """Cancel all alarms."""
        for handle in self._set:
            handle.cancel()


def from_threads() -> Callable[[Callable[[], object]], object]:
    """Return a function that makes the event loop call another soon; it may be called from any thread."""
    loop = asyncio_loop()
    if loop is not None:
        return loop.call_soon_threadsafe
    from trio.lowlevel import current_trio_token

    return current_trio_token().run_sync_soon


def asyncio_loop() -> asyncio.AbstractEventLoop | None:
    """Return the running asyncio loop; None on other loops, whose clock may be virtual."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


@asynccontextmanager
async def _tasks() -> AsyncGenerator[Alarm, None]:
    async with spawning() as start:

        def alarm(at: float, ring: Callable[[], None]) -> None:
            start(_ring, at, ring)

        yield alarm


async def _ring(at: float, ring: Callable[[], None]) -> None:
    while anyio.current_time() < at:  # noqa: ASYNC110 -- a loop may wake it a rounding error early
        await anyio.sleep_until(at)
    ring()


def clock() -> Callable[[], float]:
    """Return the function that reads the event loop's clock, since a step calls it many times.

    On each call, anyio has to find out which loop it is on, which takes ten times as long as the answer. Uvloop's own
    time is that of its last turn, in whole milliseconds, although it wakes by the same clock.
    """
    loop = asyncio_loop()
    if loop is None:
        return anyio.current_time
    real = type(loop).time is asyncio.BaseEventLoop.time or type(loop).__module__.startswith("uvloop")
    return time.monotonic if real else loop.time
