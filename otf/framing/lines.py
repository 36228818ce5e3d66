"""Framing of text: lines, and answers that end at a prompt; and the last lines of a stream."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Final

from otf.errors import CodecError, UsageError
from otf.framing.frame import LARGEST, Cutter, Frame, FrameBounds, Framer, Framing
from otf.values.arguments import checked


class LineFraming(Cutter):
    """Cuts a stream into lines; made by `lines`."""

    def __init__(self, end: bytes, sent: bytes, largest: int) -> None:
        super().__init__(largest)
        self.end = sent
        self._last = b"\r" if end == b"\r" else b"\n"
        self.grace = 2

    def pack(self, data: bytes) -> bytes:
        """Return the line with its end. Raises CodecError if `data` contains a line end that would be added."""
        if self.end and (self._last in data or self.end in data):
            message = f"{data!r} cannot be sent as one line: it contains a line end, and the framing adds one"
            raise CodecError(message)
        return data + self.end

    def feed(self, chunk: bytes) -> list[Frame]:
        """Take the next bytes of the stream; return the lines that they complete."""
        # nearly every chunk is one whole line of allowed size
        if not self._buffer and not self._skipping and len(chunk) <= self.largest:
            line = chunk[:-1]
            if chunk[-1:] == self._last and self._last not in line:
                return [Frame(line[:-1] if line[-1:] == b"\r" else line)]
        return super().feed(chunk)

    def find(self, buffer: bytearray, looked: int) -> FrameBounds | None:
        """Return the bounds of the first line."""
        end = buffer.find(self._last, looked)
        if end < 0:
            return None
        return (end - 1 if end and self._last == b"\n" and buffer[end - 1] == ord("\r") else end), end + 1

    def rest(self) -> list[Frame]:
        """Return the last line, which ends with the stream."""
        left = self.left()
        return self.feed(left + self._last) if left else []


_ENDS: Final = b"\n", b"\r\n", b"\r"


@checked
def lines(end: bytes = b"\n", *, sent: bytes | None = None, largest: int = LARGEST) -> Framing:
    r"""Return the framing in which a frame is a line; otf sends `end` after each line: `\n`, `\r\n` or `\r`.

    A received line may end with `\n` or `\r\n`, or with `\r` if `end` is `\r`. The last line of a stream needs no line
    end. If the system expects a different line end from the one that it sends, pass the expected end as `sent`: many
    consoles expect `\r` and answer with `\r\n`. With `sent=b""`, otf adds no line end, for inputs that already contain
    it. The framer truncates a line longer than `largest` bytes, and sets its `trouble`. `lines` raises UsageError if
    `end` or `sent` is not a line end.

    >>> framer = lines(largest=4)()
    >>> framer.pack(b"hello"), [frame.data for frame in framer.feed(b"one\r\nfo")], framer.feed(b"ur\nfi")
    (b'hello\n', [b'one'], [Frame(data=b'four', trouble='', received=None)])
    >>> framer.feed(b"ve and six"), framer.feed(b" and seven\nten")
    ([Frame(data=b'five', trouble='longer than 4 bytes', received=None)], [])
    >>> framer.rest()
    [Frame(data=b'ten', trouble='', received=None)]
    >>> console = lines(b"\r\n", sent=b"\r")()
    >>> console.pack(b"AT"), [frame.data for frame in console.feed(b"OK\r\n")]
    (b'AT\r', [b'OK'])
    """
    for name, value in ("end", end), ("sent", sent):
        if value is not None and value not in (_ENDS if name == "end" else (*_ENDS, b"")):
            message = (
                f"lines({name}={value!r}): lines end with b'\\n', b'\\r\\n' or b'\\r'; for other ends use prompt(…)"
            )
            raise UsageError(message)
    return partial(LineFraming, end, end if sent is None else sent, largest)


class Prompt(Cutter):
    """Cuts a stream at prompts; made by `prompt`."""

    def __init__(self, prompts: tuple[bytes, ...], end: bytes, largest: int, keep: bool, anywhere: bool) -> None:  # noqa: FBT001 -- `prompt` has their names
        super().__init__(largest)
        self.end = end
        self._keep = keep
        self._anywhere = anywhere
        self._longest = max(map(len, prompts))
        # the longest first, since one prompt may be the beginning of another
        self._prompts = re.compile(b"|".join(map(re.escape, sorted(prompts, key=len, reverse=True))))
        self.grace: int = self._longest

    def pack(self, data: bytes) -> bytes:
        """Return the command with its end. Raises CodecError if `data` contains that end."""
        if self.end and self.end in data:
            message = f"{data!r} cannot be sent as one command: it contains the end {self.end!r}"
            raise CodecError(message)
        return data + self.end

    def find(self, buffer: bytearray, looked: int) -> FrameBounds | None:
        """Return the bounds of the first answer."""
        # part of a prompt may have arrived before, and the line end before the prompt counts as well
        for found in self._prompts.finditer(buffer, max(0, looked - self._longest)):
            if self._anywhere or self._fresh(buffer, found.start()):
                return found.end() if self._keep else found.start(), found.end()
        return None

    def _fresh(self, buffer: bytearray, at: int) -> bool:
        # while a frame is being skipped, the buffer does not begin at the start of a line
        return buffer[at - 1] in b"\r\n" if at else not self._skipping

    def rest(self) -> list[Frame]:
        """Return the bytes after the last prompt: the last words of a system, which no prompt ends."""
        left = self.left()
        return [Frame(left)] if left else []


@checked
def prompt(
    *prompts: bytes, end: bytes = b"\r", keep: bool = False, anywhere: bool = False, largest: int = LARGEST
) -> Framing:
    r"""Return the framing in which a prompt of the system ends each frame, as on the console of a boot loader.

    otf sends `end` after each command. A prompt ends a frame only at the beginning of a line, because the prompt's text
    may also occur within an answer. With `anywhere=True`, the prompt ends a frame at any place. With `keep=True`, the
    prompt stays at the end of the frame, so that a codec can distinguish several prompts. The framer truncates an
    answer longer than `largest` bytes, and sets its `trouble`. `prompt` raises UsageError if no prompt is given, or if
    a prompt is empty.

    >>> framer = prompt(b"=> ")()
    >>> framer.pack(b"printenv a"), framer.feed(b"printenv a\r\na=1 => 2\r\n="), framer.feed(b"> ")
    (b'printenv a\r', [], [Frame(data=b'printenv a\r\na=1 => 2\r\n', trouble='', received=None)])
    """
    if not prompts or not all(prompts):
        message = "prompt(…): name the bytes that the system ends an answer with, such as b'=> '"
        raise UsageError(message)
    return partial(Prompt, prompts, end, largest, keep, anywhere)


def outgoing(framing: Framing) -> Framer:
    """Return the framer for what a tester sends, whose lines may end differently from the answers."""
    framer = framing()
    if isinstance(framer, LineFraming | Prompt) and framer.end:
        return LineFraming(framer.end, framer.end, max(framer.largest, LARGEST))  # the bound is one of answers
    return framer


class Tail:
    r"""Keeps the last lines of a stream: at most `last` lines, and of each line the first `largest` bytes.

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
        # cutting a flood into lines that are dropped anyway would take longer than reading it
        for chunk in self._kept(chunks):
            self._lines.extend(frame.data for frame in self._framer.feed(chunk))

    def _kept(self, chunks: tuple[bytes, ...]) -> Sequence[bytes]:
        """Return the end of the chunks that contains all lines to keep."""
        left = self._last + 1
        for number in range(len(chunks) - 1, -1, -1):
            chunk, at = chunks[number], len(chunks[number])
            while left and (at := chunk.rfind(b"\n", 0, at)) >= 0:
                left -= 1
            if not left:
                self._framer.rest()  # drops the line that began before
                return chunk[at + 1 :], *chunks[number + 1 :]
        return chunks

    def lines(self) -> list[str]:
        r"""Return the lines as text, including a last line without an end.

        Bytes that are not UTF-8 appear as `\xff`.
        """
        begun = self._framer.begun
        return [line.decode(errors="backslashreplace") for line in (*self._lines, *([begun] if begun else []))]
