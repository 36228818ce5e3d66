"""Lines of text: the framing of most things that people type at."""

from __future__ import annotations

from functools import partial

from otf.errors import CodecError, UsageError
from otf.framing.cutting import Cutter, FrameBounds
from otf.framing.frame import LARGEST, Frame, Framing


class LineFraming(Cutter):
    """Cuts a stream into lines; made by `lines`."""

    def __init__(self, end: bytes, largest: int) -> None:
        super().__init__(largest)
        self._end = end
        self._last = b"\r" if end == b"\r" else b"\n"
        self.grace = 2

    def pack(self, data: bytes) -> bytes:
        """Return the line with its end. Raises CodecError where `data` has a line end in it."""
        if self._last in data or self._end in data:
            message = f"{data!r} cannot be sent as one line: it has a line end in it"
            raise CodecError(message)
        return data + self._end

    def feed(self, chunk: bytes) -> list[Frame]:
        """Take the next bytes of the stream; return the lines that they complete."""
        # nearly all that is ever fed is one whole line that fits
        if not self._buffer and not self._skipping and len(chunk) <= self.largest:
            line = chunk[:-1]
            if chunk[-1:] == self._last and self._last not in line:
                return [Frame(line[:-1] if line[-1:] == b"\r" else line)]
        return super().feed(chunk)

    def find(self, buffer: bytearray, looked: int) -> FrameBounds | None:
        """Return where the first line ends, and where its end does."""
        end = buffer.find(self._last, looked)
        if end < 0:
            return None
        return (end - 1 if end and self._last == b"\n" and buffer[end - 1] == ord("\r") else end), end + 1

    def rest(self) -> list[Frame]:
        """Return the last line, which the end of the stream ended."""
        left = self.left()
        return self.feed(left + self._last) if left else []


def lines(end: bytes = b"\n", *, largest: int = LARGEST) -> Framing:
    r"""Return the framing in which a frame is a line; `end` is what is sent after each: `\n`, `\r\n` or `\r`.

    What comes may end its lines with `\n` or `\r\n` (with `end=b"\r"`: with `\r`), and the last line need not have an
    end. `largest` is in bytes.

    >>> framer = lines(largest=4)()
    >>> framer.pack(b"hello"), [frame.data for frame in framer.feed(b"one\r\nfo")], framer.feed(b"ur\nfi")
    (b'hello\n', [b'one'], [Frame(data=b'four', trouble='', came=None)])
    >>> framer.feed(b"ve and six"), framer.feed(b" and seven\nten"), framer.rest()
    ([Frame(data=b'five', trouble='longer than 4 bytes', came=None)], [], [Frame(data=b'ten', trouble='', came=None)])
    """
    if end not in {b"\n", b"\r\n", b"\r"}:
        message = f"lines(end={end!r}): lines end with b'\\n', b'\\r\\n' or b'\\r'; for other ends there is prompt(…)"
        raise UsageError(message)
    return partial(LineFraming, end, largest)
