"""The model and the bench of the device in `device.c`: a serial line, numbered status messages, a watchdog."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from typing import Final

from otf.adapter import Bench, Connect, Line, trace_may_set
from otf.adapters.process import open_process
from otf.adapters.serialport import device as serial_device
from otf.adapters.serialport import open_serial
from otf.codec import lines
from otf.compose import cyclic
from otf.errors import UsageError
from otf.models.serving import GRACE, until_told
from otf.spec import Spec, Transition, goto, start, stop

STATUS: Final = 0.2
WATCHDOG: Final = 0.5
FAULTS: Final = {
    "watchdog": "the watchdog is late once the mode was changed",
    "empty": "the checksum of the empty payload is not checked",
    "commands": "the status stops after 50 commands",
    "uptime": "the status stops after 50 s",
}
SOURCE: Final = Path(__file__).with_name("device.c")


@dataclass(frozen=True, slots=True)
class Mode:
    """Change the mode."""

    name: str


@dataclass(frozen=True, slots=True)
class Arm:
    """Start the watchdog."""


@dataclass(frozen=True, slots=True)
class Kick:
    """Start the time of the watchdog anew."""


@dataclass(frozen=True, slots=True)
class Disarm:
    """Stop the watchdog."""


@dataclass(frozen=True, slots=True)
class Data:
    """A payload and its checksum, in hexadecimal digits."""

    payload: str
    crc: str


@dataclass(frozen=True, slots=True)
class Status:
    """The message that comes each 0.2 s, with its number."""

    number: int


@dataclass(frozen=True, slots=True)
class Stored:
    """A payload of this length was stored."""

    size: int


@dataclass(frozen=True, slots=True)
class Said:
    """Any other answer, and the `reset` of the watchdog."""

    word: str


@dataclass(frozen=True, slots=True)
class Device:
    """What the device keeps."""

    mode: str = "slow"
    armed: bool = False


CODEC: Final = lines(
    {
        Mode: "mode {name}",
        Arm: "arm",
        Kick: "kick",
        Disarm: "disarm",
        Data: "data {payload} {crc}",
        Status: "status {number}",
        Stored: "stored {size}",
        Said: "{word}",
    },
    port="serial",
)


def crc(payload: str) -> int:
    """Return the CRC-8 of a payload, with the polynomial 0x07."""
    value = 0
    for byte in payload.encode():
        value ^= byte
        for _ in range(8):
            value = (value << 1 ^ 0x07) & 0xFF if value & 0x80 else value << 1
    return value


PAYLOADS: Final = ("", "a", "abc", "hello")
INPUTS: Final = (
    Mode("slow"),
    Mode("fast"),
    Arm(),
    Kick(),
    Disarm(),
    *(Data(payload, f"{crc(payload) ^ wrong:02x}") for payload in PAYLOADS for wrong in (0, 1)),
)
ALIVE: Final = start("watchdog", 0.9 * WATCHDOG, 1.2 * WATCHDOG)


def step(state: Device, inp: object) -> Iterator[Transition[Device]]:
    """Yield what a command causes."""
    match inp:
        case Mode(name):
            yield goto(replace(state, mode=name), Said(name))
        case Arm():
            yield goto(replace(state, armed=True), Said("armed"), timers=[ALIVE])
        case Kick():
            yield goto(state, Said("kicked" if state.armed else "idle"), timers=[ALIVE] if state.armed else [])
        case Disarm():
            yield goto(replace(state, armed=False), Said("disarmed"), timers=[stop("watchdog")])
        case Data(payload, check):
            yield goto(state, Stored(len(payload)) if int(check, 16) == crc(payload) else Said("wrong"))
        case _:
            pass


def emits(state: Device) -> Iterator[Transition[Device]]:
    """Yield the reset of the watchdog."""
    if state.armed:
        yield goto(replace(state, armed=False), Said("reset"), after="watchdog")


def _status(_state: Device, number: int) -> Status:
    return Status(number)


SPEC: Final = cyclic(
    Spec(step, Device(), INPUTS, emits, name="device"), "status", _status, every=STATUS, jitter=0.02, wraps=256
)


@trace_may_set(fault=("none", *FAULTS))
def bench(*, fault: str = "none") -> Bench:
    """Return the bench of the device; `fault` is one of `FAULTS`. Raises UsageError for another one."""
    if fault not in {"none", *FAULTS}:
        raise UsageError(f"fault={fault}: the device has no such fault; it has none, {', '.join(FAULTS)}")
    return Bench(
        SPEC,
        codec=CODEC,
        connect=_connect(fault),
        outputs=("serial",),
        name="late_device",
        quiescence=0.02,
        latency=0.02,
        busy=0.01,
        mutants=FAULTS,
    )


@cache
def program() -> str:
    """Return the path of the compiled device."""
    made = Path(gettempdir()) / f"otf-late-device-{SOURCE.stat().st_mtime_ns}"
    if not made.exists():
        subprocess.run(["cc", "-O2", "-o", made, SOURCE], check=True)  # noqa: S603, S607 -- the compiler
    return str(made)


def _connect(fault: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with AsyncExitStack() as stack:
            process = await stack.enter_async_context(open_process([program(), fault], ready=None, grace=GRACE))
            name = (await until_told(process, lambda line: line.startswith(b"/dev/"))).decode()
            line = await stack.enter_async_context(open_serial(serial_device(name, keep=False)))
            await process.send(b"on")
            yield {"serial": line}

    return connect
