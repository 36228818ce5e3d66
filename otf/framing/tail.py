"""The last words of a stream."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from otf.framing.lines import lines


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
