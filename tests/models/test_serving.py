"""Starting servers for the benches: what is waited for, and what is said where none comes."""

from __future__ import annotations

import socket
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import anyio
import pytest

from otf.adapters.process import open_process
from otf.adapters.tcp import open_tcp
from otf.errors import ContactError
from otf.framing import lines
from otf.models.serving import HOST, free_port, started, until_answered

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from otf.adapter import Line

pytestmark = pytest.mark.real
ECHO = """
import socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    while True:
        with server.accept()[0] as peer:
            peer.send(peer.recv(100))
"""
BROKEN = "import sys; sys.exit('no such option: -p')"


async def waits(code: str, refused: int = 0) -> int:
    """Wait for a server whose first connections are `refused`; return how often one was opened."""
    port, opened = free_port(socket.SOCK_STREAM), 0

    @asynccontextmanager
    async def opener() -> AsyncGenerator[Line]:
        nonlocal opened
        opened += 1
        if opened <= refused:
            raise ContactError("tcp: connection refused")
        async with open_tcp((HOST, port), lines(b"\n")) as line:
            yield line

    async with open_process([sys.executable, "-I", "-S", "-c", code, str(port)], ready=None, grace=0.01) as process:
        await until_answered(opener, b"there?", process)
    return opened


def test_a_server_that_listens_late_is_waited_for() -> None:
    """However often a connection gives up before it listens."""
    assert anyio.run(partial(waits, ECHO, refused=3)) == 4


def test_a_server_that_ends_is_quoted_at_once() -> None:
    """What it printed says what to do, and no one waits for the rest of the time."""
    with pytest.raises(ContactError, match="no such option: -p"):
        anyio.run(waits, BROKEN)


def test_a_server_that_ends_before_it_prints_its_port_is_quoted_too() -> None:
    """An exit status alone would not say which file or option was wrong."""

    async def start() -> None:
        async with AsyncExitStack() as stack:
            await started(stack, [sys.executable, "-I", "-S", "-c", BROKEN])

    with pytest.raises(
        ContactError, match=r"^the server ended before it was ready: exit status 1\n  stderr: no such opt"
    ):
        anyio.run(start)
