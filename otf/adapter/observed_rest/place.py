"""The other end of a line: its place, if the line knows that, and the bytes that wait in the kernel between them."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias, runtime_checkable

Transport: TypeAlias = Literal["tcp", "udp"]

Bound: TypeAlias = tuple[str, int]
"""A (host, port)."""


class Unseen(Exception):  # noqa: N818 -- what happened, not an error
    """The rest of a system cannot be observed; the message says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the other end of a line is: a process or an address; `hidden`: why that cannot be known.

    A line that is not connected has none of these yet. `inside`: it is in this process, and answers before the call
    returns. `threads`: the system is in threads of this process.
    """

    pid: int = 0
    transport: Transport | None = None
    address: Bound | None = None
    hidden: str = ""
    inside: bool = False
    threads: bool = False


@runtime_checkable
class Placed(Protocol):
    """A line that knows where its other end is."""

    def place(self) -> Place:
        """Return where the other end is now."""
        ...


@runtime_checkable
class Delaying(Protocol):
    """A line whose bytes may wait in the kernel after one end has written them."""

    def under_way(self) -> int:
        """Return how many bytes wait in the kernel, in either direction. Raises OSError if the kernel hides it."""
        ...


_SOCK_DIAG: Final = 4
_BY_FAMILY: Final = 20
_REQUEST: Final = 1
_ANY_STATE: Final = 0xFFFF_FFFF
_NO_COOKIE: Final = 0xFFFF_FFFF
_HEADER: Final = struct.Struct("=IHHII")
_QUESTION: Final = struct.Struct("=BBBxI")
_PORTS: Final = struct.Struct("!HH")
_PLACE: Final = struct.Struct("=III")
_QUEUES: Final = struct.Struct("=III")  # until when, unread bytes, unsent bytes
_QUEUES_AT: Final = _HEADER.size + 4 + 48
_STATE_AT: Final = _HEADER.size + 1
_LISTENS: Final = 10
_ERROR: Final = 2
_ADDRESS: Final = 16  # bytes, for both families


class UnderWay:
    """The other end of a TCP connection on this machine: what it wrote, and what it is to read, may wait in the kernel.

    Pacing (BBR), Nagle's algorithm and TCP_CORK all hold bytes back after the call that writes them. A server that
    limits the rate of its clients, such as ngircd, leaves their next line unread for seconds. `sock` is our end. Raises
    OSError if the other end cannot be seen.
    """

    def __init__(self, sock: socket.socket) -> None:
        ours, theirs, family = sock.getsockname(), sock.getpeername(), sock.family
        place = _PORTS.pack(theirs[1], ours[1])
        place += b"".join(socket.inet_pton(family, each[0]).ljust(_ADDRESS, b"\0") for each in (theirs, ours))
        place += _PLACE.pack(0, _NO_COOKIE, _NO_COOKIE)
        body = _QUESTION.pack(family, socket.IPPROTO_TCP, 0, _ANY_STATE) + place
        self._question = _HEADER.pack(_HEADER.size + len(body), _BY_FAMILY, _REQUEST, 0, 0) + body
        self._netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _SOCK_DIAG)
        try:
            self._netlink.settimeout(1.0)
            self.bytes()
        except BaseException:
            self._netlink.close()
            raise

    def bytes(self) -> int:
        """Return how many bytes the other end has not read, or wrote and has not sent; 0 if the connection is gone."""
        self._netlink.sendto(self._question, (0, 0))
        answer = self._netlink.recv(4096)
        _, kind, *_ = _HEADER.unpack_from(answer)
        if kind == _ERROR:
            (code,) = struct.unpack_from("=i", answer, _HEADER.size)
            if -code == 2:  # noqa: PLR2004 -- ENOENT: it has been closed
                return 0
            raise OSError(-code, "the kernel does not tell about its sockets")
        if answer[_STATE_AT] == _LISTENS:
            return 0  # the connection has been closed; the queue of the listening socket is a different one
        _, unread, unsent = _QUEUES.unpack_from(answer, _QUEUES_AT)
        return int(unread + unsent)

    def close(self) -> None:
        """Close the netlink socket."""
        self._netlink.close()
