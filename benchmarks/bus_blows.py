"""Blows at buses and instruments: at a random input the system leaves, or the tester's own line fails.

A system that has left a bus is silent, and the run fails; a line that fails is no output of the system, and the run is
inconclusive.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest import mock

import anyio
import isotp as transport
from can import Bus
from pyvisa.constants import StatusCode
from pyvisa.errors import VisaIOError

from otf.adapter import Bench, Line, Port
from otf.adapter.canbus import CanBus
from otf.adapters import can, isotp, visa
from otf.adapters.visa import VisaResource
from otf.campaign import Campaign, Settings
from otf.codec import Codec
from otf.codec.can import CanFrame, decode_can, encode_can
from otf.errors import CodecError
from otf.spec import Spec, Transition, goto
from tests.adapters.canbus import Answer, node
from tests.e2e.harmed import LOOPS

STEPS: Final = 12  # each waits for silence, since a run on its own knows of no state that it is quiet
COMES_TO: Final = {
    "leave": "missing",
    "fail": "trouble",
    "raise": "trouble",
    "hang up": "ended",
    "reset": "ended",
    "cut": "undecodable",  # half an answer, and then the end
}
WIRES: Final = {"can": ("leave", "fail"), "isotp": ("leave", "fail"), "visa": ("leave", "fail", "hang up")}
_NUMBERS: Final = count()


@dataclass(frozen=True)
class Probe:
    """A number, which the system is to send back."""

    number: int


class ProbeCodec:
    """A number with a question mark, in a CAN frame if `framed`."""

    types = (Probe,)

    def __init__(self, *, framed: bool) -> None:
        self.framed = framed

    def port(self, value: object) -> str:
        """Return the only port."""
        del value
        return "p"

    def encode(self, value: object) -> bytes:
        """Return the bytes of a probe."""
        assert isinstance(value, Probe)
        text = b"%d?" % value.number
        return encode_can(CanFrame(0x10, text)) if self.framed else text

    def decode(self, port: str, data: bytes) -> Probe:
        """Return a probe. Raises CodecError."""
        del port
        text = decode_can(data).data if self.framed else data
        if text not in {b"0?", b"1?", b"2?", b"3?"}:
            raise CodecError(f"{text!r} is not a probe")
        return Probe(text[0] - ord("0"))


def step(state: int, inp: Probe) -> Iterator[Transition[int]]:
    """Send it back."""
    yield goto((state + inp.number) % 4, inp)


SPEC: Final = Spec(step, 0, [Probe(number) for number in range(4)], name="probe")


@dataclass
class BusHarm:
    """What is done at which input, and so many seconds after it; `lines` are what the tester has opened."""

    how: str
    at: int
    delay: float
    lines: list[Any]
    taken: int = 0

    def alive(self) -> bool:
        """Take an input; return whether the system still answers."""
        self.taken += 1
        if self.taken < self.at:
            return True
        if self.how == "fail" and self.taken == self.at:
            time.sleep(self.delay)
            self.lines[-1].shutdown()
        return self.how != "leave"


@contextmanager
def answering(wire: str, channel: str, harm: BusHarm) -> Generator[None]:
    """Put a system on a bus that sends back what it gets, until it is harmed."""
    if wire == "can":
        echo: Answer = lambda bus, message: harm.alive() and bus.send(message)  # noqa: E731 -- one of two systems
        with node(channel, echo):
            yield
        return
    address = transport.Address(transport.AddressingMode.Normal_11bits, txid=0x7E8, rxid=0x7E0)
    with Bus(interface="virtual", channel=channel, ignore_config=True) as bus:
        layer, over = transport.CanStack(bus, address=address, params={"logger_name": "otf.isotp"}), threading.Event()

        def serve() -> None:
            while not over.is_set():
                if (data := layer.recv(block=True, timeout=0.01)) is not None and harm.alive():
                    layer.send(data)

        thread = threading.Thread(target=serve)
        layer.start()
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            layer.stop()


def on_a_bus(wire: str) -> Callable[[Random, str], tuple[str, str]]:
    """Return a function that strikes a system on a bus."""

    def blow(random: Random, loop: str) -> tuple[str, str]:
        how, at, delay = random.choice(WIRES[wire]), random.randrange(1, STEPS), random.uniform(0, 0.002)
        opened, open_bus = list[Any](), CanBus.open

        def keep(where: CanBus) -> Any:
            opened.append(open_bus(where))
            return opened[-1]

        @asynccontextmanager
        async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
            channel = f"otf-blow-{next(_NUMBERS)}"
            with answering(wire, channel, BusHarm(how, at, delay, opened)):
                port = (
                    can(f"can://virtual/{channel}")
                    if wire == "can"
                    else isotp(f"isotp://virtual/{channel}?tx=7e0&rx=7e8")
                )
                async with port() as line:
                    yield {"p": line}

        with mock.patch.object(CanBus, "open", keep):
            return judged(connect, how, loop, ProbeCodec(framed=wire == "can"))

    return blow


class Struck:
    """The library of an instrument, whose reads are harmed."""

    def __init__(self, how: str, at: int, read: Callable[..., Any]) -> None:
        self.how, self.at, self.taken, self.read_on = how, at, 0, read

    def __call__(self, *given: Any) -> Any:
        """Read an answer."""
        self.taken += 1
        if self.taken < self.at:
            return self.read_on(*given)
        if self.how == "leave":
            time.sleep(0.01)
            raise VisaIOError(StatusCode.error_timeout.value)
        if self.how == "hang up":
            raise VisaIOError(StatusCode.error_connection_lost.value)
        raise OSError("struck")


def at_an_instrument(random: Random, loop: str) -> tuple[str, str]:
    """Strike an instrument once."""
    how, at, open_resource = random.choice(WIRES["visa"]), random.randrange(1, STEPS), VisaResource.open

    def keep(where: VisaResource) -> Any:
        manager, resource = open_resource(where)
        resource.visalib.read = Struck(how, at, resource.visalib.read)
        return manager, resource

    with tempfile.TemporaryDirectory() as folder, mock.patch.object(VisaResource, "open", keep):
        port = visa(f"visa:TCPIP::a::INSTR?backend={described(folder)}@sim", timeout=0.5)
        return judged(one(port), how, loop, ProbeCodec(framed=False))


def described(folder: str) -> Path:
    """Write the description of an instrument that sends back four queries."""
    dialogues = "".join(f'      - {{q: "{number}?", r: "{number}?"}}\n' for number in range(4))
    file = Path(folder, "echo.yaml")
    file.write_text(
        'spec: "1.0"\ndevices:\n  echo:\n    eom:\n      TCPIP INSTR: {q: "\\n", r: "\\n"}\n    dialogues:\n'
        f"{dialogues}resources:\n  TCPIP0::a::inst0::INSTR: {{device: echo}}\n"
    )
    return file


def one(port: Port) -> Callable[[], Any]:
    """Return the `connect` of one port."""

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with port() as line:
            yield {"p": line}

    return connect


def judged(connect: Callable[[], Any], how: str, loop: str, codec: Codec) -> tuple[str, str]:
    """Run a campaign; return the verdict, and the word for its right result."""
    bench = Bench(SPEC, codec=codec, connect=connect, outputs=("p",), name="probe",
                  quiescence=0.05, latency=0.01, busy=0.01, retries=0)  # fmt: skip
    backend, options = LOOPS[loop]
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(out=Path(folder), traces=1, steps=STEPS, shrink=False)
        summary = anyio.run(Campaign(bench, settings).run, backend=backend, backend_options=options)
    kinds = {signature.kind for signature in summary.failures}
    trouble = COMES_TO[how] == "trouble"
    right = (summary.verdict == "inconclusive" and not kinds) if trouble else kinds == {COMES_TO[how]}
    if not right:
        print(f"  {how}: {summary.verdict} {kinds} {summary.inconclusive}")
    return summary.verdict, COMES_TO[how] if right else ""
