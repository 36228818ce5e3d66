"""A device with sessions: a message comes every 0.2 s while a session lasts, and it ends by itself without input.

`otf run session_device` tests a device that is an asyncio server, as a child process and over TCP; `otf mutants
session_device` tests its mutants. Its protocol class also runs in virtual time: see docs/howto-adapters.md.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from otf.adapter import Bench, Connect, Line, trace_may_set
from otf.adapters.tcp import open_tcp
from otf.codec import lines
from otf.errors import UsageError
from otf.framing import lines as by_line
from otf.models import session_server
from otf.models.serving import HOST, started
from otf.models.session_server import CYCLE, SESSION
from otf.spec import Spec, Transition, goto, start, stop

MOST: Final = 9
"""How many cyclic messages to count."""
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
    """Restart the time of the session."""


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
# the first cyclic message after the window shows a session that does not end. It comes well after the window: right
# after it, every stall of the machine would be an excuse
ALIVE: Final = start("session", 0.9 * SESSION, 1.2 * SESSION)


@dataclass(frozen=True, slots=True)
class Session:
    """A session: `cycles` messages came since its time was started, and `before` up to the restart.

    The counts do not change what is allowed. But they make different states, and a tester waits for the timers of rare
    states: without them it would hardly ever wait until a session ends.
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


@trace_may_set(fault=("none", *MUTANTS))
def bench(*, fault: str = "none") -> Bench:
    """Return the bench of the device; `fault` is one of `MUTANTS`. Raises UsageError for another one."""
    if fault not in {"none", *MUTANTS}:
        message = f"fault={fault}: the device has no such fault; it has {', '.join(MUTANTS)}, or none"
        raise UsageError(message)
    return Bench(
        SPEC,
        codec=CODEC,
        connect=_connect(fault),
        outputs=("line",),
        name="session_device",
        # a Python program on a busy machine is sometimes this late
        quiescence=0.05,
        latency=0.03,
        busy=0.03,
        mutants=MUTANTS,
    )


def _connect(fault: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with AsyncExitStack() as stack:
            argv = [sys.executable, "-I", "-S", session_server.__file__, fault]
            _, port = await started(stack, argv)
            yield {"line": await stack.enter_async_context(open_tcp((HOST, port), by_line()))}

    return connect
