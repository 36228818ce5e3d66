"""A control unit of a car: UDS (ISO 14229-1) over ISO-TP, with cyclic frames and a session timer, on a virtual bus.

`otf run ecu` tests the unit of otf/models/ecu_server.py; `otf mutants ecu` its mutants. `--set bus=socketcan/can0`
tests a unit on your own bus.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import Annotated, Final

import anyio.to_thread

from otf.adapter import Bench, Connect, Line, PortAction, trace_may_set
from otf.adapters import can, isotp
from otf.codec.can import CanCodec, CanFrame
from otf.codec.fields import raw, rest, u8
from otf.codec.records import records
from otf.errors import UsageError
from otf.models.ecu_server import (
    ATTEMPTS,
    CYCLE,
    DEFAULT,
    DENIED,
    EXCEEDED,
    EXTENDED,
    KEY,
    LENGTH,
    NOT_NOW,
    PRESENT,
    RANGE,
    READ,
    SECURITY,
    SEED,
    SEQUENCE,
    SESSION,
    SESSION_CONTROL,
    STATUS,
    SUPPRESS,
    VIN,
    VIN_ID,
    WRITE,
    WRONG_KEY,
    Ecu,
)
from otf.spec import Elapse, Spec, Transition, goto, start, stop

MUTANTS: Final = {
    "endless": "the session never ends by itself",
    "early": "a request prolongs the session by half its time",
    "deaf": "tester present does not prolong the session",
    "lost": "every third status frame is lost",
    "chatty": "it answers a tester present whose answer is to be suppressed",
    "unlocked": "a new session does not lock the unit again",
    "patient": "any number of wrong keys may be tried",
    "short": "the last character of the VIN is missing",
}
MOST: Final = 1  # cyclic frames to count: more would scatter the paths, and lead away from the unlocked states
_NUMBERS: Final = count()


@dataclass(frozen=True)
class Uds:
    """A message of UDS: the number of a service, and what follows; a positive answer has 0x40 more, a refusal 0x7F."""

    service: Annotated[int, u8]
    data: Annotated[bytes, raw(rest)]


@dataclass(frozen=True, slots=True)
class EcuState:
    """What the unit keeps: the session with its status frames (None: the default one), the lock, and the VIN.

    The number of frames does not change what is allowed: see `session_device`.
    """

    cycles: int | None = None
    is_open: bool = False
    is_seeded: bool = False
    wrong: int = 0
    vin: bytes = VIN


class EcuCodec:
    """UDS on the port `diag`, status frames on the port `bus`."""

    types = (Uds, CanFrame)
    _uds = records(Uds)
    _can = CanCodec("bus")

    def port(self, value: object) -> str:
        """Return the port of a message or a frame."""
        return "bus" if isinstance(value, CanFrame) else "diag"

    def encode(self, value: object) -> bytes | PortAction:
        """Return the bytes of a message or a frame. Raises CodecError."""
        return self._can.encode(value) if isinstance(value, CanFrame) else self._uds.encode(value)

    def decode(self, port: str, data: bytes) -> object:
        """Return the message in these bytes. Raises CodecError."""
        return (self._can if port == "bus" else self._uds).decode(port, data)


TICK: Final = start("tick", 0.75 * CYCLE, 1.5 * CYCLE)
ALIVE: Final = start("session", 0.9 * SESSION, 1.3 * SESSION)
ENDS: Final = (stop("tick"), stop("session"))
OTHER: Final = b"W0L00000000000002"


def status(session: int) -> CanFrame:
    """Return the status frame of a session."""
    return CanFrame(STATUS, bytes([session]))


def refused(inp: Uds, code: int) -> Uds:
    """Return the refusal of a request."""
    return Uds(0x7F, bytes([inp.service, code]))


def granted(inp: Uds, data: bytes) -> Uds:
    """Return the positive answer to a request."""
    return Uds(inp.service + 0x40, data)


def step(state: EcuState, inp: Uds | Elapse) -> Iterator[Transition[EcuState]]:
    """Yield what a request causes; each one restarts the time of an extended session."""
    if isinstance(inp, Elapse):
        return
    if inp.service == SESSION_CONTROL:
        extended = inp.data[0] == EXTENDED
        then = replace(state, cycles=0 if extended else None, is_open=False, is_seeded=False)
        answer = granted(inp, inp.data[:1] + bytes.fromhex("003201f4"))
        yield goto(then, answer, timers=[TICK, ALIVE] if extended else list(ENDS))
        return
    then, answers = _served(state, inp)
    yield goto(then, *answers, timers=[] if state.cycles is None else [ALIVE])


def _served(state: EcuState, inp: Uds) -> tuple[EcuState, list[Uds]]:  # noqa: PLR0911 -- one for each rule, in order
    match inp.service:
        case 0x3E:
            return state, [] if inp.data[0] & SUPPRESS else [granted(inp, b"\0")]
        case 0x22 if inp.data != VIN_ID:
            return state, [refused(inp, RANGE)]
        case 0x22:
            return state, [granted(inp, VIN_ID + state.vin)]
        case _ if state.cycles is None:
            return state, [refused(inp, NOT_NOW)]
        case 0x27:
            return _secured(state, inp)
        case _ if len(inp.data) != len(VIN_ID) + len(VIN):
            return state, [refused(inp, LENGTH)]
        case _ if not state.is_open:
            return state, [refused(inp, DENIED)]
        case _:
            return replace(state, vin=inp.data[len(VIN_ID) :]), [granted(inp, VIN_ID)]


def _secured(state: EcuState, inp: Uds) -> tuple[EcuState, list[Uds]]:
    if inp.data[0] == 1:
        return replace(state, is_seeded=True), [granted(inp, b"\x01" + (bytes(2) if state.is_open else SEED))]
    if not state.is_seeded:
        return state, [refused(inp, SEQUENCE)]
    if state.wrong >= ATTEMPTS:
        return replace(state, is_seeded=False), [refused(inp, EXCEEDED)]
    if inp.data[1:] != KEY:
        return replace(state, is_seeded=False, wrong=state.wrong + 1), [refused(inp, WRONG_KEY)]
    return replace(state, is_seeded=False, is_open=True, wrong=0), [granted(inp, b"\x02")]


def emits(state: EcuState) -> Iterator[Transition[EcuState]]:
    """Yield what the timers of an extended session cause."""
    if state.cycles is not None:
        ticked = replace(state, cycles=min(MOST, state.cycles + 1))
        yield goto(ticked, status(EXTENDED), after="tick", timers=[TICK])
        ended = replace(state, cycles=None, is_open=False, is_seeded=False)
        yield goto(ended, status(DEFAULT), after="session", timers=[stop("tick")])


INPUTS: Final = (
    Uds(SESSION_CONTROL, bytes([DEFAULT])),
    Uds(SESSION_CONTROL, bytes([EXTENDED])),
    Uds(PRESENT, b"\0"),
    Uds(PRESENT, bytes([SUPPRESS])),
    Uds(READ, VIN_ID),
    Uds(SECURITY, b"\x01"),
    Uds(SECURITY, b"\x02" + KEY),
    Uds(SECURITY, b"\x02\0\0"),
    Uds(WRITE, VIN_ID + OTHER),
)


def inputs(state: EcuState) -> Iterator[Uds | Elapse]:
    """Yield the requests, and in an extended session waits, without which hardly a path sees it end or prolonged."""
    waits = (Elapse(round(0.7 * SESSION, 3)), Elapse(round(1.5 * SESSION, 3)))
    yield from INPUTS if state.cycles is None else (*INPUTS, *waits)


SPEC: Final[Spec[EcuState, Uds | Elapse]] = Spec(step, EcuState(), inputs, emits, name="ecu")


@trace_may_set(fault=("none", *MUTANTS))
def bench(*, fault: str = "none", bus: str = "") -> Bench:
    """Return the bench of the control unit; `fault` is one of `MUTANTS`. Raises UsageError for another one.

    `bus` is the interface and channel of your own unit ("socketcan/can0"), as in python-can.

    >>> bench().name
    'ecu'
    """
    if fault not in {"none", *MUTANTS}:
        raise UsageError(f"fault={fault}: the unit has no such fault; it has {', '.join(MUTANTS)}, or none")
    return Bench(
        SPEC,
        codec=EcuCodec(),
        connect=_connect(fault, bus),
        outputs=("diag", "bus"),
        name="ecu",
        # six threads in one process, on a busy machine
        quiescence=0.05,
        latency=0.03,
        busy=0.03,
        mutants=MUTANTS,
    )


def _connect(fault: str, bus: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with AsyncExitStack() as stack:
            place = bus or await stack.enter_async_context(_unit(fault))
            diag, cyclic = isotp(f"isotp://{place}?tx=7e0&rx=7e8"), can(f"can://{place}", filters=[(STATUS, 0x7FF)])
            yield {"diag": await stack.enter_async_context(diag()), "bus": await stack.enter_async_context(cyclic())}

    return connect


@asynccontextmanager
async def _unit(fault: str) -> AsyncGenerator[str, None]:
    """Put a unit on its own virtual bus; yield the name of the bus."""
    channel = f"otf-ecu-{next(_NUMBERS)}"
    unit = Ecu(channel, fault)
    try:
        yield f"virtual/{channel}"
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(unit.close)
