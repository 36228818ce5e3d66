"""The life of a system over the paths of a campaign: started, reset, examined, settled, and stopped."""

from __future__ import annotations

import signal
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio

from otf.adapter.child.child import Child, Program, words
from otf.adapter.child.faster import FASTEST, FasterClock, under
from otf.adapter.child.hook import Hook, obey
from otf.adapter.child.reading import Reading
from otf.adapter.line import Ending, Line, LineLost, Trouble
from otf.adapter.waiting import alarms, spawning
from otf.errors import ContactError, UsageError
from otf.framing import lines

OpenLines = Mapping[str, Line]
Connected = Callable[[], AbstractAsyncContextManager[OpenLines]]

_LAST: Final = 5.0
_LOOK: Final = 0.005


@dataclass(frozen=True, kw_only=True)
class Life:
    """What is done with a system before each path and after it; each part may be left out. Times are seconds.

    In this order: `reset` (a power cycle, a script that brings the test bed into order); `server` is started in a
    session of its own, and is there once it has printed the line `ready` (None: at once); the ports are opened;
    `inband` is sent, frames by port, in a sequence that brings the system into its initial state; for `settle` seconds
    all output is dropped; `health` checks that the system is well. After the path the ports are closed and the
    server is stopped with all that it started.

    `speed` is how many times as fast the clocks of the system run, under libfaketime: of `server` and of all processes
    that the ports start, not of hooks. The quiescence time, R and the time windows of the model stay in seconds of the
    system; L does not change. A system that cannot follow is refused, with the reason.

    `timeout` bounds each hook and the start. What fails is trouble with the test bed, and no failure of the system: the
    start is tried again as often as the bench says in `retries`, and then the campaign is inconclusive.
    """

    reset: Hook | None = None
    server: Program | None = None
    ready: str | None = None
    inband: Sequence[tuple[str, bytes]] = ()
    settle: float = 0.0
    health: Hook | None = None
    timeout: float = 10.0
    grace: float = 0.2
    env: Mapping[str, str] | None = field(default=None, repr=False)
    speed: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a speed that is none."""
        if not 1 <= self.speed <= FASTEST:
            raise UsageError(f"speed={self.speed}: a number from 1 to {FASTEST:g} is needed; 1 is the clock as it is")


@asynccontextmanager
async def living(life: Life, connect: Connected) -> AsyncGenerator[OpenLines, None]:
    """Bring a system to life and connect with it. Raises ContactError where that fails."""
    async with AsyncExitStack() as stack:
        if life.reset is not None:
            await obey(life.reset, "the reset hook", life.timeout)
        clock = FasterClock(life.speed) if life.speed > 1 else None
        if clock is not None:
            stack.callback(clock.clean)
        with under(clock):
            if life.server is not None:
                await stack.enter_async_context(_serving(life, life.server))
            opened = await stack.enter_async_context(connect())
        if clock is not None:
            await clock.check()
        await _quieten(life, opened)
        if life.health is not None:
            await obey(life.health, "the health check", life.timeout)
        yield opened


async def _quieten(life: Life, opened: OpenLines) -> None:
    """Bring the system into its initial state, and drop its answers to that."""
    for port, data in life.inband:
        try:
            await opened[port].send(data)
        except LineLost as lost:
            message = f"the reset over port {port!r} failed: {lost}"
            raise ContactError(message) from lost
    until = anyio.current_time() + life.settle
    while life.settle:
        for port, line in opened.items():
            _drop(port, line)
        if anyio.current_time() >= until:
            return
        await anyio.sleep(_LOOK)


def _drop(port: str, line: Line) -> None:
    while batch := line.receive():
        for arrival in batch:
            if isinstance(arrival, (Ending, Trouble)):
                message = f"port {port!r} ended while the system was to settle: {arrival.reason}"
                raise ContactError(message)


@asynccontextmanager
async def _serving(life: Life, command: Program) -> AsyncGenerator[None, None]:
    async with alarms() as alarm:
        child = Child(words(command), life.env)
        reading = Reading(child, lines()(), alarm)
        try:
            if life.ready is not None:
                await _printed(reading, life.ready, life.timeout, child.command)
            # nothing else reads its output, and full pipes would stop it
            async with spawning() as start:
                start(_drained, reading)
                yield
        finally:
            with anyio.CancelScope(shield=True):
                await _stopped(child, reading, life.grace)


async def _printed(reading: Reading, ready: str, seconds: float, command: str) -> None:
    with anyio.move_on_after(seconds):
        while True:
            reading.look()
            while reading.inflow.queue:
                arrival = reading.inflow.queue.popleft()
                if isinstance(arrival, Ending):
                    raise _unready(f"`{command}` was never ready: {arrival.reason}", reading)
                if getattr(arrival, "data", b"") == ready.encode():
                    return
            await reading.more()
    raise _unready(f"`{command}` did not print the line {ready!r} within {seconds:g} s", reading)


def _unready(why: str, reading: Reading) -> ContactError:
    errors = (
        "".join(f"\n  stderr: {line}" for line in reading.tail.lines()) or "\n  it printed nothing on standard error"
    )
    return ContactError(f"{why}; start it by hand to see why{errors}")


async def _drained(reading: Reading) -> None:
    while reading.descriptors():
        await reading.more()
        reading.look()
        reading.inflow.queue.clear()


async def _stopped(child: Child, reading: Reading, grace: float) -> None:
    """Stop a server and all that it started: by SIGTERM, and after the grace by SIGKILL."""
    for descriptor in (child.stdin, *reading.descriptors()):
        anyio.notify_closing(descriptor)
    for number, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, _LAST)):
        child.signal(number)
        with anyio.move_on_after(seconds):
            await _until_ended(reading)
    reading.close()
    child.close()


async def _until_ended(reading: Reading) -> None:
    reading.look()
    while not reading.ended and reading.descriptors():
        await reading.more()
        reading.look()
        reading.inflow.queue.clear()
