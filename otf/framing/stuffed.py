"""Byte stuffing: one byte is kept for the end of frames, and what looks like it within a frame is written otherwise."""

from __future__ import annotations

import re
from abc import abstractmethod
from functools import partial
from typing import Final

from otf.errors import CodecError
from otf.framing.frame import LARGEST, Cutter, Frame, FrameBounds, Framing

END, ESCAPE = b"\xc0", b"\xdb"
_WRITTEN: Final = {END: b"\xdb\xdc", ESCAPE: b"\xdb\xdd"}
_READ: Final = {written: meant for meant, written in _WRITTEN.items()}
_SPECIAL: Final = re.compile(rb"[\xc0\xdb]")
_ESCAPED: Final = re.compile(rb"\xdb.?", re.DOTALL)
_BLOCK: Final = 254  # bytes other than zero that one count of COBS covers


class Stuffed(Cutter):
    """Cuts a stream at one byte; empty frames between two of them are none."""

    def __init__(self, largest: int, end: bytes) -> None:
        # every byte of a frame may be written as two
        super().__init__(largest, 2 * largest + 2)
        self._end = end

    def find(self, buffer: bytearray, looked: int) -> FrameBounds | None:
        """Return where the first frame ends."""
        end = buffer.find(self._end, looked)
        return None if end < 0 else (end, end + 1)

    def made(self, data: bytes) -> Frame | None:
        """Return the frame with what was written otherwise put right."""
        if not data:
            return None
        try:
            return Frame(self.read(data))
        except ValueError as error:
            return Frame(data, str(error))

    @abstractmethod
    def read(self, data: bytes) -> bytes:
        """Return what was meant. Raises ValueError for what nobody can have written."""


class Slip(Stuffed):
    """SLIP, RFC 1055; made by `slip`."""

    def pack(self, data: bytes) -> bytes:
        """Return the frame between two ends: the first of them flushes what noise has left. Raises CodecError."""
        if not data:
            raise CodecError("an empty frame cannot be sent with SLIP: its receiver takes it for none")
        return END + _SPECIAL.sub(lambda found: _WRITTEN[found[0]], data) + END

    def read(self, data: bytes) -> bytes:
        """Return what was meant. Raises ValueError for an unknown escape."""
        return _ESCAPED.sub(_unescaped, data)


class Cobs(Stuffed):
    """Consistent overhead byte stuffing; made by `cobs`."""

    def pack(self, data: bytes) -> bytes:
        """Return the frame without zeros, and a zero."""
        packed = bytearray()
        for part in data.split(b"\0"):
            blocks = [part[at : at + _BLOCK] for at in range(0, len(part), _BLOCK)] or [b""]
            for block in blocks:
                packed += bytes([len(block) + 1]) + block
            # a full block stands for no zero behind it, so that one needs a count of its own
            if len(blocks[-1]) == _BLOCK:
                packed += b"\x01"
        return bytes(packed) + b"\0"

    def read(self, data: bytes) -> bytes:
        """Return what was meant. Raises ValueError for a count that points behind the end."""
        meant, at = bytearray(), 0
        while at < len(data):
            count = data[at]
            block = data[at + 1 : at + count]
            if len(block) != count - 1:
                raise ValueError("not COBS: a count points behind the end")
            meant += block
            at += count
            if at < len(data) and count <= _BLOCK:
                meant += b"\0"
        return bytes(meant)


def slip(*, largest: int = LARGEST) -> Framing:
    r"""Return the framing of RFC 1055: `\xc0` ends a frame.

    >>> framer = slip()()
    >>> framer.pack(b"a\xc0\xdb"), framer.feed(b"\xc0a\xdb\xdc\xdb\xdd\xc0")
    (b'\xc0a\xdb\xdc\xdb\xdd\xc0', [Frame(data=b'a\xc0\xdb', trouble='', came=None)])
    """
    return partial(Slip, largest, END)


def cobs(*, largest: int = LARGEST) -> Framing:
    r"""Return consistent overhead byte stuffing (Cheshire and Baker 1999): a zero ends a frame.

    >>> framer = cobs()()
    >>> framer.pack(b"a\0b"), framer.feed(b"\x02a\x02b\0")
    (b'\x02a\x02b\x00', [Frame(data=b'a\x00b', trouble='', came=None)])
    """
    return partial(Cobs, largest, b"\0")


def _unescaped(found: re.Match[bytes]) -> bytes:
    if found[0] not in _READ:
        message = f"not SLIP: the escape {found[0]!r} means nothing"
        raise ValueError(message)
    return _READ[found[0]]
