"""What the tests of the adapters share: the runner's part in short, and what this process has open."""

import fcntl
import os
import pty
import socket
import sys
import termios
import tty
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import anyio

from otf.adapter import Arrival, Ending, Frame, Line

SECONDS = 20.0
"""A bound for what takes milliseconds, so that a busy machine fails no test."""


def python(program: str) -> list[str]:
    """The command that runs a Python program, without what a site installs."""
    return [sys.executable, "-I", "-S", "-c", program]


async def arrive(line: Line, enough: Callable[[list[Arrival]], bool] | int) -> list[Arrival]:
    """What arrives until it is enough, received as the runner does it: watch, be woken, receive until there is none."""
    arrived: list[Arrival] = []
    with anyio.fail_after(SECONDS):
        while True:
            while batch := line.receive():
                arrived += batch
            if enough(arrived) if callable(enough) else len(arrived) >= enough:
                return arrived
            await woken(line)


async def woken(line: Line) -> None:
    """Wait until a descriptor of the line is readable, or the line calls."""
    async with anyio.create_task_group() as watching:

        async def watch(descriptor: int) -> None:
            await anyio.wait_readable(descriptor)
            watching.cancel_scope.cancel()

        line.arm(watching.cancel_scope.cancel)
        for descriptor in line.descriptors():
            watching.start_soon(watch, descriptor)
        await anyio.sleep_forever()


def over(arrived: list[Arrival]) -> bool:
    """Whether the ending has come."""
    return any(isinstance(arrival, Ending) for arrival in arrived)


def frames(*data: bytes) -> list[Arrival]:
    """Frames with these bytes."""
    return [Frame(each) for each in data]


def descriptors() -> set[str]:
    """The descriptors that this process has open, with what they are."""
    found = list(Path("/proc/self/fd").iterdir())  # among them the one of this very look, which is gone at once
    return {f"{path.name} {path.readlink()}" for path in found if path.is_symlink()}


def children() -> set[str]:
    """The numbers of the processes that this process has started and not buried."""
    found: set[str] = set()
    for thread in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # a thread may end while one looks
            found.update((thread / "children").read_text().split())
    return found


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
