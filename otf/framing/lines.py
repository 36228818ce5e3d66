"""Lines of text: the framing of most things that people type at."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from functools import partial

from otf.errors import CodecError, UsageError
from otf.framing.frame import LARGEST, Cutter, Frame, FrameBounds, Framing


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


class Prompt(Cutter):
    """Cuts a stream at prompts; made by `prompt`."""

    def __init__(self, prompts: tuple[bytes, ...], end: bytes, largest: int, keep: bool, anywhere: bool) -> None:  # noqa: FBT001 -- `prompt` has their names
        super().__init__(largest)
        self._end = end
        self._keep = keep
        self._anywhere = anywhere
        self._longest = max(map(len, prompts))
        # the longest first: of two prompts, one may be how the other begins
        self._prompts = re.compile(b"|".join(map(re.escape, sorted(prompts, key=len, reverse=True))))
        self.grace: int = self._longest

    def pack(self, data: bytes) -> bytes:
        """Return the command with its end. Raises CodecError where `data` has that end in it."""
        if self._end and self._end in data:
            message = f"{data!r} cannot be sent as one command: it has the end {self._end!r} in it"
            raise CodecError(message)
        return data + self._end

    def find(self, buffer: bytearray, looked: int) -> FrameBounds | None:
        """Return where the first answer ends, and where its prompt does."""
        # a prompt may have come in part when one looked last, and the line end before it decides as well
        for found in self._prompts.finditer(buffer, max(0, looked - self._longest)):
            if self._anywhere or self._fresh(buffer, found.start()):
                return found.end() if self._keep else found.start(), found.end()
        return None

    def _fresh(self, buffer: bytearray, at: int) -> bool:
        # while the rest of a frame is skipped, where the buffer begins is nowhere in particular
        return buffer[at - 1] in b"\r\n" if at else not self._skipping

    def rest(self) -> list[Frame]:
        """Return what came after the last prompt: last words, which no prompt ends."""
        left = self.left()
        return [Frame(left)] if left else []


def prompt(
    *prompts: bytes, end: bytes = b"\r", keep: bool = False, anywhere: bool = False, largest: int = LARGEST
) -> Framing:
    r"""Return the framing in which a frame is all that comes up to a prompt, and `end` follows each command.

    A prompt counts at the beginning of a line only, unless `anywhere`: `=> ` may stand in an answer too. With `keep`
    it stays at the end of the frame, so that a codec can tell several prompts apart. Raises UsageError for no prompt.

    >>> framer = prompt(b"=> ")()
    >>> framer.pack(b"printenv a"), framer.feed(b"printenv a\r\na=1 => 2\r\n="), framer.feed(b"> ")
    (b'printenv a\r', [], [Frame(data=b'printenv a\r\na=1 => 2\r\n', trouble='', came=None)])
    """
    if not prompts or not all(prompts):
        message = "prompt(…): name the bytes that the system ends an answer with, such as b'=> '"
        raise UsageError(message)
    return partial(Prompt, prompts, end, largest, keep, anywhere)


class Tail:
    r"""Keeps the last lines of a stream as text, a bounded number of bytes of each; the last may have no end yet.

    >>> tail = Tail(last=2)
    >>> tail.feed(b"one\ntwo\nthree\nfo")
    >>> tail.lines()
    ['two', 'three', 'fo']
    """

    def __init__(self, last: int = 20, largest: int = 500) -> None:
        self._framer = lines(largest=largest)()
        self._lines = deque[bytes](maxlen=last)
        self._last = last

    def feed(self, *chunks: bytes) -> None:
        """Take the next bytes of the stream."""
        # to cut a flood into lines that nobody will see takes longer than to read it
        for chunk in self._kept(chunks):
            self._lines.extend(frame.data for frame in self._framer.feed(chunk))

    def _kept(self, chunks: tuple[bytes, ...]) -> Sequence[bytes]:
        """Return the end of what has come, from which all lines are made that are kept."""
        left = self._last + 1
        for number in range(len(chunks) - 1, -1, -1):
            chunk, at = chunks[number], len(chunks[number])
            while left and (at := chunk.rfind(b"\n", 0, at)) >= 0:
                left -= 1
            if not left:
                self._framer.rest()  # all before is over, and forgotten
                return chunk[at + 1 :], *chunks[number + 1 :]
        return chunks

    def lines(self) -> list[str]:
        r"""Return what is kept; bytes that are no UTF-8 are shown as `\xff`."""
        begun = self._framer.begun
        return [line.decode(errors="backslashreplace") for line in (*self._lines, *([begun] if begun else []))]
