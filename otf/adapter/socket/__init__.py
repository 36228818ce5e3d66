"""Sockets: a line over a connected one, and TLS; addresses, connections and datagrams are beside it."""

from __future__ import annotations

import socket
import ssl
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeAlias

import anyio

from otf.adapter.line import LineLost
from otf.adapter.socket.connection import CHUNK, hang_up, reset
from otf.adapter.stream import StreamLine
from otf.adapter.waiting import Alarm
from otf.codec import PortAction
from otf.errors import CodecError, ContactError
from otf.framing import Framing

OpenSocket: TypeAlias = Callable[[], Awaitable[socket.socket]]
"""Returns a connected socket. Raises ContactError."""


class SocketLine(StreamLine, ABC):
    """A tester's connection; `call` opens it again, None if only the other side can.

    The endings are "end of stream" if the system closed the connection, "connection reset", "connection timed out" and
    so on. When the tester itself closes the connection, there is no ending.
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
        """Return a function that reads the socket."""

    def writer(self, sock: socket.socket) -> Callable[[bytes], int]:
        """Return a function that writes to the socket."""
        return sock.send

    async def perform(self, port_action: PortAction) -> None:
        """Connect, finish, close or reset. Raises LineLost if that fails, CodecError if a connection cannot do it."""
        match port_action:
            case PortAction.CONNECT:
                await self._connect()
            case PortAction.FINISH:
                self.finish()
            case PortAction.ABORT:
                self._close("broken off by the tester", reset)
            case PortAction.CLOSE:
                self.close()
            case _:
                raise CodecError(f"a connection cannot {port_action.value}")

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
        """Abort the connection, so that the system sees a reset."""
        self._close("broken off by the tester", reset)

    def close(self) -> None:
        """Close the connection."""
        self._close("closed by the tester", hang_up)

    def _close(self, why: str, how: Callable[[socket.socket], None]) -> None:
        sock, self._socket = self._socket, None
        self._over, self._gone = True, why
        self._inflow.clear()
        self._wake()  # the runner must stop watching it before it is closed
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


CUT_OFF: Final = "cut off without closing tls"
"""How a stream ends if the other side did not announce its end: some of it may be missing."""

_ADVICE: Final = (
    "look at it with `openssl s_client -connect HOST:PORT`; a certificate of your own is trusted with "
    "`ssl.create_default_context(cafile=…)` as `tls`"
)


async def encrypted(
    sock: socket.socket, context: ssl.SSLContext, shown: str, within: float, host: str | None
) -> ssl.SSLSocket:
    """Return the socket with TLS over it, once both sides have agreed; `host` None: we are the server.

    Raises ContactError, and closes the socket, if they do not agree within that time.
    """
    try:
        wrapped = context.wrap_socket(
            sock,
            server_side=host is None,
            server_hostname=host,
            do_handshake_on_connect=False,
            suppress_ragged_eofs=False,
        )
    except (ssl.SSLError, ValueError, OSError) as error:
        sock.close()
        raise _refused(shown, error) from error
    try:
        with anyio.fail_after(within):
            await _shake_hands(wrapped)
    except (OSError, TimeoutError) as error:
        wrapped.close()
        raise _refused(shown, error) from error
    except BaseException:
        wrapped.close()
        raise
    return wrapped


def reading(sock: ssl.SSLSocket, wake: Callable[[], None]) -> Callable[[], bytes]:
    """Return a function that reads such a socket; it calls `wake` if there is more than the descriptor shows."""

    def read() -> bytes:
        try:
            data = sock.recv(CHUNK)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as error:
            raise BlockingIOError from error
        except ssl.SSLEOFError as error:
            raise ConnectionAbortedError(0, CUT_OFF) from error
        if sock.pending():
            wake()
        return data

    return read


def writing(sock: ssl.SSLSocket) -> Callable[[bytes], int]:
    """Return a function that writes to such a socket."""

    def write(data: bytes) -> int:
        try:
            return sock.send(data)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as error:
            raise BlockingIOError from error

    return write


def say_the_end(sock: ssl.SSLSocket) -> None:
    """Tell the other side that nothing was cut off, without waiting for its answer."""
    with suppress(OSError, ValueError):  # it wants to hear that answer, or has gone
        sock.unwrap()


async def _shake_hands(sock: ssl.SSLSocket) -> None:
    while True:
        try:
            sock.do_handshake()
        except ssl.SSLWantReadError:
            await anyio.wait_readable(sock)
        except ssl.SSLWantWriteError:
            await anyio.wait_writable(sock)
        else:
            return


def _refused(shown: str, error: Exception) -> ContactError:
    why = "no answer in time" if isinstance(error, TimeoutError) else _plain(error)
    return ContactError(f"{shown} does not speak TLS with us: {why}; {_ADVICE}")


def _plain(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    reason: str = getattr(error, "reason", "") or str(error)
    return reason.replace("_", " ").lower()
