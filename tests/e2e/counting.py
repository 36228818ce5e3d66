"""The counter as a bench, behind any wire."""

from __future__ import annotations

import socket
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from otf import Bench, Spec, Transition, goto, lines
from otf.adapter import Line, Opener
from otf.adapters import Faults, inject, serialport, tcp, udp, unix
from otf.adapters.process import open_process
from otf.core import Chooser
from otf.models.serving import HOST, free_port
from otf.strategy import Script
from tests.adapters.test_tls import CLIENT
from tests.e2e.harmed import Rig

COUNTER: Final = [sys.executable, "-I", "-S", str(Path(__file__).with_name("counter.py"))]
STEPS: Final = 200
QUIESCENCE: Final = 0.05
BOUND: Final = 0.01  # L, and R
GRACE: Final = 0.02


@dataclass(frozen=True)
class Inc:
    """Count one more."""


@dataclass(frozen=True)
class Count:
    """So many were counted."""

    number: int


def step(number: int, _: Inc) -> Iterator[Transition[int]]:
    """Count to 3 and begin anew."""
    number = (number + 1) % 4
    yield goto(number, Count(number))


SPEC: Final = Spec(step, 0, [Inc()])


ON_PORTS: Final[dict[str, Callable[[str], Opener]]] = {
    "udp": udp,
    "tcp": tcp,
    "faults": tcp,
    "listen": lambda address: tcp(f"tcp-listen://{address}"),
    "tls": lambda address: tcp(address, tls=CLIENT),
    "socket": lambda address: serialport(f"socket://{address}"),
}
"""How to reach what is found at a port of this machine, for each wire where it is."""


class Counting(Rig):
    """A counter behind a wire."""

    def __init__(self, wire: str) -> None:
        self.wire = wire
        codec = lines({Inc: "inc", Count: "count {number}"}, port="p")
        bench = Bench(SPEC, codec=codec, outputs=("p",), name=wire, quiescence=QUIESCENCE, latency=BOUND, busy=BOUND)
        super().__init__(bench, STEPS)
        if wire == "faults":
            self.bench = inject(self.bench, {"p": Faults(delay=0.1, split=0.1)})

    def chooser(self) -> Chooser:
        """Count on and on."""
        return Script([Inc()] * STEPS)

    @asynccontextmanager
    async def connect(self) -> AsyncGenerator[Mapping[str, Line], None]:
        """Start a counter."""
        harm, sign = self.harm, Path(f"{self.runs}.cut")
        address, opener = self._place()
        argv = [*COUNTER, self.wire, address, harm.cut, str(sign)]
        async with open_process(argv, grace=GRACE, pty=self.wire == "pty") as child:
            if opener is None:
                with harm.awaiting(child.pid, sign):
                    yield {"p": child}
                return
            async with opener() as line:
                with harm.awaiting(child.pid, sign):
                    yield {"p": line}

    def _place(self) -> tuple[str, Opener | None]:
        """Return where the counter is to be found this time, and how; None: on its standard streams."""
        match self.wire:
            case "pipe" | "pty":
                return "", None
            case "unix":
                return f"{self.runs}.sock", unix(f"{self.runs}.sock")
            case "serial":
                return f"{self.runs}.tty", serialport(f"{self.runs}.tty")
            case wire:
                number = free_port(socket.SOCK_DGRAM if wire == "udp" else socket.SOCK_STREAM)
                return str(number), ON_PORTS[wire](f"{HOST}:{number}")
