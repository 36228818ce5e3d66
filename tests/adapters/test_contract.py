"""What every adapter promises, on every event loop."""

import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from otf.adapter import Bench, Ending
from otf.adapters import Faults, inject, inprocess, process, serialport, tcp, udp, unix
from otf.adapters.inprocess import Reply
from otf.adapters.tcp import open_listener
from otf.codec import lines as patterns
from otf.spec import Spec
from otf.testing import ADAPTER_CHECKS, Echo, Rig
from otf.testing.adapter import nothing_is_left_open
from tests.adapters.harness import bound, calling, echoing, echoing_terminal, python, serving

pytestmark = [pytest.mark.anyio, pytest.mark.real]

ECHO = """
import os
print("ready", flush=True)
while line := os.read(0, 65536):
    os.write(1, line)
    if line.endswith(b"bye\\n"):
        os._exit(3)
"""


@asynccontextmanager
async def over_udp(host: str = "127.0.0.1") -> AsyncGenerator[Echo, None]:
    """An echo behind a UDP socket; that it has ended shows when something more is sent."""
    async with echoing(host) as (peer, closed):
        url = f"udp://[{host}]:{peer.getsockname()[1]}" if ":" in host else f"udp://{host}:{peer.getsockname()[1]}"
        async with udp(url)() as line:

            async def ended() -> None:
                await closed.wait()
                await line.send(b"is anybody there?")

            yield Echo(line, "port unreachable", ended)


@asynccontextmanager
async def over_tcp(host: str = "127.0.0.1") -> AsyncGenerator[Echo, None]:
    """An echo behind a TCP socket, which is called."""
    with socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as server:
        url = f"tcp://[{host}]:{server.getsockname()[1]}" if ":" in host else f"tcp://{host}:{server.getsockname()[1]}"
        async with serving(server), tcp(url)() as line:
            yield Echo(line, "end of stream")


@asynccontextmanager
async def called_over_tcp() -> AsyncGenerator[Echo, None]:
    """An echo that calls."""
    async with open_listener() as listener, calling(listener.address), listener.accept() as line:
        yield Echo(line, "end of stream")


@asynccontextmanager
async def under_no_faults() -> AsyncGenerator[Echo, None]:
    """An echo behind a layer of faults that injects none."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ports = {"p": tcp(f"127.0.0.1:{server.getsockname()[1]}")}
        bench = Bench(Spec[int, str](lambda _state, _inp: (), 0, []), codec=patterns({}), ports=ports)
        async with serving(server), inject(bench, {"p": Faults()}).open() as lines:
            yield Echo(lines["p"], "end of stream")


@asynccontextmanager
async def over_unix() -> AsyncGenerator[Echo, None]:
    """An echo behind a unix socket."""
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        path = str(Path(folder) / "echo.sock")
        server.bind(path)
        server.listen()
        async with serving(server), unix(path)() as line:
            yield Echo(line, "end of stream")


@asynccontextmanager
async def over_serial() -> AsyncGenerator[Echo, None]:
    """An echo behind a pseudo-terminal."""
    async with echoing_terminal() as name, serialport(name)() as line:
        yield Echo(line, "hung up")


@asynccontextmanager
async def over_pipes(*, pty: bool = False) -> AsyncGenerator[Echo, None]:
    """An echo in a process of its own."""
    async with process(python(ECHO), pty=pty)() as line:
        yield Echo(line, "exit status 3")


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
        yield Echo(line, "exit status 3")


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
@pytest.mark.parametrize("check", ADAPTER_CHECKS, ids=lambda check: check.__name__)
async def test_an_adapter_keeps_the_contract(rig: Rig, check: Callable[[Rig], Awaitable[None]]) -> None:
    """The docstring of the check is the promise."""
    await check(rig)


@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@each_adapter
async def test_two_hundred_paths_leave_nothing(rig: Rig) -> None:
    """The same after two hundred paths, one after another."""
    await nothing_is_left_open(rig, paths=100)
