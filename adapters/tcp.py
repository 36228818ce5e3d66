"""TCP: a byte stream that a framing cuts into frames; either side may connect."""

from __future__ import annotations

import errno
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from ssl import SSLContext, SSLSocket, create_default_context
from typing import Final, TypeAlias

from otf.adapter import Port
from otf.adapter.observed_rest.place import Place, UnderWay
from otf.adapter.socket import OpenSocket, SocketLine, encrypted, reading, say_the_end, writing
from otf.adapter.socket.connection import (
    LOOKUP,
    Address,
    accepted,
    acknowledge,
    connected,
    hang_up,
    listening,
    prompt_reader,
    read_address,
    resolved,
    saving_reader,
    show_address,
)
from otf.adapter.third_party import answered
from otf.adapter.waiting import Alarm, alarms
from otf.errors import CodecError, UsageError
from otf.framing import Framing, lines
from otf.values.arguments import checked

Tls: TypeAlias = SSLContext | None
FORM: Final = "tcp://HOST:PORT to call it, or tcp-listen://HOST:PORT to be called"
LINES: Final = lines()
WITHIN: Final = 2.0


class TcpLine(SocketLine):
    """A TCP connection; made by `open_tcp` and `TcpListener`.

    While there is a connection, `address` is the (host, port) of our side, `peer` that of the other.
    """

    _under_way: UnderWay | None = None

    def reader(self, sock: socket.socket) -> Callable[[], bytes]:
        """Set up the socket, and return a function that reads it."""
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._forget()
        self.address: Address = sock.getsockname()[:2]
        self.peer: Address = sock.getpeername()[:2]
        return reading(sock, self._more) if isinstance(sock, SSLSocket) else prompt_reader(sock)

    def writer(self, sock: socket.socket) -> Callable[[bytes], int]:
        """Return a function that writes to the socket."""
        return writing(sock) if isinstance(sock, SSLSocket) else sock.send

    def acknowledge(self, *, later: bool) -> None:
        """Acknowledge what was read; with `later`, the next inputs or the next call carry the acknowledgements."""
        sock = self._socket
        if sock is not None and not isinstance(sock, SSLSocket):
            self._read = (saving_reader if later else prompt_reader)(sock)
            acknowledge(sock)

    def finish(self) -> None:
        """Close our half of the connection. Raises CodecError with TLS, which has no halves."""
        if isinstance(self._socket, SSLSocket):
            raise CodecError("a connection with TLS cannot be half closed: close it, or break it off")
        super().finish()

    def close(self) -> None:
        """Close the connection; with TLS, tell the system that nothing was cut off."""
        if isinstance(self._socket, SSLSocket):
            say_the_end(self._socket)
        self._forget()
        super().close()

    def _forget(self) -> None:
        unsent, self._under_way = self._under_way, None
        if unsent is not None:
            unsent.close()

    def place(self) -> Place:
        """Return that the other end is the process that holds the address of the peer."""
        return Place() if self._socket is None else Place(transport="tcp", address=self.peer)

    def under_way(self) -> int:
        """Return how many bytes the peer has not read, or wrote and have not arrived. Raises OSError if hidden."""
        if self._socket is None:
            return 0
        try:
            self._under_way = self._under_way or UnderWay(self._socket)
        except OSError as error:
            if error.errno == errno.ENOTCONN:
                return 0  # it was reset, which is still unread
            raise
        return self._under_way.bytes()

    def _more(self) -> None:
        self._wake()


class TcpListener:
    """Waits for connections of the system; made by `open_listener`.

    `address` is the (host, port) at which it listens; for port 0 it holds the port that was chosen.
    """

    def __init__(self, listener: socket.socket, alarm: Alarm) -> None:
        self.address: Address = listener.getsockname()[:2]
        self._listener = listener
        self._alarm = alarm

    @asynccontextmanager
    async def accept(
        self, framing: Framing = LINES, within: float = 5.0, tls: Tls = None
    ) -> AsyncGenerator[TcpLine, None]:
        """Wait for the next connection, at most `within` seconds. Raises ContactError if none comes."""
        shown = f"tcp {show_address(self.address)}"
        sock = await accepted(self._listener, shown, within)
        sock = sock if tls is None else await encrypted(sock, tls, shown, within, None)
        line = _line(sock, framing, self._alarm, None)
        try:
            yield line
        finally:
            line.close()

    def close(self) -> None:
        """Stop listening."""
        hang_up(self._listener)


@checked
def tcp(  # noqa: PLR0913 -- the options of a connection are arguments, each with its name
    url: str,
    *,
    framing: Framing = LINES,
    bind: str = "",
    within: float = WITHIN,
    connected: bool = True,
    tls: Tls = None,
) -> Port:
    """Return the port of a TCP connection, for instance to "tcp://127.0.0.1:7000"; otf connects for each path.

    If the address is "tcp-listen://127.0.0.1:7000", otf listens there, and accepts the system's first connection.
    `framing` divides the stream into frames. `bind` is otf's own address, for systems that identify users by address.
    `within` is how many seconds otf waits for a program to listen at the URL. Several ports of a bench may have the
    same URL: each is a connection of its own. Set `connected` to false if connecting is an input of your spec
    (`PortAction.CONNECT`): the path then begins unconnected. `tls` is an `ssl` context for an encrypted connection;
    "tls://HOST:PORT" trusts the certificates that this machine trusts. `tcp` raises UsageError for an invalid address;
    opening the port raises ContactError.

    >>> from dataclasses import dataclass
    >>> from otf import Bench, Spec, goto, lines
    >>> @dataclass(frozen=True)
    ... class Say: text: str
    >>> echo = Spec(lambda state, said: [goto(state, said)], None, [Say("hello")])
    >>> bench = Bench.on_ports(echo, lines({Say: "{text}"}), {"line": tcp("127.0.0.1:7000", within=5.0)})
    >>> bench.ports["line"].kind
    'tcp'
    """
    scheme, _, rest = url.rpartition("://")
    if scheme not in {"", "tcp", "socket", "tls", "tcp-listen"}:
        message = f"not a TCP address: {url!r} begins with {scheme}://; write {FORM}"
        raise UsageError(message)
    address = read_address(rest, FORM)
    context = create_default_context() if scheme == "tls" and tls is None else tls
    if scheme == "tcp-listen":
        opened = partial(_called, address, framing, within, context)
    else:
        opened = partial(open_tcp, address, framing, bind=read_address(bind) if bind else None)
        opened = partial(opened, within=within, connect=connected, tls=context)
    moved = partial(tcp, framing=framing, bind=bind, within=within, connected=connected, tls=tls)
    return Port(opened, "tcp", framing, moved, url)


@asynccontextmanager
async def open_tcp(  # noqa: PLR0913 -- the same
    address: Address,
    framing: Framing = LINES,
    *,
    bind: Address | None = None,
    within: float = WITHIN,
    connect: bool = True,
    tls: Tls = None,
) -> AsyncGenerator[TcpLine, None]:
    """Connect to (host, port), trying for `within` seconds. Raises ContactError.

    Without `connect` it connects only on `PortAction.CONNECT`.
    """
    family, there = await answered(partial(resolved, address, socket.SOCK_STREAM), 2 * LOOKUP)
    own = resolved(bind, socket.SOCK_STREAM, family, least=0)[1] if bind else None
    shown = f"tcp {show_address(address)}"

    async def call() -> socket.socket:
        sock = await connected(family, there, shown, within, own)
        return sock if tls is None else await encrypted(sock, tls, shown, within, address[0])

    async with alarms() as alarm:
        line = _line(await call() if connect else None, framing, alarm, call)
        try:
            yield line
        finally:
            line.close()


@asynccontextmanager
async def open_listener(address: Address = ("127.0.0.1", 0)) -> AsyncGenerator[TcpListener, None]:
    """Listen at (host, port); port 0 is a fresh one. Raises ContactError if the address is not available."""
    family, here = resolved(address, socket.SOCK_STREAM, least=0)
    async with alarms() as alarm:
        listener = TcpListener(listening(family, here, f"tcp {show_address(address)}"), alarm)
        try:
            yield listener
        finally:
            listener.close()


@asynccontextmanager
async def _called(address: Address, framing: Framing, within: float, tls: Tls) -> AsyncGenerator[TcpLine, None]:
    async with open_listener(address) as listener, listener.accept(framing, within, tls) as line:
        yield line


def _line(sock: socket.socket | None, framing: Framing, alarm: Alarm, call: OpenSocket | None) -> TcpLine:
    try:
        return TcpLine(sock, framing, alarm, call)
    except OSError:
        if sock is not None:
            sock.close()
        raise
