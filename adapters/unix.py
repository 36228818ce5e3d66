"""Unix sockets: like TCP, at the path of a file."""

from __future__ import annotations

import socket
import struct
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from otf.adapter import Port
from otf.adapter.child import halted
from otf.adapter.observed_rest.place import Place
from otf.adapter.socket import SocketLine
from otf.adapter.socket.connection import CHUNK, connected
from otf.adapter.waiting import alarms
from otf.errors import UsageError
from otf.framing import Framing, lines
from otf.values.arguments import checked

LINES: Final = lines()
WITHIN: Final = 2.0
_CREDENTIALS: Final = struct.Struct("@3i")  # struct ucred


class UnixLine(SocketLine):
    """A connection to a unix socket; made by `open_unix`."""

    def reader(self, sock: socket.socket) -> Callable[[], bytes]:
        """Return a function that reads the socket."""
        # if the two see each other's processes (Linux), the number of the process that listens there
        peer = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        self.pid: int = _CREDENTIALS.unpack(peer)[0]
        return partial(sock.recv, CHUNK)

    def place(self) -> Place:
        """Return that the other end is the process that listened there."""
        return Place(self.pid) if self.pid else Place(hidden="the process at its other end is not visible")

    def lost(self) -> str:
        """Return that the system is stopped; "" if it runs, or if that is unknown."""
        return halted(self.pid) if self.pid else ""


@checked
def unix(path: str, *, framing: Framing = LINES, within: float = WITHIN) -> Port:
    """Return the port of a unix socket, whose file is `path` (or "unix:" and a file); otf connects for each path.

    otf waits `within` seconds for a program to listen on the socket. `unix` raises UsageError if `path` is empty;
    opening the port raises ContactError.

    >>> unix("unix:/run/machine.sock").kind
    'unix'
    """
    file = path.removeprefix("unix:").removeprefix("//")
    if not file:
        raise UsageError("unix: name the path of the socket: unix:/run/system.sock")
    opened = partial(open_unix, file, framing, within=within)
    return Port(opened, "unix", framing, partial(unix, framing=framing, within=within))


@asynccontextmanager
async def open_unix(path: str, framing: Framing = LINES, *, within: float = WITHIN) -> AsyncGenerator[UnixLine, None]:
    """Connect to a unix socket, trying for `within` seconds. Raises ContactError."""
    call = partial(connected, socket.AF_UNIX, path, f"the unix socket {path}", within)
    async with alarms() as alarm:
        line = UnixLine(await call(), framing, alarm, call)
        try:
            yield line
        finally:
            line.close()
