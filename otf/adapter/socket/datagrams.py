"""UDP sockets that lose as little as possible, and report what the network refused and when a datagram came."""

from __future__ import annotations

import socket
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from otf.adapter.socket.connection import Address, SocketAddress, contact, resolved, show_address

LARGEST: Final = 65_507
"""The most bytes in a datagram with IPv4; IPv6 allows 20 more."""

_BUFFER = 4 << 20  # the default holds only 256 small datagrams
_RECVERR = {socket.AF_INET: (socket.IPPROTO_IP, 11), socket.AF_INET6: (socket.IPPROTO_IPV6, 25)}  # linux/in.h, in6.h
_NOTES = 512  # bytes; a note about a refusal takes 44 (IPv4) or 60 (IPv6)
_MEMINFO, _DROPS = 55, 8  # SO_MEMINFO in asm-generic/socket.h, SK_MEMINFO_DROPS in linux/sock_diag.h
_STAMP, _RCVBUFFORCE = 35, 33  # SO_TIMESTAMPNS, which is its note's number too; asm-generic/socket.h
_TIME = struct.Struct("@ll")  # struct timespec
_NUMBER = struct.Struct("=I")  # ee_errno, the first member of struct sock_extended_err


def datagram_socket(bind: Address, *, shared: bool = False) -> socket.socket:
    """Return a non-blocking socket bound to (host, port); port 0 means a fresh one. Raises ContactError.

    `shared`: other sockets may have the same address, each connected to a peer of its own.
    """
    family, address = resolved(bind, socket.SOCK_DGRAM, least=0)
    sock = socket.socket(family, socket.SOCK_DGRAM)
    try:
        _prepare(sock)
        if shared:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contact(f"bind udp {show_address(bind)}"):
            sock.bind(address)
    except BaseException:
        sock.close()
        raise
    return sock


def refusals(sock: socket.socket) -> Iterator[tuple[int, SocketAddress]]:
    """Read the kernel's list of refusals: the number of each error, and where its datagram was sent.

    The socket stays readable until the list is exhausted.
    """
    with suppress(BlockingIOError):
        while True:
            _, notes, _, sent_to = sock.recvmsg(0, _NOTES, socket.MSG_ERRQUEUE)
            for level, kind, note in notes:
                if (level, kind) == _RECVERR[sock.family]:
                    yield _NUMBER.unpack_from(note)[0], sent_to


def dropped(sock: socket.socket) -> int:
    """Return how many datagrams the kernel has dropped because they were not read in time."""
    numbers = sock.getsockopt(socket.SOL_SOCKET, _MEMINFO, 4 * _DROPS + 4)
    return int.from_bytes(numbers[4 * _DROPS :], sys.byteorder)


def stamped(sock: socket.socket, size: int) -> tuple[bytes, SocketAddress, float | None]:
    """Receive a datagram with its sender and, if known, when the kernel took it by the wall clock."""
    data, notes, _, sender = sock.recvmsg(size, _NOTES)
    for level, kind, note in notes:
        if (level, kind) == (socket.SOL_SOCKET, _STAMP):
            seconds, nanos = _TIME.unpack_from(note)
            return data, sender, seconds + nanos / 1e9
    return data, sender, None


def ask_for_stamps(sock: socket.socket) -> None:
    """Ask the kernel for the arrival time of each datagram."""
    sock.setsockopt(socket.SOL_SOCKET, _STAMP, 1)


def _prepare(sock: socket.socket) -> None:
    sock.settimeout(0)
    _enlarge(sock)
    sock.setsockopt(*_RECVERR[sock.family], 1)


def _enlarge(sock: socket.socket) -> None:
    # only an administrator may exceed the machine's limit
    with suppress(PermissionError):
        sock.setsockopt(socket.SOL_SOCKET, _RCVBUFFORCE, _BUFFER)
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)


_SLIP: Final = 0.001  # seconds by which two clocks that are read one after the other may differ
_SLEW: Final = 0.001  # seconds per second: a clock being corrected runs faster or slower by at most half of that


class Stamps:
    """Computes from its stamp how long ago a datagram arrived; after one wrong stamp, it believes no other.

    Stamps are wrong if the wall clock was set meanwhile, or if this program sees another time than the kernel
    (`faketime`). Then one may lie in the future, or before the moment when the socket was last empty.
    """

    def __init__(self) -> None:
        self._wrong = False
        self._begun = time.monotonic()
        self._offset = _offset()

    def ago(self, stamp: float, most: float) -> float | None:
        """Return how many seconds ago `stamp` (wall clock, in seconds) was; None if unknown.

        Other evidence says that it was at most `most` seconds ago.
        """
        ago = time.time() - stamp
        slewed = _SLIP + _SLEW * (time.monotonic() - self._begun)
        self._wrong = self._wrong or not -_SLIP <= ago <= most + _SLIP or abs(_offset() - self._offset) > slewed
        return None if self._wrong else max(0.0, ago)


def _offset() -> float:
    return time.time() - time.monotonic()
