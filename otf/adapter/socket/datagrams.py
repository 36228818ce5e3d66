"""UDP sockets that lose as little as possible, and say what the network refused."""

from __future__ import annotations

import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from otf.adapter.socket.address import Address, show_address
from otf.adapter.socket.sockets import SocketAddress, contact, resolved

LARGEST: Final = 65_507
"""Bytes that a datagram can hold, with IPv4; with IPv6 it is 20 more."""

_BUFFER = 4 << 20  # the default holds 256 small datagrams
_RECVERR = {socket.AF_INET: (socket.IPPROTO_IP, 11), socket.AF_INET6: (socket.IPPROTO_IPV6, 25)}  # linux/in.h, in6.h
_NOTES = 512  # bytes; a note about a refusal takes 44 (IPv4) or 60 (IPv6)
_MEMINFO, _DROPS = 55, 8  # SO_MEMINFO in asm-generic/socket.h, SK_MEMINFO_DROPS in linux/sock_diag.h
_STAMP, _RCVBUFFORCE = 35, 33  # SO_TIMESTAMPNS, which is its note's number too; asm-generic/socket.h
_TIME = struct.Struct("@ll")  # struct timespec
_NUMBER = struct.Struct("=I")  # ee_errno, the first member of struct sock_extended_err


def datagram_socket(bind: Address, *, shared: bool = False) -> socket.socket:
    """Return a socket that never blocks, bound to (host, port); port 0 is a fresh one. Raises ContactError.

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
    """Take what the kernel has listed (Linux only): the number of an error, and where its datagram was sent to.

    The socket stays readable until this has been exhausted.
    """
    flag = getattr(socket, "MSG_ERRQUEUE", 0)
    with suppress(BlockingIOError):
        while flag:
            _, notes, _, sent_to = sock.recvmsg(0, _NOTES, flag)
            for level, kind, note in notes:
                if (level, kind) == _RECVERR[sock.family]:
                    yield _NUMBER.unpack_from(note)[0], sent_to


def dropped(sock: socket.socket) -> int:
    """Return how many datagrams the kernel has dropped because nobody read them in time (Linux; elsewhere 0)."""
    if sys.platform != "linux":
        return 0
    numbers = sock.getsockopt(socket.SOL_SOCKET, _MEMINFO, 4 * _DROPS + 4)
    return int.from_bytes(numbers[4 * _DROPS :], sys.byteorder)


def stamped(sock: socket.socket, size: int) -> tuple[bytes, SocketAddress, float | None]:
    """Receive a datagram with its sender, and when the kernel took it, by the clock of the day, if it says so."""
    data, notes, _, sender = sock.recvmsg(size, _NOTES)
    for level, kind, note in notes:
        if (level, kind) == (socket.SOL_SOCKET, _STAMP):
            seconds, nanos = _TIME.unpack_from(note)
            return data, sender, seconds + nanos / 1e9
    return data, sender, None


def ask_for_stamps(sock: socket.socket) -> None:
    """Let the kernel say when it took each datagram (Linux)."""
    if sys.platform == "linux":
        sock.setsockopt(socket.SOL_SOCKET, _STAMP, 1)


def _prepare(sock: socket.socket) -> None:
    sock.settimeout(0)
    _enlarge(sock)
    if sys.platform == "linux":  # elsewhere a socket without a connection is not told what the network refused
        sock.setsockopt(*_RECVERR[sock.family], 1)


def _enlarge(sock: socket.socket) -> None:
    if sys.platform == "linux":
        # over the limit of the machine only for an administrator
        with suppress(PermissionError):
            sock.setsockopt(socket.SOL_SOCKET, _RCVBUFFORCE, _BUFFER)
            return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
