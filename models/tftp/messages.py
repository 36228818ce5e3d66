"""The five packets of TFTP as values, and their bytes (RFC 1350, section 5)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

from otf.errors import CodecError
from otf.models.texts import text_of
from otf.values import show

PORT: Final = "tftp"
FULL: Final = 512
"""Bytes in every block of a file except the last."""


@dataclass(frozen=True, slots=True)
class Read:
    """Ask for a file; `mode` in any case."""

    name: str
    mode: str = "octet"


@dataclass(frozen=True, slots=True)
class Write:
    """Ask for permission to send a file."""

    name: str
    mode: str = "octet"


@dataclass(frozen=True, slots=True)
class Data:
    """A block of a file; all its bytes are `fill`: "" if there are none, "?" if they differ."""

    block: int
    fill: str
    size: int


@dataclass(frozen=True, slots=True)
class Ack:
    """A block has come; 0 permits sending the first."""

    block: int


@dataclass(frozen=True, slots=True)
class Error:
    """The transfer is over; `code` says why: 1 for a missing file."""

    code: int


READ, WRITE, DATA, ACK, ERROR = range(1, 6)
_MODES: Final = frozenset((b"octet", b"netascii", b"mail"))
_HEAD: Final = struct.Struct(">HH")


@dataclass(frozen=True, slots=True)
class TftpCodec:
    """One packet a datagram."""

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs."""
        return (Read, Write, Data, Ack, Error)

    def port(self, value: object) -> str:
        """Return the only port."""
        del value
        return PORT

    def encode(self, value: object) -> bytes:
        """Return the packet of an input."""
        match value:
            case Read(name, mode):
                return _request(READ, name, mode)
            case Write(name, mode):
                return _request(WRITE, name, mode)
            case Data(block, fill, size):
                return _HEAD.pack(DATA, block) + fill.encode() * size
            case Ack(block):
                return _HEAD.pack(ACK, block)
            case Error(code):
                return _HEAD.pack(ERROR, code) + b"enough\0"
            case _:
                message = f"{show(value)} is not a packet of TFTP"
                raise CodecError(message)

    def decode(self, port: str, data: bytes) -> Data | Ack | Error:
        """Return the packet in a datagram of the server."""
        del port
        if len(data) < _HEAD.size:
            message = f"{len(data)} bytes are not a packet: {data.hex(' ')}"
            raise CodecError(message)
        kind, number = _HEAD.unpack_from(data)
        rest = data[_HEAD.size :]
        if kind == DATA and len(rest) <= FULL:
            return Data(number, _fill(rest), len(rest))
        if kind == ACK and not rest:
            return Ack(number)
        if kind == ERROR and rest.endswith(b"\0"):
            return Error(number)
        message = f"no packet of a server: {show(data)}"
        raise CodecError(message)

    def decode_input(self, port: str, data: bytes) -> Read | Write | Data | Ack | Error:
        """Return the packet of a client in a datagram. Raises CodecError if there is none."""
        if data[:2] not in {b"\0\1", b"\0\2"}:
            return self.decode(port, data)
        name, mode, *rest = (*data[2:].split(b"\0"), b"")
        if rest != [b"", b""] or mode.lower() not in _MODES:
            message = f"no name and mode, each with a zero byte at its end: {show(data)}"
            raise CodecError(message)
        kind = Read if data[1] == READ else Write
        return kind(text_of(name, "latin-1"), text_of(mode, "ascii"))


def _request(kind: int, name: str, mode: str) -> bytes:
    return kind.to_bytes(2, "big") + name.encode() + b"\0" + mode.encode() + b"\0"


def _fill(data: bytes) -> str:
    if data and data != data[:1] * len(data):
        return "?"
    return data[:1].decode("latin-1")
