"""Counts where the time of a campaign goes: a user who sees the largest share knows what to change."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from typing import Final, TypeVar

from otf.core.model_calls import CURRENT

Opened = TypeVar("Opened")


@dataclass(slots=True)
class TimeSpent:
    """Seconds of a campaign, summed over parallel paths.

    `silence`: waits in which nothing came. `wire`: waits that ended with an output, and sending. `timers`: waits for
    times of the model, whatever came in them. `starts`: starting and stopping the system. `model`: the CPU time
    of the model's functions. `otf`: the rest of the tester's CPU time, including that of a system in this process.
    """

    silence: float = 0.0
    wire: float = 0.0
    timers: float = 0.0
    starts: float = 0.0
    model: float = 0.0
    otf: float = 0.0

    def shares(self) -> Mapping[str, float]:
        """Return the seconds by name, the largest first."""
        seconds = {name: getattr(self, name) for name in ("silence", "wire", "timers", "starts", "model", "otf")}
        return dict(sorted(seconds.items(), key=lambda each: -each[1]))

    def add(self, other: TimeSpent) -> None:
        """Add what another process counted."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    def waited(self, seconds: float, *, silent: bool, timed: bool = False) -> None:
        """Count a wait: `silent` if nothing came in it, `timed` if the model itself waits that long."""
        if timed:
            self.timers += seconds
        elif silent:
            self.silence += seconds
        else:
            self.wire += seconds

    @asynccontextmanager
    async def starting(self, opening: AbstractAsyncContextManager[Opened]) -> AsyncGenerator[Opened, None]:
        """Count how long a context takes to enter and to leave, even if it is interrupted."""
        from otf.adapter.waiting import clock  # a model file needs no event loop

        now = clock()
        began = now()
        try:
            async with opening as opened:
                self.starts += now() - began
                try:
                    yield opened
                finally:
                    began = now()
        finally:
            self.starts += now() - began


_SPENT: Final = ContextVar[TimeSpent | None]("spent", default=None)


def spent() -> TimeSpent:
    """Return the count of the current campaign, or an unused one if there is no campaign."""
    return _SPENT.get() or TimeSpent()


@contextmanager
def spending(count: TimeSpent) -> Generator[TimeSpent, None, None]:
    """Count the time until the context is left; enter it within the event loop."""
    from otf.adapter.waiting import clock
    from otf.runner.cpu_use import in_real_time

    token, before = _SPENT.set(count), CURRENT.clock
    cpu, model = time.process_time(), CURRENT.seconds
    # the machine's clock would count other programs, and leave nothing of the tester's CPU time for otf itself
    CURRENT.clock = time.thread_time if in_real_time() else clock()
    try:
        yield count
    finally:
        CURRENT.clock = before
        _SPENT.reset(token)
        count.model += CURRENT.seconds - model
        count.otf += max(0.0, time.process_time() - cpu - count.model)
