"""The last words of a stream."""

from __future__ import annotations

from collections import deque

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

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the stream."""
        self._lines.extend(frame.data for frame in self._framer.feed(chunk))

    def lines(self) -> list[str]:
        r"""Return what is kept; bytes that are no UTF-8 are shown as `\xff`."""
        begun = self._framer.begun
        return [line.decode(errors="backslashreplace") for line in (*self._lines, *([begun] if begun else []))]
