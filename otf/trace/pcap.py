"""Captures, read packet by packet in constant memory: UDP and TCP over IPv4 and IPv6, and CAN frames.

The classic format is libpcap's ("PCAP capture file format", an Internet draft); `otf.trace.pcapng` reads the other one.
Captures come from strangers: sizes are bounded, and a malformed capture raises an error that names the packet.
Fragments and other protocols are counted and skipped.
"""

from __future__ import annotations

import ipaddress
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

from otf.errors import TraceError
from otf.trace.pcapng import MAGIC as NEXT_MAGIC
from otf.trace.pcapng import Blocks, RawPacket

Endpoint: TypeAlias = tuple[str, int]
"""An IP address as text, and a port number."""

MAGIC: Final = {
    b"\xd4\xc3\xb2\xa1": ("<", 1e-6),
    b"\xa1\xb2\xc3\xd4": (">", 1e-6),
    b"\x4d\x3c\xb2\xa1": ("<", 1e-9),
    b"\xa1\xb2\x3c\x4d": (">", 1e-9),
}
"""The first bytes of a capture: its byte order, and the unit of its times in seconds."""

LARGEST: Final = 1 << 18  # the most bytes of a packet, as in capture tools

_UDP, _TCP = 17, 6
_VLAN: Final = (0x8100, 0x88A8)
_LINKS: Final = {0: 4, 1: 14, 101: 0, 108: 4, 113: 16, 228: 0, 229: 0, 276: 20}  # bytes before the IP header, by link
_ETHERNET, _CAN = 1, 227
_IPV6_MORE: Final = (0, 43, 60)  # headers that may precede the next, each at least eight bytes long


class CaptureSource(Protocol):
    """The source of a capture."""

    def read(self, size: int, /) -> bytes:
        """Return exactly that many bytes, or fewer at the end of the file."""
        ...


class Packet(NamedTuple):
    """A datagram, or a segment of a TCP stream; `number` counts all packets of the capture from 1, as other tools do.

    `at` is in seconds since the epoch; `seq` and `flags` are TCP's. `sent`: whether this machine sent it, None if
    unknown.
    """

    number: int
    at: float
    kind: Literal["udp", "tcp", "can"]
    source: Endpoint
    target: Endpoint
    data: bytes
    seq: int = 0
    flags: int = 0
    sent: bool | None = None


@dataclass
class Capture:
    """A capture being read; iterate over it. `skipped` counts packets that are neither UDP nor TCP, by kind.

    `cut`: the capture ends inside a packet, which is omitted.
    """

    source: CaptureSource
    name: str
    skipped: Counter[str] = field(default_factory=Counter[str])
    cut: bool = False

    def __iter__(self) -> Iterator[Packet]:
        """Yield the packets, without an incomplete last one: a capture that still grows may have one."""
        for number, found in enumerate(self._records(), 1):
            if found.link not in {*_LINKS, _CAN}:
                why = f"captures of the link type {found.link} cannot be read; Ethernet, loopback, `any` and CAN can"
                raise TraceError(f"{self.name}: {why}")
            if len(found.data) < found.original:
                message = f"{self.name}, packet {number}: it was cut off by the capture tool; use `tcpdump -s 0`"
                raise TraceError(message)
            packet = self._can(number, found) if found.link == _CAN else self._packet(number, found)
            if packet is not None:
                yield packet

    def _records(self) -> Iterator[RawPacket]:
        magic = self._read(4)
        if magic == NEXT_MAGIC:
            blocks = Blocks(_Begun(magic, self.source).read, self.name)
            yield from blocks
            self.cut = blocks.cut
            return
        order, unit = MAGIC.get(magic, ("", 0.0))
        head = self._read(20)
        if not order or len(head) < 20:  # noqa: PLR2004 -- the size of the header
            why = "this is not a capture; `tcpdump -w FILE` and Wireshark write some"
            raise TraceError(f"{self.name}: {why}")
        link = struct.unpack_from(f"{order}I", head, 16)[0] & 0xFFFF
        yield from self._classic(struct.Struct(f"{order}IIII"), unit, link)

    def _classic(self, record: struct.Struct, unit: float, link: int) -> Iterator[RawPacket]:
        number = 0
        while len(head := self._read(record.size)) == record.size:
            seconds, parts, size, original = record.unpack(head)
            number += 1
            if size > LARGEST:
                message = f"{self.name}, packet {number}: it has {size} bytes; the maximum is {LARGEST}"
                raise TraceError(message)
            data = self._read(size)
            if len(data) < size:
                self.cut = True
                return
            yield RawPacket(seconds + parts * unit, link, data, original)
        self.cut = bool(head)

    def _read(self, size: int) -> bytes:
        return self.source.read(size)

    def _can(self, number: int, found: RawPacket) -> Packet:
        # bytes after the data are padding
        size = 8 + found.data[4] if found.data[4:5] else 0
        return Packet(number, found.at, "can", ("", 0), ("", 0), found.data[:size], sent=found.sent)

    def _packet(self, number: int, raw: RawPacket) -> Packet | None:
        at, data = raw.at, _ip(raw.link, raw.data)
        try:
            found = _ipv6(data) if data[:1] and data[0] >> 4 == 6 else _ipv4(data)  # noqa: PLR2004 -- the version
            if isinstance(found, str):
                self.skipped[found] += 1
                return None
            kind, source, target, body = found
            return (_udp if kind == _UDP else _tcp)(number, at, source, target, body)
        except (struct.error, IndexError):
            self.skipped["malformed"] += 1
            return None


class _Begun:
    """A source whose first bytes have been read already."""

    def __init__(self, first: bytes, source: CaptureSource) -> None:
        self._first, self._source = first, source

    def read(self, size: int) -> bytes:
        """Return exactly that many bytes, or fewer at the end."""
        first, self._first = self._first[:size], self._first[size:]
        return first + self._source.read(size - len(first)) if size > len(first) else first


_Found: TypeAlias = tuple[int, bytes, bytes, bytes]


def _ip(link: int, data: bytes) -> bytes:
    begin = _LINKS[link]
    if link == _ETHERNET and int.from_bytes(data[12:14], "big") in _VLAN:
        begin += 4
    return data[begin:]


def _ipv4(data: bytes) -> _Found | str:
    if not data or data[0] >> 4 != 4:  # noqa: PLR2004 -- the version
        return "no IP"
    total, fragment = struct.unpack_from(">H2xH", data, 2)
    if fragment & 0x3FFF:
        return "fragments"
    if data[9] not in {_UDP, _TCP}:
        return f"IP protocol {data[9]}"
    # a length of 0: the packet was captured before the network card split it
    return data[9], data[12:16], data[16:20], data[(data[0] & 15) * 4 : total or None]


def _ipv6(data: bytes) -> _Found | str:
    kind, at = data[6], 40
    while kind in _IPV6_MORE:
        kind, at = data[at], at + 8 + 8 * data[at + 1]
    if kind not in {_UDP, _TCP}:
        return "fragments" if kind == 44 else f"IP protocol {kind}"  # noqa: PLR2004 -- the header of a fragment
    length = int.from_bytes(data[4:6], "big")
    return kind, data[8:24], data[24:40], data[at : 40 + length if length else None]


def _udp(number: int, at: float, source: bytes, target: bytes, data: bytes) -> Packet:
    here, there, size = struct.unpack_from(">HHH", data)
    body = data[8 : size or None]
    return Packet(number, at, "udp", (_text(source), here), (_text(target), there), body)


def _tcp(number: int, at: float, source: bytes, target: bytes, data: bytes) -> Packet:
    here, there, seq = struct.unpack_from(">HHI", data)
    body = data[(data[12] >> 4) * 4 :]
    return Packet(number, at, "tcp", (_text(source), here), (_text(target), there), body, seq, data[13])


TEXTS: dict[bytes, str] = {}


def _text(address: bytes) -> str:
    # a capture has few addresses but many packets
    text = TEXTS.get(address)
    if text is None:
        if len(TEXTS) > 10_000:  # noqa: PLR2004 -- a scan of a network must not fill the memory
            TEXTS.clear()
        text = TEXTS[address] = str(ipaddress.ip_address(address))
    return text


AHEAD: Final = 1_000
"""Segments kept while an earlier one is missing."""

_CIRCLE: Final = 1 << 32
_HALF: Final = 1 << 31


class Stream:
    """Puts the segments of one direction of a TCP connection in order, and returns the bytes as they become contiguous.

    `lost` counts the bytes missing from the capture: it gives up on a gap after `AHEAD` later segments.
    """

    def __init__(self) -> None:
        self.lost: int = 0
        self._next: int | None = None
        self._early: dict[int, bytes] = {}

    def begin(self, seq: int) -> None:
        """Set the number of the first byte, from the segment that opens the connection."""
        self._next = (seq + 1) % _CIRCLE
        self._early.clear()

    def feed(self, seq: int, data: bytes) -> bytes:
        """Add a segment; return the bytes that are now contiguous.

        >>> stream = Stream()
        >>> stream.feed(100, b"ab"), stream.feed(104, b"ef"), stream.feed(102, b"cd"), stream.feed(102, b"cd")
        (b'ab', b'', b'cdef', b'')
        """
        if not data:
            return b""
        if self._next is None:
            self._next = seq  # the capture began later than the connection
        self._early[seq] = max(data, self._early.get(seq, b""), key=len)
        found = self._ready()
        if not found and len(self._early) > AHEAD:
            first = min(self._early, key=lambda each: (each - (self._next or 0)) % _CIRCLE)
            self.lost += (first - self._next) % _CIRCLE
            self._next = first
            found = self._ready()
        return found

    def _ready(self) -> bytes:
        found = b""
        for seq in sorted(self._early, key=self._distance):
            begun = -self._distance(seq)
            if begun < 0:
                break
            fresh = self._early.pop(seq)[begun:]
            found += fresh
            self._next = ((self._next or 0) + len(fresh)) % _CIRCLE
        return found

    def _distance(self, seq: int) -> int:
        ahead = (seq - (self._next or 0)) % _CIRCLE
        return ahead if ahead < _HALF else ahead - _CIRCLE
