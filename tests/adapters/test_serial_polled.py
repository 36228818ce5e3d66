"""Serial ports without a descriptor on asyncio, as on Windows: carried by a transport of pyserial-asyncio.

The transport is the real one, in the form that it has on Windows; the port in front of it is made after pyserial's own.
"""

import logging
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from otf.adapter import Ending, Line, LineLost, Trouble
from otf.adapter.kept import keeping
from otf.adapter.serial.carrier import Direct, Pump
from otf.adapter.serial.polled import DRAIN, LARGEST
from otf.adapters import serialport
from otf.adapters.serialport import PolledLine, SerialLine
from otf.errors import ContactError
from otf.framing import fixed
from tests.adapters.board import Board, bench, campaign, heard, plugged, said
from tests.adapters.comport import ComPort, transports_of_windows
from tests.adapters.conftest import LOOPS
from tests.adapters.harness import SECONDS, Baseline, arrive, bare_errors, frames, over, terminal

pytestmark = [pytest.mark.anyio, pytest.mark.real]


@pytest.fixture(params=LOOPS[:2])
def anyio_backend(request: pytest.FixtureRequest) -> Any:  # noqa: ANN401 -- what anyio's plugin takes
    """The event loops that are asyncio's."""
    return request.param


@pytest.fixture(autouse=True)
def _windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let serial ports be those of Windows."""
    monkeypatch.setattr("serial.Serial", ComPort)
    monkeypatch.setattr("otf.adapter.serial.carrier.PLATFORM", "nt")
    monkeypatch.setitem(sys.modules, "serial_asyncio", transports_of_windows())


@pytest.fixture(autouse=True)
def _no_log(caplog: pytest.LogCaptureFixture) -> Any:  # noqa: ANN401 -- a generator
    """See that whatever happens nobody is shown a traceback of the event loop."""
    yield
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a pair of terminals pass for a device."""
    monkeypatch.setattr("otf.adapter.serial.device._PTYS", "/nowhere/")


@asynccontextmanager
async def later(do: Callable[[], object]) -> AsyncGenerator[None]:
    """Do something a moment from now, when whoever is inside is waiting."""

    async def wait() -> None:
        await anyio.sleep(0.05)
        do()

    with bare_errors():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            yield


def port_of(line: Line) -> ComPort:
    """The port behind a line."""
    assert isinstance(line, PolledLine)
    port = line.port
    assert isinstance(port, ComPort)
    return port


# What carries a port


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_other_loops_have_threads_for_it() -> None:
    """pyserial-asyncio is for asyncio: elsewhere threads carry the bytes."""
    async with terminal() as (name, far), serialport(name)() as line:
        assert type(line) is SerialLine
        assert isinstance(line._held.carrier, Pump)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] -- which way it goes
        os.write(far, b"hello\n")
        assert await arrive(line, 1) == frames(b"hello")


async def test_what_is_no_device_has_threads() -> None:
    """pyserial-asyncio knows the plain ports only."""
    async with serialport("loop://")() as line:
        assert type(line) is SerialLine


async def test_where_there_is_a_descriptor_nothing_stands_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Linux the plain port is its own descriptor, and no transport is asked."""
    monkeypatch.undo()
    async with terminal() as (name, _), serialport(name)() as line:
        assert type(line) is SerialLine
        assert isinstance(line._held.carrier, Direct)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] -- as above


# What is sent and what comes


async def test_frames_go_and_come() -> None:
    """What is sent arrives, and what is answered comes back, in its order."""
    async with terminal() as (name, far), serialport(name)() as line:
        assert (port_of(line).timeout, line.descriptors(), line.receive()) == (0, (), [])
        for number in range(20):
            await line.send(b"%d" % number)
            assert await heard(far) == b"%d\n" % number
            os.write(far, b"got %d\n" % number)
        assert await arrive(line, 20) == frames(*[b"got %d" % number for number in range(20)])
        assert line.receive() == []


async def test_what_is_sent_has_been_handed_over() -> None:
    """When sending has returned the port has the bytes, and not only the transport; no bytes at all do no harm."""
    async with terminal() as (name, _), serialport(name)() as line:
        port = port_of(line)
        port.stuck = True
        assert isinstance(line, PolledLine)
        await line.push(b"")
        await anyio.sleep(0.01)
        await line.push(b"x" * 3000)
        assert port.queue == b"x" * 3000


async def test_the_last_look_sees_what_the_loop_has_not() -> None:
    """Before silence is believed the port itself is asked: what came a moment ago needs no turn of the event loop."""
    async with terminal() as (name, far), serialport(name)() as line:
        said(far, b"just now\n", port_of(line).descriptor())
        assert line.receive() == frames(b"just now")


async def test_what_nobody_takes_is_bounded() -> None:
    """While nobody receives the transport stops reading, and nothing is lost when somebody does."""
    sent, size = 0, LARGEST * 2
    async with terminal() as (name, far), serialport(name, framing=fixed(4096))() as line:
        port = port_of(line)
        with anyio.move_on_after(0.5):
            while sent < size:
                try:
                    sent += os.write(far, b"x" * min(1024, size - sent))
                except BlockingIOError:
                    await anyio.sleep(0.001)
        assert LARGEST < sent < size
        assert port.in_waiting > 0
        got = 0
        with anyio.fail_after(SECONDS):
            while got < sent // 4096 * 4096:
                got += sum(len(frame.data) for frame in line.receive() if not isinstance(frame, (Ending, Trouble)))
                await anyio.sleep(0.001)
        async with later(partial(os.write, far, b"y" * 8192)):
            assert await arrive(line, 1)  # it is told of again when something comes


async def test_a_campaign_passes_and_leaves_nothing(tmp_path: Path) -> None:
    """A whole campaign over such a port, which stays open over its paths."""
    board = Board()
    async with plugged(board) as name:
        await campaign(bench(name), tmp_path / "first", traces=1).run()
        before = Baseline()
        summary = await campaign(bench(name), tmp_path).run()
        assert not before.lasting_leaks()
    assert (summary.verdict, summary.paths, board.heard.count(b"reset")) == ("pass", 4, 5)


async def test_it_is_kept_with_its_transport() -> None:
    """Between two paths what comes is dropped, and the port stays the same."""
    async with terminal() as (name, far), keeping():
        async with serialport(name)() as line:
            port = port_of(line)
        said(far, b"stale\n", port.descriptor())
        async with serialport(name)() as line:
            assert port_of(line) is port
            os.write(far, b"fresh\n")
            assert await arrive(line, 1) == frames(b"fresh")
    assert not port.is_open


async def test_one_that_went_while_nobody_listened_is_not_kept() -> None:
    """A port that was lost between two paths is opened anew, which tells that its device is gone."""
    async with keeping():
        async with terminal() as (name, _), serialport(name)():
            pass
        with pytest.raises(ContactError, match="there is no such device"):
            async with serialport(name, within=0)():
                pass


# How it ends


async def test_a_program_that_goes_away_hangs_up() -> None:
    """An end comes once, after what came before, and nothing can be sent after it."""
    async with terminal() as (name, far), serialport(name)() as line:
        os.write(far, b"last\n")
        assert await arrive(line, 1) == frames(b"last")
        os.close(far)
        assert await arrive(line, over) == [Ending("hung up")]
        assert line.receive() == []
        with pytest.raises(LineLost, match=r"^hung up$"):
            await line.send(b"hello?")


@pytest.mark.usefixtures("device")
async def test_a_device_that_is_unplugged_is_trouble() -> None:
    """What the port raised is the reason; the transport itself would only have logged it."""
    async with terminal() as (name, far), serialport(name)() as line, later(partial(os.close, far)):
        (trouble,) = await arrive(line, 1)
    assert isinstance(trouble, Trouble)
    assert trouble.reason.startswith(f"the device {name} is gone: ClearCommError failed (PermissionError(13, ")


@pytest.mark.usefixtures("device")
async def test_unplugged_while_something_is_to_be_written() -> None:
    """The transport tells nobody of a loss while it has something to write: it is told all the same, and at once."""
    async with terminal() as (name, far), serialport(name)() as line:
        port = port_of(line)
        port.stuck = True
        await line.send(b"x" * 2000)  # the driver holds it, and takes no more
        async with later(partial(os.close, far)):
            with anyio.fail_after(SECONDS), pytest.raises(LineLost, match="is gone: ClearCommError failed"):
                await line.send(b"more")


async def test_nothing_is_ignored_while_a_port_is_being_lost() -> None:
    """The transport ignores what is written from the moment on at which it gives up, a turn before it says so."""
    async with terminal() as (name, _), serialport(name)() as line:
        assert isinstance(line, PolledLine)
        line._polled._transport.abort()  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] -- what it does at a loss
        with pytest.raises(LineLost, match=r"^hung up$"):
            await line.send(b"hello?")


@pytest.mark.usefixtures("device")
async def test_unreadable_while_something_is_to_be_written() -> None:
    """The same where it is a read that fails, after which the transport goes on for ever and says nothing."""
    async with terminal() as (name, far), serialport(name)() as line:
        port = port_of(line)
        port.stuck = True
        await line.send(b"x" * 2000)
        port.unreadable = True
        async with later(partial(os.write, far, b"!")):
            with anyio.fail_after(SECONDS), pytest.raises(LineLost, match="is gone: "):
                await line.send(b"more")


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("error", [OSError("no such handle"), TypeError("it is None")])
async def test_whatever_a_port_raises_ends_it(error: Exception) -> None:
    """An error that the transport does not know ends the port too, and does not go on two thousand times a second."""
    async with terminal() as (name, _), serialport(name)() as line:
        port = port_of(line)
        raised = 0

        def fail() -> None:
            nonlocal raised
            raised += 1
            raise error

        port.fails = fail
        await anyio.sleep(0.05)
        with pytest.raises(LineLost, match=f"is gone: {error}"):
            await line.send(b"hello?")
        assert await arrive(line, 1) == [Trouble(f"the device {name} is gone: {error}")]
        assert raised < 10


async def test_a_system_that_does_not_read_does_not_hold_the_tester_for_ever() -> None:
    """Flow control that never lets go ends in LineLost, and closing such a port holds up neither the loop nor us."""
    ticks = 0
    async with terminal() as (name, _):
        async with serialport(name)() as line:
            port_of(line).stuck = True
            assert isinstance(line, SerialLine)
            line.patience = 0.05
            await line.send(b"x" * 2000)  # the driver holds it, and takes no more
            with anyio.fail_after(SECONDS), pytest.raises(LineLost, match=r"^did not read for 0.05 s$"):
                await line.send(b"more")
            began = anyio.current_time()
            async with anyio.create_task_group() as tasks:

                async def tick() -> None:
                    nonlocal ticks
                    while True:
                        await anyio.sleep(0.001)
                        ticks += 1

                tasks.start_soon(tick)
                await line._held.carrier.stop()  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] -- beside the ticks
                tasks.cancel_scope.cancel()
        # uvloop's clock counts whole milliseconds
        assert DRAIN - 0.002 < anyio.current_time() - began < SECONDS
        assert ticks > 5  # a loop that is held has two or three at the end


async def test_what_was_sent_goes_out_before_it_is_closed() -> None:
    """Closing a port gives its driver time to send what it has."""
    async with terminal() as (name, _), serialport(name)() as line:
        port = port_of(line)
        assert isinstance(line, SerialLine)
        port.stuck = True
        await line.send(b"goodbye")
        emptied = False

        async def send() -> None:
            nonlocal emptied
            await anyio.sleep(0.1)
            emptied, port.queue = port.is_open and port.queue == b"goodbye\n", b""

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send)
            await line._held.carrier.stop()  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] -- beside the driver
        assert emptied
        assert not port.is_open


async def test_a_cancelled_path_leaves_nothing() -> None:
    """Who is cancelled right after opening leaves no descriptor and no callback behind."""
    async with terminal() as (name, _):
        async with serialport(name)():
            pass
        before = Baseline()
        with anyio.CancelScope() as scope:
            async with serialport(name)():
                scope.cancel()
                await anyio.sleep_forever()
        assert not before.lasting_leaks()
