"""The contenders for round trips: otf, a blocking socket or pipe with time-outs, an anyio loop with `move_on_after`."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import socket
import subprocess
import tempfile
import tty
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import anyio

from otf.adapter import Bench, Opener
from otf.adapters import process, serialport, tcp, udp
from otf.campaign import Campaign, Settings
from otf.framing import fixed
from otf.spec import Spec, Transition, goto

REQUEST = b"x" * 32
TIMEOUT = 1.0


@dataclass
class Server:
    """The echo server: how to reach it."""

    program: Path
    kind: str
    port: int = 0
    terminal: str = ""
    child: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @classmethod
    @contextmanager
    def started(cls, program: Path, kind: str) -> Generator[Self, None, None]:
        """Start it, except for pipes: each contender on pipes starts its own."""
        server, near = cls(program, kind), -1
        if kind in {"udp", "tcp"}:
            server.child = subprocess.Popen([program, kind], stdout=subprocess.PIPE)  # noqa: S603 -- compiled here
            assert server.child.stdout is not None
            server.port = int(server.child.stdout.readline())
        elif kind == "pty":
            far, near = pty.openpty()
            tty.setraw(near)
            server.terminal = os.ttyname(near)
            server.child = subprocess.Popen([program, "tty"], stdin=far, stdout=far)  # noqa: S603 -- the same
            os.close(far)
        try:
            yield server
        finally:
            server.stop(near)

    def stop(self, near: int) -> None:
        """End the server."""
        if near >= 0:
            os.close(near)
        if self.child is not None:
            self.child.kill()
            self.child.wait()
            if self.child.stdout is not None:
                self.child.stdout.close()

    @contextmanager
    def piped(self) -> Generator[subprocess.Popen[bytes], None, None]:
        """Start an echo server on pipes."""
        child = subprocess.Popen([self.program, "pipe"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)  # noqa: S603 -- the same
        try:
            yield child
        finally:
            child.kill()
            child.wait()
            for stream in (child.stdin, child.stdout):
                assert stream is not None
                stream.close()


# A blocking socket


def blocking_udp(server: Server, steps: int) -> float:
    """Send and receive with a time-out on each."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(("127.0.0.1", server.port))
        return _blocking(sock, steps)


def blocking_tcp(server: Server, steps: int) -> float:
    """The same over a connection."""
    with socket.create_connection(("127.0.0.1", server.port)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return _blocking(sock, steps)


def _blocking(sock: socket.socket, steps: int) -> float:
    sock.settimeout(TIMEOUT)
    began = perf_counter()
    for _ in range(steps):
        sock.send(REQUEST)
        assert sock.recv(65_536) == REQUEST
    return perf_counter() - began


def blocking_pipe(server: Server, steps: int) -> float:
    """Write, wait for the other pipe with a time-out, read."""
    with server.piped() as child:
        assert child.stdin is not None
        assert child.stdout is not None
        return _blocking_files(child.stdin.fileno(), child.stdout.fileno(), steps)


def blocking_pty(server: Server, steps: int) -> float:
    """The same on a terminal."""
    descriptor = os.open(server.terminal, os.O_RDWR | os.O_NOCTTY)
    try:
        return _blocking_files(descriptor, descriptor, steps)
    finally:
        os.close(descriptor)


def _blocking_files(out: int, back: int, steps: int) -> float:
    began = perf_counter()
    for _ in range(steps):
        os.write(out, REQUEST)
        assert read_frame(back) == REQUEST
    return perf_counter() - began


def read_frame(back: int) -> bytes:
    """Wait for an answer with a time-out, and read it."""
    got = b""
    while len(got) < len(REQUEST):
        ready, _, _ = select.select([back], [], [], TIMEOUT)
        assert ready
        got += os.read(back, 65_536)
    return got


# A plain anyio loop


def anyio_udp(server: Server, steps: int) -> float:
    """Anyio's socket, with a time-out on each receive."""

    async def work() -> float:
        async with await anyio.create_connected_udp_socket("127.0.0.1", server.port) as sock:
            return await _anyio(sock.send, sock.receive, steps)

    return anyio.run(work)


def anyio_tcp(server: Server, steps: int) -> float:
    """The same over a connection."""

    async def work() -> float:
        async with await anyio.connect_tcp("127.0.0.1", server.port) as sock:
            return await _anyio(sock.send, sock.receive, steps)

    return anyio.run(work)


def anyio_pipe(server: Server, steps: int) -> float:
    """The same with a child process."""

    async def work() -> float:
        async with await anyio.open_process([server.program, "pipe"], stderr=None) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            elapsed = await _anyio(child.stdin.send, child.stdout.receive, steps)
            child.kill()
            return elapsed

    return anyio.run(work)


async def _anyio(send: Callable[[bytes], Any], receive: Callable[[], Any], steps: int) -> float:
    began = perf_counter()
    for _ in range(steps):
        await send(REQUEST)
        got = b""
        with anyio.move_on_after(TIMEOUT):
            got = await receive()
        assert got == REQUEST
    return perf_counter() - began


# otf


@dataclass(frozen=True, slots=True)
class Echo:
    """A request, and its answer."""

    data: bytes


class EchoCodec:
    """Bytes as they are."""

    types = (Echo,)

    def port(self, value: object) -> str:
        """Return the only port."""
        del value
        return "line"

    def encode(self, value: object) -> bytes:
        """Return the bytes of a request."""
        assert isinstance(value, Echo)
        return value.data

    def decode(self, port: str, data: bytes) -> object:
        """Return an answer."""
        del port
        return Echo(data)


def step(state: int, inp: Echo) -> list[Transition[int]]:
    """Answer with the request itself."""
    return [goto(state, inp)]


def bench(opener: Opener) -> Bench:
    """Return the bench of an echo server."""
    spec = Spec(step, initial=0, inputs=[Echo(REQUEST)], name="echo")
    return Bench(spec, codec=EchoCodec(), ports={"line": opener}, quiescence=0.02)


def otf(opener: Callable[[Server], Opener], backend: dict[str, Any]) -> Callable[[Server, int], float]:
    """Return a function that drives one path with otf's defaults, and returns the time of its round trips."""

    def measure(server: Server, steps: int) -> float:
        with _folder() as out:
            settings = Settings(out=out, traces=1, steps=steps, seed=1)
            campaign = Campaign(bench(opener(server)), settings)
            summary = anyio.run(campaign.run, backend_options=backend)
            assert summary.verdict == "pass", summary
            assert summary.steps == steps
            return _round_trips(next(out.glob("path-*.jsonl")))

    return measure


def _round_trips(trace: Path) -> float:
    """Return the time of all round trips of a trace, without the silence at the beginning and the end of the path.

    Only two lines are read: on a terminal the CPU time of all of this is what is measured.
    """
    text = trace.read_bytes()
    first, last = text.index(b'{"event":"sent"'), text.rindex(b'{"event":"seen"')
    sent, seen = (json.loads(text[at : text.index(b"\n", at)]) for at in (first, last))
    return float(seen["at"]) - float(sent["at"])


@contextmanager
def _folder() -> Generator[Path, None, None]:
    folder = Path(tempfile.mkdtemp())
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


OPENERS: dict[str, Callable[[Server], Opener]] = {
    "udp": lambda server: udp(f"127.0.0.1:{server.port}"),
    "tcp": lambda server: tcp(f"127.0.0.1:{server.port}", framing=fixed(32)),
    "pipe": lambda server: process([str(server.program), "pipe"], ready=None, framing=fixed(32)),
    "pty": lambda server: serialport(server.terminal, framing=fixed(32)),
}
ROUND_TRIPS: dict[tuple[str, str], Callable[[Server, int], float]] = {
    ("udp", "blocking"): blocking_udp,
    ("tcp", "blocking"): blocking_tcp,
    ("pipe", "blocking"): blocking_pipe,
    ("pty", "blocking"): blocking_pty,
    ("udp", "anyio"): anyio_udp,
    ("tcp", "anyio"): anyio_tcp,
    ("pipe", "anyio"): anyio_pipe,
    **{(kind, "otf_asyncio"): otf(opener, {}) for kind, opener in OPENERS.items()},
    **{(kind, "otf_uvloop"): otf(opener, {"use_uvloop": True}) for kind, opener in OPENERS.items()},
}
