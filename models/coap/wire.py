"""The bytes of CoAP: a header of four bytes, a token, options, a payload (RFC 7252, section 3)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, get_args

from otf.errors import CodecError
from otf.models.coap.messages import Kind

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
OBSERVE: Final = 6
PATH: Final = 11

_HEADER: Final = struct.Struct(">BBH")
_VERSION: Final = 1
_PAYLOAD: Final = 0xFF
_LONGEST_TOKEN: Final = 8
_EXTENDED: Final = {13: (1, 13), 14: (2, 269)}  # bytes that follow, and the number to add to them

Option = tuple[int, bytes]


@dataclass(frozen=True, slots=True)
class Packet:
    """One datagram; `code` is the byte: 0x45 for 2.05."""

    kind: Kind
    code: int
    id: int = 0
    token: bytes = b""
    options: tuple[Option, ...] = ()
    payload: bytes = b""

    def observe(self) -> int | None:
        """Return the number of the Observe option, None without one."""
        return next((int.from_bytes(value, "big") for number, value in self.options if number == OBSERVE), None)

    def values(self, option: int) -> list[bytes]:
        """Return the values of an option, in their order."""
        return [value for number, value in self.options if number == option]


def packed(packet: Packet) -> bytes:
    """Return the bytes of a packet with options of fewer than 13 bytes, as all of ours are.

    >>> packed(Packet("CON", 1, 0x1234, b"T", ((11, b"a"),))).hex(" ")
    '41 01 12 34 54 b1 61'
    """
    first = _VERSION << 6 | KINDS.index(packet.kind) << 4 | len(packet.token)
    data = _HEADER.pack(first, packet.code, packet.id) + packet.token
    last = 0
    for number, value in sorted(packet.options):
        data += bytes([(number - last) << 4 | len(value)]) + value
        last = number
    return data + (bytes([_PAYLOAD]) + packet.payload if packet.payload else b"")


def unpacked(data: bytes) -> Packet:
    """Return the packet in a datagram. Raises CodecError if the RFC calls it malformed."""
    if len(data) < _HEADER.size:
        message = f"{len(data)} bytes are not a CoAP message: its header has {_HEADER.size}"
        raise CodecError(message)
    first, code, number = map(int, _HEADER.unpack_from(data))
    length, rest = first & 15, data[_HEADER.size :]
    if first >> 6 != _VERSION or length > min(_LONGEST_TOKEN, len(rest)):
        message = f"the first byte is {first:#04x}: a CoAP message has the version 1 and a token of at most 8 bytes"
        raise CodecError(message)
    options, payload = _options(rest[length:])
    return Packet(KINDS[first >> 4 & 3], code, number, rest[:length], options, payload)


def with_id(data: bytes, number: int) -> bytes:
    """Return a datagram with another message id."""
    return data[:2] + number.to_bytes(2, "big") + data[4:]


def _options(data: bytes) -> tuple[tuple[Option, ...], bytes]:
    found, number = list[Option](), 0
    while data and data[0] != _PAYLOAD:
        delta, length, data = *divmod(data[0], 16), data[1:]
        delta, data = _extended(delta, data)
        length, data = _extended(length, data)
        if len(data) < length:
            raise CodecError("an option is longer than its message")
        number += delta
        found.append((number, data[:length]))
        data = data[length:]
    if len(data) == 1:
        raise CodecError("a payload marker is followed by no payload")
    return tuple(found), data[1:]


def _extended(value: int, data: bytes) -> tuple[int, bytes]:
    if value == 15:  # noqa: PLR2004 -- reserved for the payload marker
        raise CodecError("an option has a delta or a length of 15")
    size, more = _EXTENDED.get(value, (0, value))
    return int.from_bytes(data[:size], "big") + more, data[size:]


def segments(path: str) -> Iterator[Option]:
    """Yield the options of a path."""
    yield from ((PATH, segment.encode()) for segment in path.split("/") if segment)
