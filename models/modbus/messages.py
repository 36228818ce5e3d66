"""Requests and answers of Modbus RTU, and their bytes: a server's number, a function, data, a checksum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from otf.errors import CodecError
from otf.framing import Framing, measured
from otf.values import show

PORT: Final = "line"
READ_COILS, READ_REGISTERS, WRITE_COIL, WRITE_REGISTER, WRITE_COILS, WRITE_REGISTERS = 1, 3, 5, 6, 15, 16
ON: Final = 0xFF00
ERROR: Final = 0x80
"""Set in the function of an answer that is an exception."""

_CRC: Final = 2
_HEAD: Final = 2  # bytes of each frame: the unit, and the function
_WRITTEN: Final = 4  # bytes that say what was written
_LEAST: Final = _HEAD + _CRC
_SEVERAL: Final = 7  # bytes of a request before its values
_FIXED: Final = 8  # bytes of an answer to a function that writes


@dataclass(frozen=True, slots=True)
class Request:
    """A request: a function with an address, a value or a quantity, and for several the values themselves.

    `unit` is the server that it is for, 0 for all. `crc` is false if the checksum should be wrong.
    """

    function: int
    address: int
    value: int
    values: tuple[int, ...] = ()
    unit: int = 1
    crc: bool = True


@dataclass(frozen=True, slots=True)
class Bits:
    """The coils read, without padding zeros in the last byte."""

    function: int
    bits: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """The registers read."""

    function: int
    words: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: an address, and the value or the quantity."""

    function: int
    address: int
    value: int


@dataclass(frozen=True, slots=True)
class Refused:
    """An exception: 1 for an impossible function, 2 for an address, 3 for a value."""

    function: int
    code: int


@dataclass(frozen=True, slots=True)
class Foreign:
    """An answer in the name of another server."""

    unit: int
    function: int


def crc(data: bytes) -> bytes:
    """Return the checksum of a frame, in wire form.

    >>> crc(bytes.fromhex("010300000002")).hex()
    'c40b'
    """
    rest = 0xFFFF
    for byte in data:
        rest ^= byte
        for _ in range(8):
            rest = (rest >> 1) ^ (0xA001 if rest & 1 else 0)
    return rest.to_bytes(2, "little")


@dataclass(frozen=True, slots=True)
class ModbusCodec:
    """The codec of requests to the server with this number."""

    unit: int = 1

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs."""
        return (Request, Bits, Words, Written, Refused, Foreign)

    def port(self, value: object) -> str:
        """Return the only port."""
        del value
        return PORT

    def encode(self, value: object) -> bytes:
        """Return the frame of a request."""
        if not isinstance(value, Request):
            message = f"{show(value)} is not a request"
            raise CodecError(message)
        head = bytes([value.unit, value.function]) + value.address.to_bytes(2, "big") + value.value.to_bytes(2, "big")
        frame = head + _several(value)
        checksum = crc(frame)
        return frame + (checksum if value.crc else _spoilt(checksum))

    def decode(self, port: str, data: bytes) -> Bits | Words | Written | Refused | Foreign:
        """Return what is in the frame of an answer."""
        del port
        if len(data) < _LEAST:
            message = f"{data.hex(' ')} is not an answer: it has {_LEAST} bytes at least"
            raise CodecError(message)
        frame, checksum = data[:-_CRC], data[-_CRC:]
        if checksum != crc(frame):
            message = f"the checksum of {data.hex(' ')} is wrong"
            raise CodecError(message)
        function, rest = frame[1], frame[2:]
        if frame[0] != self.unit:
            return Foreign(frame[0], function)
        if function & ERROR and rest:
            return Refused(function & ~ERROR, rest[0])
        if function in {READ_COILS, 2}:
            return Bits(function, _bits(rest[1:]))
        if function in {READ_REGISTERS, 4}:
            return Words(function, _words(rest[1:]))
        if len(rest) != _WRITTEN:
            message = (
                f"{data.hex(' ')} is not an answer to a write: {_WRITTEN} bytes follow the function, not {len(rest)}"
            )
            raise CodecError(message)
        return Written(function, *_words(rest))

    def decode_input(self, port: str, data: bytes) -> Request:
        """Return the request in a frame. Raises CodecError for a wrong length or an unknown wrong checksum."""
        del port
        frame, checksum = data[:-_CRC], data[-_CRC:]
        right = crc(frame)
        sizes = {8} | ({_SEVERAL + _CRC + frame[6]} if len(frame) >= _SEVERAL else set[int]())
        known = frame[1:2] and frame[1] in {READ_COILS, READ_REGISTERS, WRITE_COIL, WRITE_REGISTER}
        if checksum not in {right, _spoilt(right)} or len(frame) < _HEAD or len(data) not in ({8} if known else sizes):
            message = f"{data.hex(' ')} is not a request"
            raise CodecError(message)
        address, value = _words(frame[2:6].ljust(4, b"\0"))
        return Request(frame[1], address, value, _values(frame), frame[0], checksum == right)

    def seal(self, data: bytes) -> bytes:
        """Return a frame with the checksum that it needs."""
        return data[:-_CRC] + crc(data[:-_CRC])


def answers() -> Framing:
    """Return the framing of answers: their function determines their length."""
    return measured(_size)


def padded(bits: tuple[int, ...]) -> tuple[int, ...]:
    """Return bits as in `Bits`: padded to whole bytes."""
    return bits + (0,) * (-len(bits) % 8)


def _spoilt(checksum: bytes) -> bytes:
    return bytes([checksum[0] ^ 1, checksum[1]])


def _values(frame: bytes) -> tuple[int, ...]:
    """Return the values in a request that writes several: no more than their quantity."""
    if frame[1] not in {WRITE_COILS, WRITE_REGISTERS}:
        return ()
    found = _bits(frame[_SEVERAL:]) if frame[1] == WRITE_COILS else _words(frame[_SEVERAL:])
    return found[: int.from_bytes(frame[4:6], "big")]


def _several(request: Request) -> bytes:
    if request.function == WRITE_COILS:
        packed = sum(bit << place for place, bit in enumerate(request.values))
        size = (len(request.values) + 7) // 8
        return bytes([size]) + packed.to_bytes(size, "little")
    if request.function == WRITE_REGISTERS:
        return bytes([2 * len(request.values)]) + b"".join(word.to_bytes(2, "big") for word in request.values)
    return b""


def _size(begun: bytes) -> int | None:
    if len(begun) < 3:  # noqa: PLR2004 -- up to the byte that tells how many follow
        return None
    if begun[1] & ERROR:
        return 3 + _CRC
    return 3 + begun[2] + _CRC if begun[1] in {1, 2, 3, 4} else _FIXED


def _bits(data: bytes) -> tuple[int, ...]:
    return tuple(byte >> place & 1 for byte in data for place in range(8))


def _words(data: bytes) -> tuple[int, ...]:
    return tuple(int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))
