"""The bench: a fresh server for every path, behind a pair of pseudo-terminals, or any device on a serial port."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio

from otf.adapter import Arrival, Bench, Connect, Line, trace_may_set
from otf.adapters.process import open_process
from otf.adapters.serialport import device, open_serial
from otf.errors import ContactError
from otf.models.modbus.messages import PORT, ModbusCodec, answers
from otf.models.modbus.requirements import MODBUS_REQUIREMENTS, ModbusRule
from otf.models.modbus.spec import ALSO, modbus
from otf.models.serving import GRACE, PAUSE, chosen, expected, known_issue, program

KNOWN: Final = {
    "function": known_issue(
        "pymodbus 3.16.1 is silent on a function that it does not have", "nothing more", req=ModbusRule.AP_7_FUNCTION
    ),
    "other": known_issue(
        "pymodbus 3.16.1 answers in the name of another server", "Foreign(", req=ModbusRule.SL_2_4_2_OTHER
    ),
    "quantity": known_issue(
        "pymodbus 3.16.1 refuses a quantity in the name of the function 0",
        "Refused(function=0",
        req=ModbusRule.AP_6_QUANTITY,
    ),
    "value": known_issue(
        "pymodbus 3.16.1 takes any value for a coil", "Written(function=5", req=ModbusRule.AP_6_5_ILLEGAL
    ),
}
"""The known issues that each of `ALSO` shows."""
SERVER: Final = Path(__file__).with_name("server.py")
GAP: Final = 0.010
TURNAROUND: Final = 0.100
"""Seconds between an answer and the next request, and between two requests if the first gets no answer."""

READY: Final = 10.0
"""Seconds that a server may take to import what it needs, on a busy machine."""


@trace_may_set(also=ALSO)
def bench(*, port: str = "", also: str = "") -> Bench:
    """Return the bench of a Modbus RTU server that has the address 1.

    `port` is the serial port of a Modbus server of your own, such as `/dev/ttyUSB0`. The server must have 16 coils and
    16 registers, all 0 when a path begins. `also` adds wrong requests: `count`, `function`, `other`, `quantity` or
    `value`.

    >>> bench().name
    'modbus'
    """
    chosen(also, ALSO)
    return Bench.on_ports(
        name="modbus",
        known_issues=expected(KNOWN, also),
        spec=modbus(also),
        codec=ModbusCodec(),
        connect=_plugged(port) if port else _connect,
        outputs=(PORT,),
        inputs="uioco",
        # a server in Python behind two pseudo-terminals and a process between them
        quiescence=0.030,
        latency=0.005,
        busy=0.010,
        requirements=MODBUS_REQUIREMENTS,
    )


def _plugged(port: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with open_serial(device(port, baudrate=19200, keep=True), answers()) as line:
            yield {PORT: Spaced(line)}

    return connect


@asynccontextmanager
async def _connect() -> AsyncGenerator[Mapping[str, Line], None]:
    with tempfile.TemporaryDirectory(prefix="otf-modbus-") as folder:
        ours, theirs = Path(folder, "ours"), Path(folder, "theirs")
        pair = [program("socat", "socat"), *(f"pty,raw,echo=0,link={end}" for end in (ours, theirs))]
        async with open_process(pair, ready=None, grace=GRACE):
            await _both(ours, theirs)
            server = [sys.executable, "-I", str(SERVER), str(theirs)]
            async with (
                open_process(server, ready="ready", ready_timeout=READY),
                open_serial(device(str(ours), baudrate=19200), answers()) as line,
            ):
                yield {PORT: Spaced(line)}


async def _both(*ends: Path) -> None:
    with anyio.move_on_after(READY):
        while not all(end.exists() for end in ends):  # noqa: ASYNC110 -- another process makes them
            await anyio.sleep(PAUSE)
        return
    raise ContactError("socat made no pair of pseudo-terminals; try it by hand: socat -d -d pty,raw pty,raw")


class Spaced:
    """A line on which the tester observes a master's times (the serial line guide, sections 2.4.1 and 2.5.1.1).

    Silence of 3.5 characters separates frames, 2 ms at 19,200 baud; a pseudo-terminal and a busy machine need
    more. After a request without an answer a master waits longer, lest a server miss the next one.
    """

    def __init__(self, line: Line) -> None:
        self._line = line
        self._next = 0.0

    def descriptors(self) -> tuple[int, ...]:
        """Return those of the line."""
        return self._line.descriptors()

    def arm(self, wake: Callable[[], None]) -> None:
        """Call `wake` as the line does."""
        self._line.arm(wake)

    async def send(self, data: bytes) -> None:
        """Send a frame, not too soon after the last one."""
        await anyio.sleep_until(self._next)
        self._next = anyio.current_time() + TURNAROUND
        await self._line.send(data)

    def receive(self) -> list[Arrival]:
        """Return what has come."""
        arrived = self._line.receive()
        if arrived:
            self._next = anyio.current_time() + GAP
        return arrived

    def remarks(self) -> list[str]:
        """Return those of the line."""
        return self._line.remarks()
