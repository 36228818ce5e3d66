"""Captures in the pcapng format, Wireshark's default, read packet by packet in constant memory.

The format is that of the Internet draft "PCAP Next Generation (pcapng) Capture File Format". Captures come from
strangers: each block is bounded, and a malformed one raises an error that names it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, NoReturn

from otf.errors import TraceError

MAGIC: Final = b"\x0a\x0d\x0d\x0a"
"""The first bytes of a capture, and of each section of it."""

LARGEST: Final = 1 << 24  # the most bytes of a block, as in other tools
_ORDERS: Final = {b"\x1a\x2b\x3c\x4d": ">", b"\x4d\x3c\x2b\x1a": "<"}
_INTERFACE, _SIMPLE, _ENHANCED = 1, 3, 6
_RESOLUTION, _OFFSET, _FLAGS = 9, 14, 2
_INTERFACES: Final = 1000


class RawPacket(NamedTuple):
    """A packet as captured; `sent` says whether this machine sent it, None if unknown.

    `original` is how many bytes it had on the wire.
    """

    at: float
    link: int
    data: bytes
    original: int
    sent: bool | None = None


class _Interface(NamedTuple):
    """A network interface: its link type, and how it counts time."""

    link: int
    unit: float
    offset: int


class _CutError(Exception):
    """The capture ends inside a block."""


class Blocks:
    """The packets of a capture; iterate over it. `cut`: the capture ends inside a block, which is omitted.

    >>> from io import BytesIO
    >>> head = MAGIC + bytes.fromhex("1c000000 4d3c2b1a 01000000 ffffffffffffffff 1c000000")
    >>> list(Blocks(BytesIO(head).read, "a.pcapng"))
    []
    """

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        self.cut: bool = False
        self._read, self._name = read, name
        self._order = "<"
        self._interfaces: list[_Interface] = []

    def __iter__(self) -> Iterator[RawPacket]:
        """Yield the packets. Raises TraceError that names the faulty block."""
        try:
            number = 0
            while head := self._read(8):
                number += 1
                kind, body = self._block(head, number)
                if kind == _INTERFACE:
                    self._add(body, number)
                elif kind in {_ENHANCED, _SIMPLE}:
                    yield (self._enhanced_packet if kind == _ENHANCED else self._simple)(body, number)
        except _CutError:
            self.cut = True

    def _block(self, head: bytes, number: int) -> tuple[int, bytes]:
        """Return the type of a block and its body."""
        first = b""
        if head[:4] == MAGIC:
            first = self._exactly(4)
            if first not in _ORDERS:
                self._refuse(number, f"its byte order is {first.hex()}, which is none")
            self._order, self._interfaces = _ORDERS[first], []
        if len(head) < 8:  # noqa: PLR2004 -- type and length
            raise _CutError
        kind, size = struct.unpack(f"{self._order}II", head)
        if not 12 + len(first) <= size <= LARGEST or size % 4:
            self._refuse(number, f"its length is {size}; it is a multiple of 4, and {LARGEST} at most")
        body = self._exactly(size - 12 - len(first))
        if self._exactly(4) != head[4:]:
            self._refuse(number, "its length at its end is not that at its beginning")
        return kind, body

    def _exactly(self, size: int) -> bytes:
        data = self._read(size)
        if len(data) < size:
            raise _CutError
        return data

    def _add(self, body: bytes, number: int) -> None:
        if len(body) < 8 or len(self._interfaces) >= _INTERFACES:  # noqa: PLR2004 -- link type, and length of packets
            self._refuse(number, "it is not an interface, or there are too many of them")
        options = dict(self._options(body[8:]))
        unit = options.get(_RESOLUTION, b"\6")[:1] or b"\6"
        power = unit[0] & 127
        signed = options.get(_OFFSET, b"").ljust(8, b"\0")[:8]
        offset: int = struct.unpack(f"{self._order}q", signed)[0]
        size = 2.0**-power if unit[0] & 128 else 10.0**-power
        self._interfaces.append(_Interface(struct.unpack_from(f"{self._order}H", body)[0], size, offset))

    def _enhanced_packet(self, body: bytes, number: int) -> RawPacket:
        if len(body) < 20:  # noqa: PLR2004 -- what precedes the data
            self._refuse(number, "it is too short for a packet")
        at, high, low, size, original = map(int, struct.unpack_from(f"{self._order}IIIII", body))
        if at >= len(self._interfaces) or size > len(body) - 20:
            self._refuse(number, f"it has {size} bytes, of the interface {at}; there are {len(self._interfaces)}")
        interface = self._interfaces[at]
        flags = dict(self._options(body[20 + size + -size % 4 :])).get(_FLAGS, b"")
        way = struct.unpack(f"{self._order}I", flags)[0] & 3 if len(flags) == 4 else 0  # noqa: PLR2004 -- 32 bits
        time = ((high << 32) | low) * interface.unit + interface.offset
        sent = {1: False, 2: True}.get(way)
        return RawPacket(time, interface.link, body[20 : 20 + size], original, sent)

    def _simple(self, body: bytes, number: int) -> NoReturn:
        del body
        self._refuse(number, "its packets have no times (Simple Packet Blocks)")

    def _options(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        at = 0
        while at + 4 <= len(data):
            code, size = struct.unpack_from(f"{self._order}HH", data, at)
            if not code:
                return
            yield code, data[at + 4 : at + 4 + size]
            at += 4 + size + -size % 4

    def _refuse(self, number: int, why: str) -> NoReturn:
        raise TraceError(f"{self._name}, block {number}: {why}")
