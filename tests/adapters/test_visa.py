"""Instruments behind VISA: what every adapter promises, and what an instrument may do."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from pyvisa.constants import StatusCode
from pyvisa.errors import VisaIOError

from otf.adapter import Arrival, Ending, Frame, LineLost, Trouble
from otf.adapters import visa
from otf.errors import ContactError, UsageError
from otf.testing import Echo, Rig
from tests.adapters.harness import LIBRARY_CHECKS, arrive, frames

pytestmark = pytest.mark.anyio
once = pytest.mark.parametrize("anyio_backend", ["asyncio"])
both = pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])  # threads do the work: uvloop adds nothing

SUPPLY = """
spec: "1.0"
devices:
  supply:
    eom:
      TCPIP INSTR: {q: "\\n", r: "\\n"}
      ASRL INSTR: {q: "\\n", r: "\\n"}
    error:
      error_queue:
        - {q: "SYST:ERR?", default: '0,"No error"', command_error: '-113,"Undefined header"'}
    dialogues:
      - {q: "*RST"}
    properties:
      volts:
        default: 1.0
        getter: {q: "VOLT?", r: "{:.1f}"}
        setter: {q: "VOLT {:.1f}"}
        specs: {type: float}
resources:
  TCPIP0::psu::inst0::INSTR: {device: supply}
  ASRL1::INSTR: {device: supply}
"""


ECHOED = ["one?", "one more?", "bye?", *(f"{number}?" for number in range(100))]
DIALOGUES = "".join(f'      - {{q: "{each}", r: "{each}"}}\n' for each in ECHOED)
ECHO = SUPPLY.replace("    properties:", f'{DIALOGUES}      - {{q: "big?", r: "{"x" * 70_000}"}}\n    properties:')


def write(folder: str, text: str) -> str:
    """Write the description of an instrument; return its path."""
    path = Path(folder, "supply.yaml")
    path.write_text(text)
    return str(path)


@asynccontextmanager
async def supply(resource: str = "TCPIP::psu::INSTR", text: str = SUPPLY, **options: Any) -> AsyncGenerator[Any, None]:  # noqa: ANN401 -- those of `visa`
    """A simulated supply."""
    with TemporaryDirectory() as folder:
        async with visa(f"visa:{resource}?backend={write(folder, text)}@sim", **options)() as line:
            yield line


@asynccontextmanager
async def echoing() -> AsyncGenerator[Echo, None]:
    """An instrument that answers some queries with themselves."""
    async with supply(text=ECHO) as line:
        yield Echo(line, None, bye=b"bye?", data=b"one?", frame=lambda text: text + b"?")


@both
@pytest.mark.parametrize("check", LIBRARY_CHECKS)
async def test_it_keeps_the_contract_of_adapters(check: Callable[[Rig], object]) -> None:
    """Each promise, on each event loop; and no thread is left."""
    await check(echoing)  # type: ignore[misc] # pyright: ignore[reportGeneralTypeIssues] -- a coroutine function
    assert not [each for each in threading.enumerate() if each.name.startswith("otf visa")]


@once
@pytest.mark.parametrize("resource", ["TCPIP::psu::INSTR", "ASRL1::INSTR"])
async def test_a_simulated_supply_answers(resource: str) -> None:
    """A command has no answer, a query has one; each path has a fresh instrument."""
    for _ in range(2):
        async with supply(resource) as line:
            for command in (b"VOLT?", b"VOLT 2.5", b"VOLT?", b"NONSENSE", b"SYST:ERR?"):
                await line.send(command)
            assert await arrive(line, 3) == frames(b"1.0", b"2.5", b'-113,"Undefined header"')


@once
async def test_a_query_without_an_answer_is_silence() -> None:
    """The next command waits until the answer is no longer waited for, and is answered."""
    async with supply(timeout=0.05) as line:
        await line.send(b"NONSENSE?")
        await line.send(b"VOLT?")
        assert await arrive(line, 1) == frames(b"1.0")


@once
@pytest.mark.parametrize(
    ("resource", "error", "arrival"),
    [
        ("TCPIP::psu::INSTR", VisaIOError(StatusCode.error_connection_lost.value), Ending("connection lost")),
        ("ASRL1::INSTR", VisaIOError(StatusCode.error_connection_lost.value), None),
        ("TCPIP::psu::INSTR", ZeroDivisionError(), Trouble("VISA failed: ZeroDivisionError")),
    ],
)
async def test_a_library_that_fails_is_trouble(resource: str, error: Exception, arrival: Arrival | None) -> None:
    """Behind a network an instrument that hangs up has ended, as on TCP; anything else is no output of the system."""
    async with supply(resource) as line:

        def fails(*_: object) -> None:
            raise error

        line._send.args[0]._resource.visalib.read = fails  # noqa: SLF001
        await line.send(b"VOLT?")
        (arrived,) = await arrive(line, 1)
        assert arrived == arrival or (arrival is None and isinstance(arrived, Trouble))
        with pytest.raises(LineLost):
            await line.send(b"VOLT?")


@pytest.mark.parametrize("url", ["visa:", "visa:ASRL1::INSTR?speed=1"])
def test_what_is_no_resource_is_refused(url: str) -> None:
    """The error has the form."""
    with pytest.raises(UsageError, match="not a VISA resource"):
        visa(url)


def test_a_raw_socket_is_a_connection() -> None:
    """A closed one would look like silence."""
    with pytest.raises(UsageError, match="write tcp://HOST:PORT"):
        visa("visa:TCPIP::127.0.0.1::5025::SOCKET")


@once
async def test_what_cannot_be_opened_is_a_contact_error() -> None:
    """It says what pyvisa says."""
    with pytest.raises(ContactError, match="did not open"):
        async with visa("visa:ASRL1::INSTR?backend=@nonsense")():
            pass


@once
async def test_an_answer_without_an_end_is_bounded() -> None:
    """An instrument that never ends its answer takes no more memory than a frame."""
    async with echoing() as echo:
        await echo.line.send(b"big?")
        (arrived,) = await arrive(echo.line, 1)
        assert isinstance(arrived, Frame)
        assert arrived.trouble == "longer than 65536 bytes"
