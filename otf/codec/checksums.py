"""Fields that a codec computes from the bytes of other fields: lengths, sums and cyclic redundancy checks.

A decoded message does not contain computed fields. The codec sets the computed fields when it encodes a message, and
rejects a frame with a wrong field.
"""

from __future__ import annotations

import binascii
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any, Final

from otf.codec.fields import Format, Inner, Number, u8
from otf.errors import UsageError
from otf.values.arguments import checked

_BYTE: Final = 8
_TOP: Final = 0xFF


@dataclass(frozen=True)
class Computed(Format):
    r"""The format of a field that holds a `number` computed from other fields, such as a length or a checksum.

    `compute` is the function that makes the number from the bytes of the fields `first` to `last`. An empty `first`
    stands for the first field of the message, an empty `last` for the last field. `is_length` is true if the number is
    a length, not a checksum.

    >>> Computed(u8, len).of(b"abc")
    b'\x03'
    """

    number: Number
    compute: Callable[[bytes], int]
    first: str = ""
    last: str = ""
    is_length: bool = False

    @property
    def size(self) -> int:
        """Return how many bytes the number has."""
        return self.number.width

    def bound(self, hint: Any, inner: Inner) -> Format:
        """Return this format. Raises UsageError if the type of the field is not int."""
        del inner
        if hint is not int:
            raise UsageError(f"what is computed has the type int, not {hint}")
        return self

    def of(self, data: bytes) -> bytes:
        """Return the bytes of the number computed from `data`. Raises OverflowError if the number is too large."""
        return self.number.write(self.compute(data))


@checked
def length(number: Number, first: str = "", last: str = "", *, plus: int = 0) -> Computed:
    r"""Return the format of a field with the length of the fields `first` to `last`, by default of all later fields.

    If the protocol's length also includes other bytes, such as a header, set `plus` to the number of those bytes. For
    the length of a single field, prefer `raw`, `text` or `sized`.

    >>> from otf.codec.fields import u16be
    >>> length(u16be, plus=2).of(b"abc")
    b'\x00\x05'
    """
    return Computed(number, lambda data: len(data) + plus, first, last, is_length=True)


@checked
def checksum(compute: Callable[[bytes], int], number: Number = u8, first: str = "", last: str = "") -> Computed:
    """Return the format of a field with the checksum of the fields `first` to `last`, by default all earlier fields.

    `compute` is a checksum function of this module, such as `crc32`, or your own; its result must fit into `number`.

    >>> from otf.codec.fields import u16be
    >>> checksum(crc16_modbus, u16be).of(b"123456789").hex()
    '4b37'
    """
    return Computed(number, compute, first, last)


def sum8(data: bytes) -> int:
    """Return the sum of the bytes modulo 256.

    >>> sum8(b"123456789")
    221
    """
    return sum(data) & _TOP


def lrc8(data: bytes) -> int:
    """Return the checksum that makes the sum of all bytes 0 modulo 256, as in Modbus ASCII and Intel HEX.

    >>> lrc8(b"123456789")
    35
    """
    return -sum(data) & _TOP


def xor8(data: bytes) -> int:
    """Return the exclusive or of all bytes, as in NMEA 0183.

    >>> xor8(b"123456789")
    49
    """
    return reduce(lambda value, byte: value ^ byte, data, 0)


def crc8(data: bytes) -> int:
    """Return the checksum CRC-8/SMBUS of the bytes: polynomial 0x07, initial value 0.

    >>> hex(crc8(b"123456789"))
    '0xf4'
    """
    return _bytewise(_forward(0x07), data)


def crc8_maxim(data: bytes) -> int:
    """Return the checksum CRC-8/MAXIM-DOW of the bytes, used on 1-Wire: polynomial 0x31, reflected, initial value 0.

    >>> hex(crc8_maxim(b"123456789"))
    '0xa1'
    """
    return _bytewise(_reflected(0x8C), data)


def crc16_modbus(data: bytes) -> int:
    """Return the checksum CRC-16/MODBUS of the bytes: polynomial 0x8005, reflected, initial value 0xFFFF.

    Modbus RTU sends this checksum little-endian.

    >>> hex(crc16_modbus(b"123456789"))
    '0x4b37'
    """
    return _wordwise(data, 0xA001, 0xFFFF)


def crc16_arc(data: bytes) -> int:
    """Return the checksum CRC-16/ARC of the bytes: polynomial 0x8005, reflected, initial value 0.

    >>> hex(crc16_arc(b"123456789"))
    '0xbb3d'
    """
    return _wordwise(data, 0xA001, 0)


def crc16_x25(data: bytes) -> int:
    """Return the checksum CRC-16/IBM-SDLC of the bytes, used by HDLC and PPP.

    The polynomial is 0x1021, reflected; the initial value is 0xFFFF, and the result is inverted.

    >>> hex(crc16_x25(b"123456789"))
    '0x906e'
    """
    return _wordwise(data, 0x8408, 0xFFFF) ^ 0xFFFF


def crc16_ccitt(data: bytes) -> int:
    """Return the checksum CRC-16/IBM-3740 of the bytes, often named CCITT-FALSE: polynomial 0x1021, initially 0xFFFF.

    >>> hex(crc16_ccitt(b"123456789"))
    '0x29b1'
    """
    return binascii.crc_hqx(data, 0xFFFF)


def crc16_xmodem(data: bytes) -> int:
    """Return the checksum CRC-16/XMODEM of the bytes: polynomial 0x1021, initial value 0.

    >>> hex(crc16_xmodem(b"123456789"))
    '0x31c3'
    """
    return binascii.crc_hqx(data, 0)


def crc32(data: bytes) -> int:
    """Return the checksum CRC-32 of the bytes, used by Ethernet and zip.

    >>> hex(crc32(b"123456789"))
    '0xcbf43926'
    """
    return zlib.crc32(data)


def _bytewise(table: tuple[int, ...], data: bytes) -> int:
    value = 0
    for byte in data:
        value = table[value ^ byte]
    return value


def _wordwise(data: bytes, polynomial: int, value: int) -> int:
    table = _reflected(polynomial)
    for byte in data:
        value = value >> _BYTE ^ table[(value ^ byte) & _TOP]
    return value


@cache
def _reflected(polynomial: int) -> tuple[int, ...]:
    return tuple(
        reduce(lambda value, _: value >> 1 ^ polynomial * (value & 1), range(_BYTE), byte) for byte in range(_TOP + 1)
    )


@cache
def _forward(polynomial: int) -> tuple[int, ...]:
    return tuple(
        reduce(lambda value, _: (value << 1 ^ polynomial * (value >> 7)) & _TOP, range(_BYTE), byte)
        for byte in range(_TOP + 1)
    )


__all__ = [
    "Computed",
    "checksum",
    "crc8",
    "crc8_maxim",
    "crc16_arc",
    "crc16_ccitt",
    "crc16_modbus",
    "crc16_x25",
    "crc16_xmodem",
    "crc32",
    "length",
    "lrc8",
    "sum8",
    "xor8",
]
