"""A node on a virtual CAN bus, its model and bench: a session, a lock, status frames with a counter and a checksum."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count
from threading import Event, Thread
from typing import Any, Final

import anyio.to_thread

from otf.adapter import Bench, Connect, Line, trace_may_set
from otf.adapters.can import can
from otf.codec.can import CanCodec, CanFrame
from otf.compose import cyclic
from otf.errors import UsageError
from otf.spec import Elapse, Spec, Transition, goto, start, stop

CYCLE: Final = 0.05
SESSION: Final = 0.75
REQUESTS, ANSWERS, STATUS = 0x600, 0x601, 0x100
BEGIN, END, SEED, KEY, PRESENT = range(1, 6)
YES, NO, ENDED = 0x50, 0x7F, 0x51
RIGHT: Final = 0x2A
FAULTS: Final = {
    "doubled": "the session lasts twice as long once the node was unlocked",
    "checksum": "the checksum of a status frame is wrong where its counter is 15",
}
_NUMBERS: Final = count()


def checksum(data: bytes) -> int:
    """Return the checksum of the bytes of a status frame."""
    return (0x1D * sum(data) + 7) & 0xFF


class Node:
    """The node under test: one thread on a bus. It knows no model; `fault` is one of `FAULTS`."""

    def __init__(self, channel: str, fault: str) -> None:
        from can import Bus

        self._fault, self._over = fault, Event()
        self._bus = Bus(interface="virtual", channel=channel, ignore_config=True)
        self._session = self._seeded = self._open = False
        self._ends, self._counter = 0.0, 0
        self._tick = time.monotonic() + CYCLE
        self._thread = Thread(target=self._run, name="node", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread, and leave the bus."""
        self._over.set()
        self._thread.join()
        self._bus.shutdown()

    def _run(self) -> None:
        while not self._over.is_set():
            due = min(self._tick, self._ends) if self._session else self._tick
            message = self._bus.recv(max(0.0, due - time.monotonic()))
            if message is not None and message.arbitration_id == REQUESTS:
                self._take(bytes(message.data))
            now = time.monotonic()
            if self._session and now >= self._ends:
                self._session = self._seeded = self._open = False
                self._send(ANSWERS, bytes([ENDED]))
            if now >= self._tick:
                # a node that kept step by its own clock would send several at once after the machine has stalled
                self._tick = max(self._tick + CYCLE, now)
                self._status()

    def _status(self) -> None:
        data = bytes([self._counter, int(self._session)])
        wrong = self._fault == "checksum" and self._counter == 15  # noqa: PLR2004 -- the last of four bits
        self._send(STATUS, data + bytes([checksum(data) ^ wrong]))
        self._counter = (self._counter + 1) % 16

    def _take(self, data: bytes) -> None:
        before, what = self._session, data[0]
        if what == BEGIN:
            self._session, self._seeded, self._open = True, False, False
        elif what == END:
            self._session = False
        elif what == SEED:
            self._seeded = before
        elif what == KEY:
            granted, self._seeded = self._seeded and data[1] == RIGHT, False
            self._open = self._open or granted
            before = granted
        if self._session:
            self._ends = time.monotonic() + SESSION * (2 if self._open and self._fault == "doubled" else 1)
        self._send(ANSWERS, bytes([YES if before or what == BEGIN else NO, what]))

    def _send(self, number: int, data: bytes) -> None:
        from can import Message

        self._bus.send(Message(arbitration_id=number, is_extended_id=False, data=data))


@dataclass(frozen=True, slots=True)
class Lock:
    """What the node keeps."""

    session: bool = False
    seeded: bool = False
    open: bool = False


ALIVE: Final = start("session", 0.9 * SESSION, 1.2 * SESSION)


def request(*data: int) -> CanFrame:
    """Return a frame to the node."""
    return CanFrame(REQUESTS, bytes(data))


def answer(*data: int) -> CanFrame:
    """Return a frame of the node."""
    return CanFrame(ANSWERS, bytes(data))


INPUTS: Final = (*map(request, (BEGIN, END, SEED, PRESENT)), request(KEY, RIGHT), request(KEY, 0))


def inputs(state: Lock) -> Iterator[Any]:
    """Yield the requests, and in a session waits."""
    yield from (*INPUTS, Elapse(0.5 * SESSION), Elapse(1.5 * SESSION)) if state.session else INPUTS


def step(state: Lock, inp: Any) -> Iterator[Transition[Lock]]:
    """Yield what a request causes; each one in a session starts its time anew."""
    if isinstance(inp, Elapse):
        return
    what, then, granted = inp.data[0], state, state.session
    match what:
        case 1:
            then, granted = Lock(session=True), True
        case 2:
            then = Lock()
        case 3:
            then = replace(state, seeded=state.session)
        case 4:
            granted = state.seeded and inp.data[1] == RIGHT
            then = replace(state, seeded=False, open=state.open or granted)
        case _:
            pass
    timers = [ALIVE] if then.session else [stop("session")]
    yield goto(then, answer(YES if granted else NO, what), timers=timers)


def emits(state: Lock) -> Iterator[Transition[Lock]]:
    """Yield the end of a session."""
    if state.session:
        yield goto(Lock(), answer(ENDED), after="session")


def status(state: Lock, number: int) -> CanFrame:
    """Return the status frame of a state with this number."""
    data = bytes([number, int(state.session)])
    return CanFrame(STATUS, data + bytes([checksum(data)]))


SPEC: Final = cyclic(
    Spec(step, Lock(), inputs, emits, name="node"), "status", status, every=CYCLE, jitter=0.01, wraps=16
)


@trace_may_set(fault=("none", *FAULTS))
def bench(*, fault: str = "none") -> Bench:
    """Return the bench of the node; `fault` is one of `FAULTS`. Raises UsageError for another one."""
    if fault not in {"none", *FAULTS}:
        raise UsageError(f"fault={fault}: the node has no such fault; it has none, {', '.join(FAULTS)}")
    return Bench(
        SPEC,
        codec=CanCodec("bus"),
        connect=_connect(fault),
        outputs=("bus",),
        name="late_node",
        quiescence=0.02,
        latency=0.02,
        busy=0.01,
        mutants=FAULTS,
    )


def _connect(fault: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with AsyncExitStack() as stack:
            channel = f"otf-late-{next(_NUMBERS)}"
            line = await stack.enter_async_context(can(f"can://virtual/{channel}")())
            node = Node(channel, fault)
            try:
                yield {"bus": line}
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(node.close)

    return connect
