"""Running asynchronous work so that Ctrl-C and SIGTERM end it cleanly: it is cancelled, and cleans up behind itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar, cast

import anyio

from otf.cli.signals import SIGNALS, Stuck

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """What the work returned (None where it was interrupted), and the number of the signal that interrupted it."""

    value: T | None
    signal: int = 0

    def status(self, otherwise: int) -> int:
        """Return the exit status: 130 or 143 where it was interrupted, else the given one."""
        return 128 + self.signal if self.signal else otherwise


def interruptible(work: Callable[[], Awaitable[T]]) -> Done[T]:
    """Run `work` to its end or to a signal; exceptions come out as they are, not in groups."""
    if SIGNALS.number:  # it came while a result was told: no more work is begun
        return Done(None, SIGNALS.number)
    try:
        return _run(work)
    except Stuck:  # the event loop did not hear of the signal
        return Done(None, SIGNALS.number)


def _run(work: Callable[[], Awaitable[T]]) -> Done[T]:
    try:
        # by name, since the handler of a signal may call asyncio's call_soon_threadsafe
        return anyio.run(_watched, work, backend="asyncio")
    except BaseExceptionGroup as group:
        raise _only(group) from None


async def _watched(work: Callable[[], Awaitable[T]]) -> Done[T]:
    loop = asyncio.get_running_loop()
    with anyio.CancelScope() as scope:

        def stop() -> None:
            SIGNALS.reached()
            scope.cancel()

        with SIGNALS.stopping(partial(loop.call_soon_threadsafe, stop)):
            value = await work()
        return Done(value, SIGNALS.number)
    return Done(None, SIGNALS.number)


def _only(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    if isinstance(first, BaseExceptionGroup):
        return _only(cast("BaseExceptionGroup[BaseException]", first))
    return first
