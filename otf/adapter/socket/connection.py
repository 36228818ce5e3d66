"""Connected sockets: called or accepted, each within a time of its own; and network addresses, as people write them."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final, TypeAlias

import anyio

from otf.adapter.log import note
from otf.adapter.third_party import answer
from otf.errors import ContactError, UsageError

Address: TypeAlias = tuple[str, int]
"""A host (a name, or an IPv4 or IPv6 address) and a port number."""

HIGHEST: Final = 65_535


def read_address(text: str, expected: str = "HOST:PORT") -> Address:
    """Return the host and the port that `text` names; the error shows the form `expected`.

    >>> read_address("127.0.0.1:7000"), read_address("[::1]:0")
    (('127.0.0.1', 7000), ('::1', 0))

    Raises UsageError if it is not an address.
    """
    host, colon, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    if colon and _is_port(port) and (bracketed or ":" not in host):
        found = host[1:-1] if bracketed else host
        if found:
            return found, int(port)
    message = f"not an address: {text!r}; write {expected}, an IPv6 host in brackets, and a port from 0 to {HIGHEST}"
    raise UsageError(message)


def show_address(address: Address) -> str:
    """Return an address in the form that `read_address` reads.

    >>> show_address(("::1", 7000))
    '[::1]:7000'
    """
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= len(str(HIGHEST)) and int(text) <= HIGHEST


LOOKUP: Final = 5.0
"""The longest time for looking up a name, in seconds."""

SocketAddress: TypeAlias = Any
"""What `bind` and `sendto` take and `recvfrom` returns: a path or a tuple, depending on the socket family."""

_FAMILIES: Final = {socket.AF_INET: "IPv4 ", socket.AF_INET6: "IPv6 "}
_ADVICE: Final = {
    errno.EADDRINUSE: "another socket has it; stop its program (`ss -tulpn` lists them), or use port 0: a fresh one",
    errno.EADDRNOTAVAIL: "this machine has no such address; `ip address` lists those it has",
    errno.EACCES: "ports below 1024 are for the administrator; use a higher one, or port 0: a fresh one",
}


def resolved(
    address: Address, kind: socket.SocketKind, family: int = 0, *, least: int = 1
) -> tuple[socket.AddressFamily, SocketAddress]:
    """Return the family and the socket address of (host, port); the thread waits for the look-up of a name.

    `family` asks for one of them (0: any); `least` is the lowest valid port. Raises ContactError.
    """
    host, port = address
    if not least <= port <= HIGHEST:
        message = f"no such port: {show_address(address)}; a port is a number from {least} to {HIGHEST}"
        raise ContactError(message)
    try:
        found = _found(host, port, family, kind)
    except (OSError, UnicodeError) as error:
        which = f"{_FAMILIES.get(socket.AddressFamily(family), '')}address"
        message = f"no {which} is known for {show_address(address)}: {error}; check the name, or write numbers"
        raise ContactError(message) from error
    return found[0], found[4]


def _found(host: str, port: int, family: int, kind: socket.SocketKind) -> Any:  # noqa: ANN401 -- as the system has it
    ask = partial(socket.getaddrinfo, host, port, family, kind)
    with suppress(socket.gaierror):
        return ask(flags=socket.AI_NUMERICHOST)[0]
    try:
        # a look-up cannot be cancelled: neither an interruption nor a time limit reaches into the library
        return answer(ask, LOOKUP)[0]
    except TimeoutError as error:
        message = f"its look-up was not answered within {LOOKUP:g} s"
        raise TimeoutError(message) from error


def facing(peer: Address) -> str:
    """Return the address of this machine from which it reaches `peer`. Raises ContactError if it does not."""
    family, address = resolved(peer, socket.SOCK_DGRAM)
    with socket.socket(family, socket.SOCK_DGRAM) as probe, contact(f"reach {show_address(peer)}"):
        probe.connect(address)  # with UDP this sends nothing, and only chooses the route
        host: str = probe.getsockname()[0]
        return host


@contextmanager
def contact(attempt: str) -> Generator[None, None, None]:
    """Turn an OSError into a ContactError: "cannot " `attempt`, why, and what to do."""
    try:
        yield
    except OSError as error:
        advice = _ADVICE.get(error.errno or 0, "check the address and the network")
        message = f"cannot {attempt}: {str(error.strerror).lower()}; {advice}"
        raise ContactError(message) from error


CHUNK: Final = 65_536
_PAUSE: Final = 0.01  # seconds between two attempts while no program listens yet
_NOT_YET: Final = {errno.ECONNREFUSED, errno.ENOENT, errno.ECONNRESET, errno.EAGAIN}  # ENOENT: for a unix socket
_BACKLOG: Final = 16


async def connected(
    family: int, address: SocketAddress, shown: str, within: float, bind: SocketAddress | None = None
) -> socket.socket:
    """Return a stream socket connected to `address`; if refused, try again until `within` seconds are over.

    Raises ContactError, whose message names `shown`.
    """
    deadline, refused = anyio.current_time() + within, 0
    while True:
        sock = _stream(family, bind, shown)
        try:
            why = await _call(sock, address, deadline)
        except BaseException:
            sock.close()
            raise
        if not why:
            return sock
        sock.close()
        if why not in _NOT_YET or anyio.current_time() + _PAUSE > deadline:
            # the end of the time may cut the last attempt short: the answer to the earlier ones counts
            raise _unreachable_error(shown, refused if refused and why == errno.ETIMEDOUT else why, within)
        refused = why
        note("refused, and called again", "debug", address=shown)
        await anyio.sleep(_PAUSE)


def listening(family: int, address: SocketAddress, shown: str) -> socket.socket:
    """Return a socket that listens at `address`. Raises ContactError if it cannot."""
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.settimeout(0)
        # the previous path has just closed its connections, whose remains hold the port for a minute
        if family != socket.AF_UNIX:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contact(f"listen at {shown}"):
            sock.bind(address)
            sock.listen(_BACKLOG)
    except BaseException:
        sock.close()
        raise
    return sock


async def accepted(listener: socket.socket, shown: str, within: float) -> socket.socket:
    """Return the next connection to a listening socket. Raises ContactError if none comes within that time."""
    with anyio.move_on_after(within):
        while True:
            with suppress(BlockingIOError, ConnectionAbortedError):
                sock, _ = listener.accept()
                sock.settimeout(0)
                return sock
            await anyio.wait_readable(listener)
    message = (
        f"no connection to {shown} came within {within:g} s; start the system so that it connects, or give it more time"
    )
    raise ContactError(message)


def acknowledge(sock: socket.socket) -> None:
    """Acknowledge at once what was read from a socket, and what comes next.

    If a system writes in two parts with Nagle's algorithm on, it sends the second only once the first is acknowledged,
    which otherwise takes up to 40 ms. The kernel falls back to that after each input.
    """
    with suppress(OSError):  # a connection that is broken off
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)


def prompt_reader(sock: socket.socket) -> Callable[[], bytes]:
    """Return a function that reads a socket, and acknowledges at once what it read."""

    def read() -> bytes:
        acknowledge(sock)
        return sock.recv(CHUNK)

    return read


def saving_reader(sock: socket.socket) -> Callable[[], bytes]:
    """Return a function that reads a socket, and acknowledges only if nothing is there to read.

    The next input carries the acknowledgement of a whole answer. A separate one takes a tenth of a step.
    """

    def read() -> bytes:
        try:
            return sock.recv(CHUNK)
        except BlockingIOError:
            # part of a frame may have been read before
            acknowledge(sock)
            raise

    return read


def hang_up(sock: socket.socket) -> None:
    """Close a socket that a loop may be watching."""
    if sock.fileno() >= 0:
        anyio.notify_closing(sock)
        sock.close()


def reset(sock: socket.socket) -> None:
    """Close a socket so that the other side sees "connection reset", not "end of stream"."""
    with suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    hang_up(sock)


def _stream(family: int, bind: SocketAddress | None, shown: str) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.settimeout(0)
        if bind is not None:
            with contact(f"call {shown} from {bind[0]}"):
                sock.bind(bind)
    except BaseException:
        sock.close()
        raise
    return sock


async def _call(sock: socket.socket, address: SocketAddress, deadline: float) -> int:
    """Return the error number of the attempt, 0 if it succeeded."""
    why = sock.connect_ex(address)
    if why != errno.EINPROGRESS:
        return why
    with anyio.CancelScope(deadline=deadline):
        await anyio.wait_writable(sock)
        return sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    # the answer may have come at the last moment, or at once if there is no time at all
    return sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) or errno.ETIMEDOUT


def _unreachable_error(shown: str, why: int, within: float) -> ContactError:
    advice = {
        errno.ECONNREFUSED: f"no program listens there, even after {within:g} s; start one, or check the address",
        errno.ENOENT: f"there is no such socket, even after {within:g} s; start the system, or check the path",
        errno.ETIMEDOUT: f"no answer within {within:g} s; check the address and the network, or give it more time",
        errno.EACCES: "you may not; look at the rights of the socket with `ls -l`, and at the firewall",
    }
    return ContactError(
        f"cannot reach {shown}: {os.strerror(why).lower()}; {advice.get(why, 'check the address and the network')}"
    )
