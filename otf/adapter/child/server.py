"""A server next to the ports of a bench: started, awaited until ready, drained, and stopped."""

from __future__ import annotations

import math
import os
import re
import select
import signal
import socket
import stat
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Thread
from time import monotonic
from typing import Final, TypeAlias

import anyio

from otf.adapter.child import Child, Program, words
from otf.adapter.line import Line
from otf.adapter.observed_rest.owners import start_of, stranger
from otf.adapter.observed_rest.place import Bound, Transport
from otf.adapter.observed_rest.sockets import receiving
from otf.adapter.reset import obey
from otf.errors import ContactError

_LAST: Final = 5.0  # seconds that SIGKILL may take
_LOOK: Final = 0.005
_CHUNK: Final = 1 << 16
_LINE: Final = 1 << 12  # the most characters kept of a line
_SUCCESS: Final = "exit status 0"
_LAST_LINES: Final = 20
_ERRORS: Final = 20  # the last lines of standard error that are kept, of 500 characters each
_ERROR: Final = 500
_AFTER: Final = 0.05  # seconds within which a server that has closed a port may end, or print why
_SAID: Final = 0.5  # seconds for reading the last words of a server that has ended


@dataclass(frozen=True, slots=True)
class Listening:
    """A condition for `Life`: a server is ready when it listens on `port` of `host` (TCP, or UDP if `udp` is true).

    If an older process listens on the port, otf does not mistake that process for the server.

    >>> Listening(6379), Listening(69, udp=True).host
    (Listening(port=6379, host='127.0.0.1', udp=False), '127.0.0.1')
    """

    port: int
    host: str = "127.0.0.1"
    udp: bool = False


Ready: TypeAlias = str | re.Pattern[str] | Listening | Callable[[], object]
"""How a server shows that it is ready: a whole line, a pattern in a line, a port, or a function.

otf calls the function, which may be `async`, until it returns anything but False.
"""


Peer: TypeAlias = tuple[Transport, Bound]
"""The transport of a line, and the host and port that it is connected to."""


class Server:
    """A running server; a thread reads its output, so full pipes never stop it. Raises ContactError."""

    def __init__(self, command: Program, env: Mapping[str, str] | None = None, ready: Ready | None = None) -> None:
        self.child: Child = Child(words(command), env)
        self.lines: deque[str] = deque(maxlen=_LAST_LINES)
        self._errors = deque[tuple[float, str]](maxlen=_ERRORS)  # with the times at which they were read
        self._ready = ready
        self._said = False
        self._closed = False
        self._open = {self.child.stdout, self.child.stderr}
        self._since = start_of(self.child.pid)
        self._wake, self._waker = os.pipe()
        self._reader = Thread(target=self._read, name=f"output of {self.child.pid}", daemon=True)
        self._reader.start()

    async def until_ready(self, seconds: float) -> None:
        """Wait until the server is ready. Raises ContactError if it ends first, or takes longer than `seconds`."""
        ready = self._ready
        if ready is None:
            return
        with anyio.move_on_after(seconds):
            while not await self._is_ready(ready, seconds):
                if ended := self._gone(ready):
                    await self._heard(ended)
                    raise self._unready(f"was never ready: {ended}{self._advice(ready)}")
                await anyio.sleep(_LOOK)
            return
        raise self._unready(f"{_missing(ready)} within {seconds:g} s{self._advice(ready)}")

    async def check(self, peers: list[Peer]) -> None:
        """Raise ContactError if the server has ended, or if another process holds the ports we are connected to."""
        held = [found for transport, address in peers if (found := self._stranger(transport, address))]
        ended = self._gone(None)
        if held or ended:
            await self._heard(ended)
            state = f"has ended ({ended})" if ended else "runs"
            raise self._unready(", and ".join([state, *held]))

    async def last_words(self, *, wanted: bool, since: float = math.inf) -> list[str]:
        """Return how the server ended and the last lines it printed; while it runs, only if `wanted`.

        If neither, return what it wrote to standard error since then (by `time.monotonic`), with the seconds from then.
        """
        if self._closed:
            return []
        # a dying program closes its ports first; one that goes on prints only afterwards why it closed one
        with anyio.move_on_after(_AFTER if wanted else _LOOK):
            while not self.child.ended():  # noqa: ASYNC110 -- what it waits for is in another process
                await anyio.sleep(_LOOK)
        ended = self.child.ended()
        if not (ended or wanted):
            errors = [(at - since, line) for at, line in [*self._errors] if at >= since]
            return [f"stderr at {at:.4f} s: {line[:_ERROR]}" for at, line in errors]
        await self._heard(ended)
        state = [f"the server ended: {ended}"] if ended else []
        return state + [f"the server printed: {line}" for line in [*self.lines]]

    async def _heard(self, ended: str) -> None:
        """Wait until the last output of an ended server has been read; processes that it started may still print."""
        with anyio.move_on_after(_SAID):
            while ended and self._open:  # noqa: ASYNC110 -- what it waits for is in a thread
                await anyio.sleep(_LOOK)

    def _gone(self, ready: Ready | None) -> str:
        """Return how the server ended; "" while it runs, or if it may have gone to the background."""
        ended = self.child.ended()
        return "" if ended == _SUCCESS and not isinstance(ready, str | re.Pattern) else ended

    async def stop(self, grace: float) -> None:
        """Stop the server and everything it started, with SIGTERM, and with SIGKILL after the grace period."""
        for number, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, _LAST)):
            self.child.signal(number)
            with anyio.move_on_after(seconds):
                while not self.child.ended():  # noqa: ASYNC110 -- what it waits for is in another process
                    await anyio.sleep(_LOOK)
        self.close()

    def close(self) -> None:
        """Stop reading its output."""
        self._closed = True
        os.write(self._waker, b"x")
        self._reader.join()
        for descriptor in (self._wake, self._waker):
            os.close(descriptor)
        self.child.close()

    async def _is_ready(self, ready: Ready, seconds: float) -> bool:
        match ready:
            case str() | re.Pattern():
                return self._said
            case Listening(port, host, udp):
                where: Peer = "udp" if udp else "tcp", (host, port)
                return bool(receiving(*where)) and not self._stranger(*where)
            case _:
                with suppress(ContactError):
                    await obey(ready, "ready", seconds)
                    return not self._gone(ready)
                return False

    def _stranger(self, transport: Transport, address: Bound) -> str:
        return stranger(transport, address, self.child.pid, self._since)

    def _advice(self, ready: Ready) -> str:
        if not isinstance(ready, Listening):
            return ""
        held = self._stranger("udp" if ready.udp else "tcp", (ready.host, ready.port))
        return f"; {held}: stop that, or give another port" if held else ""

    def _unready(self, why: str) -> ContactError:
        self.child.signal(signal.SIGKILL)
        printed = "".join(f"\n  printed: {line}" for line in [*self.lines])
        return ContactError(f"`{self.child.command}` {why}{printed or '; it printed nothing: start it by hand'}")

    def _read(self) -> None:
        poll = select.poll()
        rest = {self.child.stdout: "", self.child.stderr: ""}
        for descriptor in (*rest, self._wake):
            poll.register(descriptor, select.POLLIN)
        while True:
            ended = list[int]()
            for descriptor, _ in poll.poll():
                if descriptor == self._wake:
                    return
                data = b""
                with suppress(BlockingIOError):
                    data = os.read(descriptor, _CHUNK)
                    if not data:
                        poll.unregister(descriptor)
                        ended.append(descriptor)
                *whole, last = (rest[descriptor] + data.decode(errors="backslashreplace")).split("\n")
                found = [line.rstrip("\r")[:_LINE] for line in (whole if data or not last else [last])]
                for line in found:
                    self._note(line)
                if descriptor == self.child.stderr:
                    self._errors.extend((monotonic(), line) for line in found[-_ERRORS:])
                rest[descriptor] = last[:_LINE]
            self._open.difference_update(ended)

    def _note(self, line: str) -> None:
        self.lines.append(line)
        # here rather than while waiting, since a server may then print more than is kept
        if isinstance(self._ready, str):
            self._said = self._said or line == self._ready
        elif isinstance(self._ready, re.Pattern):
            self._said = self._said or self._ready.search(line) is not None


LATEST: Final = ContextVar[Server | None]("LATEST", default=None)
"""The server of this task's latest life, which may explain a failure."""


def _missing(ready: Ready) -> str:
    match ready:
        case str():
            return f"did not print the line {ready!r}"
        case re.Pattern():
            return f"printed no line with {ready.pattern!r}"
        case Listening(port, host, udp):
            return f"did not listen on the {'UDP' if udp else 'TCP'} port {host}:{port}"
        case _:
            return "was not ready by its function"


def peers(line: Line) -> list[Peer]:
    """Return the ports that a line is connected to."""
    return [found for each in line.descriptors() if (found := _peer(line, each))]


def _peer(line: Line, descriptor: int) -> Peer | None:
    try:
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            return None  # a copy of its descriptor would stay open: only sockets close theirs
        with socket.socket(fileno=os.dup(descriptor)) as found:
            if found.family not in {socket.AF_INET, socket.AF_INET6}:
                return None
            udp = found.type == socket.SOCK_DGRAM
            # a UDP socket is rarely connected, but its line knows the peer
            known = getattr(line, "peer", None) if udp else None
            address = known or found.getpeername()
            return "udp" if udp else "tcp", (str(address[0]), int(address[1]))
    except OSError:  # not a socket, or not connected
        return None
