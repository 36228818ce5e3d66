"""Framing without lengths: either one byte, escaped within frames, ends each frame, or silence ends it."""

from __future__ import annotations

import re
from abc import abstractmethod
from functools import partial
from typing import Final

from otf.errors import CodecError, UsageError
from otf.framing.frame import LARGEST, Buffered, Cutter, Frame, FrameBounds, Framing, too_long
from otf.values.arguments import checked

END, ESCAPE = b"\xc0", b"\xdb"
_WRITTEN: Final = {END: b"\xdb\xdc", ESCAPE: b"\xdb\xdd"}
_READ: Final = {written: meant for meant, written in _WRITTEN.items()}
_SPECIAL: Final = re.compile(rb"[\xc0\xdb]")
_ESCAPED: Final = re.compile(rb"\xdb.?", re.DOTALL)
_BLOCK: Final = 254  # bytes other than zero that one count of COBS covers


class Stuffed(Cutter):
    """Cuts a stream at one byte; ignores empty frames."""

    def __init__(self, largest: int, end: bytes) -> None:
        # every byte of a frame may become two
        super().__init__(largest, 2 * largest + 2)
        self._end = end

    def find(self, buffer: bytearray, looked: int) -> FrameBounds | None:
        """Return the bounds of the first frame."""
        end = buffer.find(self._end, looked)
        return None if end < 0 else (end, end + 1)

    def made(self, data: bytes) -> Frame | None:
        """Return the decoded frame, with `trouble` if it cannot be decoded; None for an empty one."""
        if not data:
            return None
        try:
            return Frame(self.read(data))
        except ValueError as error:
            return Frame(data, str(error))

    @abstractmethod
    def read(self, data: bytes) -> bytes:
        """Return the decoded bytes. Raises ValueError if no encoder can have written `data`."""


class Slip(Stuffed):
    """SLIP, RFC 1055; made by `slip`."""

    def pack(self, data: bytes) -> bytes:
        """Return the frame between two end marks; the first ends any noise. Raises CodecError for an empty frame."""
        if not data:
            raise CodecError("an empty frame cannot be sent with SLIP: the receiver ignores it")
        return END + _SPECIAL.sub(lambda found: _WRITTEN[found[0]], data) + END

    def read(self, data: bytes) -> bytes:
        """Return the decoded bytes. Raises ValueError for an unknown escape."""
        return _ESCAPED.sub(_unescape, data)


class Cobs(Stuffed):
    """Consistent overhead byte stuffing; made by `cobs`."""

    def pack(self, data: bytes) -> bytes:
        """Return the frame encoded without zeros, followed by a zero."""
        packed = bytearray()
        for part in data.split(b"\0"):
            blocks = [part[at : at + _BLOCK] for at in range(0, len(part), _BLOCK)] or [b""]
            for block in blocks:
                packed += bytes([len(block) + 1]) + block
            # a full block implies that no zero follows, so this zero needs a count of its own
            if len(blocks[-1]) == _BLOCK:
                packed += b"\x01"
        return bytes(packed) + b"\0"

    def read(self, data: bytes) -> bytes:
        """Return the decoded bytes. Raises ValueError for a count that points past the end."""
        meant, at = bytearray(), 0
        while at < len(data):
            count = data[at]
            block = data[at + 1 : at + count]
            if len(block) != count - 1:
                raise ValueError("not COBS: a count points beyond the end")
            meant += block
            at += count
            if at < len(data) and count <= _BLOCK:
                meant += b"\0"
        return bytes(meant)


@checked
def slip(*, largest: int = LARGEST) -> Framing:
    r"""Return the SLIP framing of RFC 1055: the byte `\xc0` ends a frame of at most `largest` bytes.

    >>> framer = slip()()
    >>> framer.pack(b"a\xc0\xdb"), framer.feed(b"\xc0a\xdb\xdc\xdb\xdd\xc0")
    (b'\xc0a\xdb\xdc\xdb\xdd\xc0', [Frame(data=b'a\xc0\xdb', trouble='', received=None)])
    """
    return partial(Slip, largest, END)


@checked
def cobs(*, largest: int = LARGEST) -> Framing:
    r"""Return the COBS framing (Cheshire and Baker 1999): a zero byte ends a frame of at most `largest` bytes.

    >>> framer = cobs()()
    >>> framer.pack(b"a\0b"), framer.feed(b"\x02a\x02b\0")
    (b'\x02a\x02b\x00', [Frame(data=b'a\x00b', trouble='', received=None)])
    """
    return partial(Cobs, largest, b"\0")


def _unescape(found: re.Match[bytes]) -> bytes:
    if found[0] not in _READ:
        message = f"not SLIP: the escape {found[0]!r} is unknown"
        raise ValueError(message)
    return _READ[found[0]]


class SilenceFramer(Buffered):
    """Cuts a stream where no byte arrives for `gap` seconds; made by `silence`."""

    def __init__(self, gap: float, largest: int) -> None:
        super().__init__()
        self.gap = gap
        self._largest = largest

    def pack(self, data: bytes) -> bytes:
        """Return the bytes unchanged: the tester sends one frame at a time."""
        return data

    def feed(self, chunk: bytes) -> list[Frame]:
        """Take the next bytes; they never complete a frame."""
        # one byte more than the largest size shows that the frame is too long
        self._buffer += chunk[: self._largest + 1 - len(self._buffer)]
        return []

    def rest(self) -> list[Frame]:
        """Return the frame that silence has ended."""
        data = self.begun
        self._buffer.clear()
        long = too_long(self._largest) if len(data) > self._largest else ""
        return [Frame(data[: self._largest], long)] if data else []


@checked
def silence(gap: float, *, largest: int = LARGEST) -> Framing:
    """Return the framing in which `gap` seconds of silence end a frame.

    Choose `gap` several times as long as the longest pause within a frame; the tester's machine may lengthen a pause by
    some milliseconds. Choose `gap` well below the quiescence time of the bench. If the bytes say how long a frame is,
    `measured(…)` is faster and safer. The framer truncates a frame longer than `largest` bytes, and sets its `trouble`.
    `silence` raises UsageError if `gap` is not above 0.

    >>> framer = silence(0.005)()
    >>> framer.feed(b"ab"), framer.feed(b"c"), framer.gap
    ([], [], 0.005)
    >>> framer.rest()  # after 5 ms without a byte
    [Frame(data=b'abc', trouble='', received=None)]
    """
    if not 0 < gap < float("inf"):
        message = f"silence({gap}): a gap is a number of seconds above 0, such as 0.005"
        raise UsageError(message)
    return partial(SilenceFramer, gap, largest)
