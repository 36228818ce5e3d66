"""A line over a connected socket, which can be closed, half closed, broken off and connected again."""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from otf.adapter.line import LineLost
from otf.adapter.socket.connection import hang_up, reset
from otf.adapter.stream import StreamLine
from otf.adapter.waiting import Alarm
from otf.codec import PortAction
from otf.errors import CodecError, ContactError
from otf.framing import Framing

OpenSocket: TypeAlias = Callable[[], Awaitable[socket.socket]]
"""Returns a socket that is connected. Raises ContactError."""


class SocketLine(StreamLine, ABC):
    """A connection of a tester; `call` opens it anew, None where only the other side can.

    The endings are "end of stream" where the system closed the connection, "connection reset", "connection timed out"
    and the like. What the tester closes by itself is no ending.
    """

    def __init__(
        self, sock: socket.socket | None, framing: Framing, alarm: Alarm, call: OpenSocket | None = None
    ) -> None:
        self._call = call
        self._socket = sock
        super().__init__(-1, _nothing, _nowhere, framing, alarm)
        self._over, self._gone = True, "not connected"
        if sock is not None:
            self._use(sock)

    @abstractmethod
    def reader(self, sock: socket.socket) -> Callable[[], bytes]:
        """Return what reads the socket."""

    def writer(self, sock: socket.socket) -> Callable[[bytes], int]:
        """Return what writes to the socket."""
        return sock.send

    async def perform(self, port_action: PortAction) -> None:
        """Connect, finish, close or break off. Raises LineLost where that fails; CodecError where it makes no sense."""
        match port_action:
            case PortAction.CONNECT:
                await self._connect()
            case PortAction.FINISH:
                self.finish()
            case PortAction.ABORT:
                self._close("broken off by the tester", reset)
            case PortAction.CLOSE:
                self.close()

    def finish(self) -> None:
        """Close our half of the connection: the system reads an end of stream, and its answers still come."""
        if self._gone or self._socket is None:
            raise LineLost(self._gone)
        self._gone = "finished by the tester"
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError as error:
            raise self._lost(error) from error

    def abort(self) -> None:
        """Break the connection off, so that the system sees a reset."""
        self._close("broken off by the tester", reset)

    def close(self) -> None:
        """Close the connection."""
        self._close("closed by the tester", hang_up)

    def _close(self, why: str, how: Callable[[socket.socket], None]) -> None:
        sock, self._socket = self._socket, None
        self._over, self._gone = True, why
        self._inflow.clear()
        self._wake()  # the runner has to stop watching it before it is closed
        if sock is not None:
            how(sock)

    async def _connect(self) -> None:
        if self._call is None:
            raise CodecError("it was called by the system, and only the system can call again")
        self._close("called again by the tester", hang_up)
        try:
            self._use(await self._call())
        except ContactError as error:
            self._gone = "cannot connect"
            raise LineLost(f"cannot connect: {error}") from error
        self._wake()

    def _use(self, sock: socket.socket) -> None:
        self._socket = sock
        self.restart(sock.fileno(), self.reader(sock), self.writer(sock))


def _nothing() -> bytes:
    raise BlockingIOError


def _nowhere(data: bytes) -> int:
    raise BrokenPipeError(data)
