"""A device with sessions: a message comes every 0.2 s while a session lasts, and without an input it ends by itself.

`otf run session_device` tests a device that is an asyncio server, as a child process and over TCP; `otf mutants
session_device` tests its mutants. Its protocol class also runs in virtual time: see docs/howto-adapters.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, cast

from otf.adapter import Bench, Connect, Line, trace_may_set
from otf.adapters.process import open_process
from otf.adapters.tcp import open_tcp
from otf.codec import lines
from otf.errors import UsageError
from otf.framing import lines as by_line
from otf.models.serving import GRACE, HOST, until_told
from otf.spec import Spec, Transition, goto, start, stop

CYCLE: Final = 0.2
SESSION: Final = 0.9
MOST: Final = 9
"""Cyclic messages that are counted."""
MUTANTS: Final = {
    "endless": "the session never ends by itself",
    "early": "the session ends after half its time",
    "lost": "every third cyclic message is lost",
    "late": "every third cyclic message comes after twice its time",
}


@dataclass(frozen=True, slots=True)
class Begin:
    """Begin a session."""


@dataclass(frozen=True, slots=True)
class Touch:
    """Start the time of the session anew."""


@dataclass(frozen=True, slots=True)
class Finish:
    """End the session."""


@dataclass(frozen=True, slots=True)
class Status:
    """What the device reports: begun, touched, finished or refused as an answer, cycle or expired spontaneously."""

    what: str


Input: TypeAlias = Begin | Touch | Finish
CODEC: Final = lines({Begin: "begin", Touch: "touch", Finish: "finish", Status: "{what}"}, port="line")
TICK: Final = start("tick", 0.75 * CYCLE, 1.5 * CYCLE)
ALIVE: Final = start("session", 0.9 * SESSION, 1.3 * SESSION)


@dataclass(frozen=True, slots=True)
class Session:
    """A session lasts: `cycles` messages came since its time was started, and `before` until it was started anew.

    The counts do not change what is allowed. They make different states, and a tester waits for the timers of states
    that it has seen seldom: without them it would hardly ever wait until a session ends.
    """

    cycles: int = 0
    before: int = 0


State: TypeAlias = Session | None


def step(state: State, inp: Input) -> Iterator[Transition[State]]:
    """Yield what an input causes. A session may end at any moment, so every input has an answer in both states."""
    match state, inp:
        case None, Begin():
            yield goto(Session(), Status("begun"), timers=[TICK, ALIVE])
        case Session(), Touch():
            yield goto(Session(0, state.cycles), Status("touched"), timers=[ALIVE])
        case Session(), Finish():
            yield goto(None, Status("finished"), timers=[stop("tick"), stop("session")])
        case _:
            yield goto(state, Status("refused"))


def emits(state: State) -> Iterator[Transition[State]]:
    """Yield what the timers cause."""
    if state is not None:
        yield goto(replace(state, cycles=min(MOST, state.cycles + 1)), Status("cycle"), after="tick", timers=[TICK])
        yield goto(None, Status("expired"), after="session", timers=[stop("tick")])


SPEC: Final[Spec[State, Input]] = Spec(step, None, [Begin(), Touch(), Finish()], emits, name="session_device")


class Device(asyncio.Protocol):
    """The device under test: lines in, lines out, and two timers of the event loop. It knows nothing of the model."""

    def __init__(self, fault: str = "none") -> None:
        self._fault = fault
        self._cycles = 0
        self._tick: asyncio.TimerHandle | None = None
        self._session: asyncio.TimerHandle | None = None
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.WriteTransport", transport)
        self._loop = asyncio.get_running_loop()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- asyncio calls it so
        """Stop the timers."""
        self._stop()

    def data_received(self, data: bytes) -> None:
        """Take the lines that are complete."""
        *complete, self._received = (self._received + data).split(b"\n")
        for line in complete:
            self._take(line)

    def _take(self, line: bytes) -> None:
        active = self._tick is not None
        if line == b"begin" and not active:
            self._say("begun")
            self._cycles = 0
            self._await_cycle()
            self._extend()
        elif line == b"touch" and active:
            self._say("touched")
            self._extend()
        elif line == b"finish" and active:
            self._say("finished")
            self._stop()
        else:
            self._say("refused")

    def _say(self, what: str) -> None:
        self._transport.write(f"{what}\n".encode())

    def _await_cycle(self) -> None:
        third = self._cycles % 3 == 2  # noqa: PLR2004 -- the third is the one that mutants get wrong
        self._tick = self._loop.call_later(2 * CYCLE if third and self._fault == "late" else CYCLE, self._cycle)

    def _cycle(self) -> None:
        self._cycles += 1
        if self._fault != "lost" or self._cycles % 3:
            self._say("cycle")
        self._await_cycle()

    def _extend(self) -> None:
        if self._session is not None:
            self._session.cancel()
        if self._fault != "endless":
            self._session = self._loop.call_later(SESSION / 2 if self._fault == "early" else SESSION, self._expire)

    def _expire(self) -> None:
        self._say("expired")
        self._stop()

    def _stop(self) -> None:
        for timer in (self._tick, self._session):
            if timer is not None:
                timer.cancel()
        self._tick = self._session = None


@trace_may_set(fault=("none", *MUTANTS))
def bench(*, fault: str = "none") -> Bench:
    """Return the bench of the device; `fault` is one of `MUTANTS`. Raises UsageError for another one."""
    if fault not in {"none", *MUTANTS}:
        message = f"fault={fault}: the device has no such fault; it has none, {', '.join(MUTANTS)}"
        raise UsageError(message)
    return Bench(
        SPEC,
        codec=CODEC,
        connect=_connect(fault),
        outputs=("line",),
        name="session_device",
        # a program in Python on a busy machine is that late now and then
        quiescence=0.05,
        latency=0.03,
        busy=0.03,
        mutants=MUTANTS,
    )


def _connect(fault: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with AsyncExitStack() as stack:
            argv = [sys.executable, "-m", "otf.models.session_device", fault]
            process = await stack.enter_async_context(open_process(argv, ready=None, grace=GRACE))
            port = int(await until_told(process, bytes.isdigit))
            yield {"line": await stack.enter_async_context(open_tcp((HOST, port), by_line()))}

    return connect


async def serve(fault: str) -> None:
    """Serve one connection at a time on a free port, and print its number."""
    server = await asyncio.get_running_loop().create_server(lambda: Device(fault), HOST, 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(*sys.argv[1:]))
