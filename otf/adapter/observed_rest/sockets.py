"""The kernel's tables of sockets: which are bound to an address, and how they are connected."""

from __future__ import annotations

import ipaddress
import socket
import struct
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias

from otf.adapter.observed_rest.place import Bound, Transport
from otf.values.identity import light

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_NET: Final = Path("/proc/net")
_LOCAL: Final = 1
_REMOTE: Final = 2
_STATE: Final = 3
_INODE: Final = 9
_CONNECTED: Final = "01"
_FAMILIES: Final = {"tcp": socket.AF_INET, "tcp6": socket.AF_INET6}
_SOCK_DIAG, _BY_FAMILY, _DUMP, _DONE, _ERROR = 4, 20, 0x301, 3, 2  # numbers of linux/netlink.h and linux/sock_diag.h
_OWNED: Final = 0xFFF & ~(1 << 6)  # the states to list: a connection in TIME_WAIT belongs to no process
_LISTENS: Final = 1 << 10
_RECEIVES: Final = {"tcp": "0A", "udp": "07"}  # a TCP socket that listens, a UDP socket without a peer
_HEADER: Final = struct.Struct("=IHHII")  # struct nlmsghdr
_REQUEST: Final = struct.Struct("=BBBxI48x")  # struct inet_diag_req_v2
_ROW: Final = struct.Struct("=BB2x2s2s16s16s12x16xI")  # struct inet_diag_msg
_UNIX_REQUEST: Final = struct.Struct("=B3xI4xI8x")  # struct unix_diag_req
_UNIX_ROW: Final = struct.Struct("=4xI8x")  # struct unix_diag_msg
_ATTRIBUTE: Final = struct.Struct("=HHI")  # struct nlattr, with a number
_EVERY, _WITH_PEER, _PEER = 0xFFFF_FFFF, 4, 2  # numbers of linux/unix_diag.h
_PATIENCE: Final = 1.0  # seconds for an answer of the kernel, which comes at once


def shown(remote: str) -> str:
    """Return an address from the kernel's tables as people write it."""
    host, _, port = remote.rpartition(":")
    return f"{_address(host)}:{int(port, 16)}"


def is_local(host: str) -> bool:
    """Return whether an address leads to this machine over the loopback."""
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def outside(of: Collection[str], sockets: Collection[str]) -> str:
    """Return the address of a connection from sockets `of` a system (inodes) to none of `sockets`, or "".

    It has the kernel's form: see `shown`.

    A connection to a closed port of this machine does not count. For example, a TFTP client closes its socket after
    each transfer, and the server's stays connected to it.
    """
    found = [*rows("udp"), *rows("udp6")]
    datagrams, used = {row.inode for row in found}, {_port(row.local) for row in found}
    known = datagrams | _unix()
    if any(each not in known for each in of):
        found += [*rows("tcp"), *rows("tcp6")]
    ends = {(_plain(row.local), _plain(row.remote)): row.inode for row in found if row.state == _CONNECTED}
    # an unconnected UDP socket hears everybody, and a connection not yet accepted belongs to its listener
    bound = {_port(row.local) for row in found if row.state != _CONNECTED and row.inode in sockets}
    for row in found:
        if row.inode not in of or row.state != _CONNECTED:
            continue
        if ends.get((_plain(row.remote), _plain(row.local))) in sockets or _port(row.remote) in bound:
            continue
        host, _, port = row.remote.rpartition(":")
        closed = row.inode in datagrams and port not in used and _address(host).is_loopback
        if not closed:
            return row.remote
    return ""


def _plain(address: str) -> str:
    """Return an address with IPv4 not written as IPv6, as by a server that listens for both."""
    return address.removeprefix(_MAPPED)


def _port(address: str) -> str:
    return address.rpartition(":")[2]


@light
class _SocketRow:
    """A socket in a table of the kernel."""

    local: str
    remote: str
    state: str
    inode: str


def rows(name: str, states: int = _OWNED) -> list[_SocketRow]:
    """Return the sockets in a table; for TCP without those in TIME_WAIT, if the kernel can leave them out."""
    if name in _FAMILIES:
        # the text of this table takes 5 ms, however few connections there are: the kernel scans 262,144 slots
        with suppress(OSError, struct.error):
            return list(_listed(_FAMILIES[name], states))
    try:
        lines = (_NET / name).read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return []
    words = [line.split() for line in lines]
    return [_SocketRow(each[_LOCAL], each[_REMOTE], each[_STATE], each[_INODE]) for each in words]


def _listed(family: int, states: int) -> Iterator[_SocketRow]:
    """Yield the TCP sockets of a family by netlink, in a tenth of the time. Raises OSError if not permitted."""
    request = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, states)
    return (_row(answer, at) for answer, at, _ in _dumped(request))


def _dumped(request: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield the kernel's answers to a query about sockets, each with its begin and end. Raises OSError."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as diag:
        diag.settimeout(_PATIENCE)
        diag.sendto(_HEADER.pack(_HEADER.size + len(request), _BY_FAMILY, _DUMP, 1, 0) + request, (0, 0))
        while True:
            answer, at = diag.recv(1 << 16), 0
            while at < len(answer):
                size, kind, *_ = _HEADER.unpack_from(answer, at)
                if kind == _DONE:
                    return
                if kind == _ERROR or size < _HEADER.size:
                    raise OSError
                yield answer, at + _HEADER.size, at + size
                at += (size + 3) & ~3


def unix_peers() -> dict[str, str]:
    """Return the unix sockets of this machine by inode, each with its peer's inode, or "". Raises OSError."""
    found = dict[str, str]()
    for answer, begin, end in _dumped(_UNIX_REQUEST.pack(socket.AF_UNIX, _EVERY, _WITH_PEER)):
        (inode,), at, peer = _UNIX_ROW.unpack_from(answer, begin), begin + _UNIX_ROW.size, 0
        while at < end:
            size, kind, value = _ATTRIBUTE.unpack_from(answer, at)
            peer = value if kind == _PEER else peer
            at += max(4, (size + 3) & ~3)
        found[str(inode)] = str(peer or "")  # the kernel reports a closed peer as 0
    return found


def internet() -> set[str]:
    """Return the inodes of the TCP and UDP sockets of this machine."""
    return {row.inode for name in ("tcp", "tcp6", "udp", "udp6") for row in rows(name)}


def _row(answer: bytes, at: int) -> _SocketRow:
    family, state, port, remote_port, local, remote, inode = _ROW.unpack_from(answer, at)
    words = 1 if family == socket.AF_INET else 4
    ends = [f"{_written(host, words)}:{its.hex().upper()}" for host, its in ((local, port), (remote, remote_port))]
    return _SocketRow(ends[0], ends[1], f"{state:02X}", str(inode))


def _written(host: bytes, words: int) -> str:
    """Return an address as in the tables of `/proc/net`: in words of this machine's byte order."""
    return "".join(f"{word:08X}" for word in struct.unpack_from(f"={words}I", host))


_MAPPED: Final = _written(bytes(10) + b"\xff\xff", 3)


def _unix() -> set[str]:
    try:
        lines = (_NET / "unix").read_text(encoding="utf-8", errors="replace").splitlines()[1:]
    except OSError:
        return set()
    return {line.split()[6] for line in lines}


def bound_to(transport: Transport, address: Bound) -> set[str]:
    """Return the inodes of the sockets bound to an address, or to its port at every address."""
    found = set[str]()
    for row in [*rows(transport), *rows(f"{transport}6")]:
        host, _, port = row.local.rpartition(":")
        if int(port, 16) == address[1] and _same(_address(host), address[0]):
            found.add(row.inode)
    return found - {"0"}


def receiving(transport: Transport, address: Bound) -> set[str]:
    """Return the inodes of the sockets that receive what is sent to an address, bound to it or to its port alone.

    Asks the kernel only for listening sockets: after a thousand paths, a list of all connections takes 20 ms.
    """
    host, port = address
    found = [
        row
        for name in (transport, f"{transport}6")
        for row in rows(name, _LISTENS)
        if row.state == _RECEIVES[transport] and int(_port(row.local), 16) == port
    ]
    hosts = {row.inode: _address(row.local.rpartition(":")[0]) for row in found}
    own = {inode for inode, bound in hosts.items() if not bound.is_unspecified and _same(bound, host)}
    return own or {inode for inode, bound in hosts.items() if bound.is_unspecified}


def _same(bound: _Address, host: str) -> bool:
    """Return whether a socket bound to this address may get what is sent to a host; true if the host is a name."""
    try:
        asked = _unmapped(ipaddress.ip_address(host.partition("%")[0]))
    except ValueError:
        return True
    return bound.is_unspecified or asked == _unmapped(bound)


def _unmapped(address: _Address) -> _Address:
    """Return an IPv4 address that is mapped to IPv6 as IPv4; others unchanged."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _address(written: str) -> _Address:
    raw = bytes.fromhex(written)
    if sys.byteorder == "little":
        raw = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    return ipaddress.ip_address(raw)
