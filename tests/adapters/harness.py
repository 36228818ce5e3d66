"""What the tests of the adapters share: the runner's part in short, and what this process has open."""

import fcntl
import os
import pty
import socket
import sys
import termios
import tty
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial

import anyio

from otf.testing import ADAPTER_CHECKS
from otf.testing.adapter import (
    SECONDS,
    a_cancelled_opening_leaves_nothing,
    arrive,
    frames,
    over,
    woken,
)
from otf.testing.leaks import Baseline, children, descriptors

__all__ = [  # with what the contract tests themselves use
    "LIBRARY_CHECKS",
    "SECONDS",
    "Baseline",
    "arrive",
    "bare_errors",
    "bound",
    "calling",
    "children",
    "descriptors",
    "echoing",
    "echoing_terminal",
    "frames",
    "over",
    "python",
    "serving",
    "terminal",
    "unread",
    "woken",
]


_LINGERING = partial(a_cancelled_opening_leaves_nothing, lingers=SECONDS)
LIBRARY_CHECKS = [_LINGERING if each is a_cancelled_opening_leaves_nothing else each for each in ADAPTER_CHECKS]
"""The checks of an adapter that opens its line by a call of a library, which goes on after it is cancelled."""


def python(program: str) -> list[str]:
    """The command that runs a Python program, without what a site installs."""
    return [sys.executable, "-I", "-S", "-c", program]


@asynccontextmanager
async def echoing(host: str = "127.0.0.1") -> AsyncGenerator[tuple[socket.socket, anyio.Event], None]:
    """A UDP peer that sends back what it gets, until it gets `bye`; then its socket is closed and the event set."""
    closed = anyio.Event()
    with bound(host) as peer, bare_errors():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_echo, peer, closed)
            yield peer, closed
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def serving(server: socket.socket) -> AsyncGenerator[None, None]:
    """Let a socket that listens send back what its first caller sends, until a line `bye`."""
    server.settimeout(0)

    async def serve() -> None:
        await anyio.wait_readable(server)
        peer, _ = server.accept()
        await _echo_stream(peer)

    with bare_errors():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve)
            yield
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def calling(address: tuple[str, int]) -> AsyncGenerator[None, None]:
    """Call this address and send back what comes, until a line `bye`."""
    with bare_errors():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_echo_stream, socket.create_connection(address))
            yield
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def terminal() -> AsyncGenerator[tuple[str, int], None]:
    """A pair of terminals: the name of ours, and the descriptor of the system's, which is closed at the end."""
    far, near = pty.openpty()
    tty.setraw(near)
    name = os.ttyname(near)
    os.set_blocking(far, False)
    try:
        # our end stays open until somebody else has it: else the first to open it would look like the last to close
        yield name, far
    finally:
        for descriptor in (near, far):
            with suppress(OSError):
                os.close(descriptor)


@asynccontextmanager
async def echoing_terminal() -> AsyncGenerator[str, None]:
    """A terminal that sends back what it gets, until a line `bye`; then it hangs up."""
    far, near = pty.openpty()
    tty.setraw(near)
    os.set_blocking(far, False)

    async def echo() -> None:
        data = b""
        while not data.endswith(b"bye\n"):
            await anyio.wait_readable(far)
            data = os.read(far, 4096)
            os.write(far, data)
        # the kernel throws away what was not read when the other end of a pair is closed; what was written takes a
        # moment until it can be read
        await anyio.sleep(0.02)
        while unread(near):  # noqa: ASYNC110 -- nothing tells when it has been read
            await anyio.sleep(0.001)
        os.close(near)
        os.close(far)

    try:
        with bare_errors():
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(echo)
                yield os.ttyname(near)
                tasks.cancel_scope.cancel()
    finally:
        for descriptor in (near, far):
            with suppress(OSError):
                os.close(descriptor)


def unread(descriptor: int) -> int:
    """How many bytes wait to be read."""
    return int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)), sys.byteorder)


async def _echo_stream(peer: socket.socket) -> None:
    with peer:
        peer.settimeout(0)
        data = b""
        while not data.endswith(b"bye\n"):
            await anyio.wait_readable(peer)
            if not (data := peer.recv(65_536)):
                return
            peer.send(data)


@contextmanager
def bare_errors() -> Generator[None, None, None]:
    """Take an error of the body out of the group that a task group has put around it."""
    try:
        yield
    except ExceptionGroup as group:
        raise group.exceptions[0] from None


async def _echo(peer: socket.socket, closed: anyio.Event) -> None:
    data = b""
    while data != b"bye":
        await anyio.wait_readable(peer)
        data, sender = peer.recvfrom(65_535)
        peer.sendto(data, sender)
    peer.close()
    closed.set()


def bound(host: str = "127.0.0.1") -> socket.socket:
    """A UDP socket of a test's own, with a fresh port."""
    peer = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
    peer.settimeout(0)
    peer.bind((host, 0))
    return peer
