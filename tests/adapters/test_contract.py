"""What every adapter promises, on every event loop."""

import select
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest

from otf.adapter import Bench, Ending, Line, LineLost
from otf.adapters import Faults, inject, inprocess, process, serialport, tcp, udp, unix
from otf.adapters.inprocess import Reply
from otf.adapters.tcp import open_listener
from otf.codec import lines as patterns
from otf.spec import Spec
from tests.adapters.harness import (
    arrive,
    bound,
    calling,
    children,
    descriptors,
    echoing,
    echoing_terminal,
    frames,
    over,
    python,
    serving,
)

pytestmark = [pytest.mark.anyio, pytest.mark.real]

ECHO = """
import os
print("ready", flush=True)
while line := os.read(0, 65536):
    os.write(1, line)
    if line.endswith(b"bye\\n"):
        os._exit(3)
"""


@dataclass
class Echo:
    """A line to a system that sends back what it gets, and ends after `bye`; `ended` waits until it has."""

    line: Line
    ended: Callable[[], Awaitable[object]]
    ending: str


Rig = Callable[[], AbstractAsyncContextManager[Echo]]


@asynccontextmanager
async def over_udp(host: str = "127.0.0.1") -> AsyncGenerator[Echo, None]:
    """An echo behind a UDP socket; that it has ended shows when something more is sent."""
    async with echoing(host) as (peer, closed):
        url = f"udp://[{host}]:{peer.getsockname()[1]}" if ":" in host else f"udp://{host}:{peer.getsockname()[1]}"
        async with udp(url)() as line:

            async def ended() -> None:
                await closed.wait()
                await line.send(b"is anybody there?")

            yield Echo(line, ended, "port unreachable")


@asynccontextmanager
async def over_tcp(host: str = "127.0.0.1") -> AsyncGenerator[Echo, None]:
    """An echo behind a TCP socket, which is called."""
    with socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as server:
        url = f"tcp://[{host}]:{server.getsockname()[1]}" if ":" in host else f"tcp://{host}:{server.getsockname()[1]}"
        async with serving(server), tcp(url)() as line:
            yield Echo(line, anyio.lowlevel.checkpoint, "end of stream")


@asynccontextmanager
async def called_over_tcp() -> AsyncGenerator[Echo, None]:
    """An echo that calls."""
    async with open_listener() as listener, calling(listener.address), listener.accept() as line:
        yield Echo(line, anyio.lowlevel.checkpoint, "end of stream")


@asynccontextmanager
async def under_no_faults() -> AsyncGenerator[Echo, None]:
    """An echo behind a layer of faults that injects none."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ports = {"p": tcp(f"127.0.0.1:{server.getsockname()[1]}")}
        bench = Bench(Spec[int, str](lambda _state, _inp: (), 0, []), codec=patterns({}), ports=ports)
        async with serving(server), inject(bench, {"p": Faults()}).open() as lines:
            yield Echo(lines["p"], anyio.lowlevel.checkpoint, "end of stream")


@asynccontextmanager
async def over_unix() -> AsyncGenerator[Echo, None]:
    """An echo behind a unix socket."""
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        path = str(Path(folder) / "echo.sock")
        server.bind(path)
        server.listen()
        async with serving(server), unix(path)() as line:
            yield Echo(line, anyio.lowlevel.checkpoint, "end of stream")


@asynccontextmanager
async def over_serial() -> AsyncGenerator[Echo, None]:
    """An echo behind a pseudo-terminal."""
    async with echoing_terminal() as name, serialport(name)() as line:
        yield Echo(line, anyio.lowlevel.checkpoint, "hung up")


@asynccontextmanager
async def over_pipes(*, pty: bool = False) -> AsyncGenerator[Echo, None]:
    """An echo in a process of its own."""
    async with process(python(ECHO), pty=pty)() as line:
        yield Echo(line, anyio.lowlevel.checkpoint, "exit status 3")


@asynccontextmanager
async def in_process() -> AsyncGenerator[Echo, None]:
    """An echo that is a Python function."""

    def make() -> Callable[[bytes], Iterator[Reply]]:
        return echo

    def echo(data: bytes) -> Iterator[Reply]:
        yield data
        if data == b"bye":
            yield Ending("exit status 3")

    async with inprocess(make)() as line:
        yield Echo(line, anyio.lowlevel.checkpoint, "exit status 3")


def has_ipv6() -> bool:
    """Whether this machine can talk to itself over IPv6."""
    try:
        bound("::1").close()
    except OSError:
        return False
    return True


IPV6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no ::1")
RIGS = [
    pytest.param(over_udp, id="udp"),
    pytest.param(lambda: over_udp("::1"), id="udp6", marks=IPV6),
    pytest.param(over_tcp, id="tcp"),
    pytest.param(lambda: over_tcp("::1"), id="tcp6", marks=IPV6),
    pytest.param(called_over_tcp, id="tcp-listen"),
    pytest.param(over_unix, id="unix"),
    pytest.param(under_no_faults, id="faults"),
    pytest.param(over_serial, id="serial"),
    pytest.param(over_pipes, id="process"),
    pytest.param(partial(over_pipes, pty=True), id="pty"),
    pytest.param(in_process, id="inprocess"),
]
each_adapter = pytest.mark.parametrize("rig", RIGS)


@each_adapter
async def test_a_frame_that_is_sent_arrives(rig: Rig) -> None:
    """What is sent reaches the system, and what it answers comes back, byte by byte."""
    data = bytes(set(range(256)) - {0x0A, 0x0D})
    async with rig() as echo:
        await echo.line.send(data)
        assert await arrive(echo.line, 1) == frames(data)


@each_adapter
async def test_frames_keep_their_order(rig: Rig) -> None:
    """A hundred frames come back one by one, in the order in which they were sent."""
    numbers = [str(number).encode() for number in range(100)]
    async with rig() as echo:
        for number in numbers:
            await echo.line.send(number)
        assert await arrive(echo.line, 100) == frames(*numbers)


@each_adapter
async def test_there_is_nothing_where_nothing_has_come(rig: Rig) -> None:
    """Receiving neither waits nor invents: nothing has come, and so the answer is empty, however often it is asked."""
    async with rig() as echo:
        assert [echo.line.receive() for _ in range(3)] == [[], [], []]
        await echo.line.send(b"one")
        assert await arrive(echo.line, 1) == frames(b"one")
        assert [echo.line.receive() for _ in range(3)] == [[], [], []]


@each_adapter
async def test_descriptors_are_quiet_while_nothing_is_there(rig: Rig) -> None:
    """Once everything has been received no descriptor is readable, so that the runner sleeps."""
    async with rig() as echo:
        await echo.line.send(b"one")
        assert await arrive(echo.line, 1) == frames(b"one")
        assert select.select(echo.line.descriptors(), [], [], 0)[0] == []


@each_adapter
async def test_the_end_comes_once_and_last(rig: Rig) -> None:
    """An ending follows all that came before it, is not told twice, and leaves no descriptor to be watched in vain."""
    async with rig() as echo:
        await echo.line.send(b"one")
        await echo.line.send(b"bye")
        await echo.ended()
        assert await arrive(echo.line, over) == [*frames(b"one", b"bye"), Ending(echo.ending)]
        assert echo.line.receive() == []
        assert select.select(echo.line.descriptors(), [], [], 0)[0] == []


@each_adapter
async def test_nothing_can_be_sent_after_the_end(rig: Rig) -> None:
    """Sending to what has ended raises LineLost."""
    async with rig() as echo:
        await echo.line.send(b"bye")
        await echo.ended()
        await arrive(echo.line, over)
        with pytest.raises(LineLost):
            await echo.line.send(b"one more")


@each_adapter
async def test_nothing_is_left_open(rig: Rig) -> None:
    """After ten paths, some with an ending and some without, there are no more descriptors and children than before."""
    await one_path(rig, b"one")  # what an event loop opens once and keeps is open now
    before = descriptors(), children()
    for _ in range(5):
        await one_path(rig, b"one")
        await one_path(rig, b"bye")
    assert (descriptors(), children()) == before


@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@each_adapter
async def test_two_hundred_paths_leave_nothing(rig: Rig) -> None:
    """The same after two hundred paths, one after another."""
    await one_path(rig, b"one")
    before = descriptors(), children()
    for number in range(200):
        await one_path(rig, b"bye" if number % 2 else b"one")
    assert (descriptors(), children()) == before


async def one_path(rig: Rig, data: bytes) -> None:
    """Open a line, use it, and leave it."""
    async with rig() as echo:
        await echo.line.send(data)
        await arrive(echo.line, 1)


@each_adapter
async def test_a_cancelled_opening_leaves_nothing(rig: Rig) -> None:
    """Who is cancelled while a line is being opened, or right after it, leaves neither descriptor nor child."""
    await one_path(rig, b"one")
    before = descriptors(), children()
    with anyio.CancelScope() as scope:
        scope.cancel()
        async with rig():
            await anyio.sleep_forever()
    assert (descriptors(), children()) == before


@each_adapter
async def test_what_the_body_raises_comes_out_as_it_is(rig: Rig) -> None:
    """An error inside of the context leaves it bare, and not wrapped in a group."""
    error = KeyError("of the body")
    with pytest.raises(KeyError) as raised:
        await raise_inside(rig, error)
    assert raised.value is error


async def raise_inside(rig: Rig, error: Exception) -> None:
    """Open a line and fail."""
    async with rig():
        raise error


@each_adapter
async def test_there_is_nothing_to_remark_when_all_is_well(rig: Rig) -> None:
    """A line that has nothing special to say says nothing."""
    async with rig() as echo:
        await echo.line.send(b"one")
        await arrive(echo.line, 1)
        assert echo.line.remarks() == []
