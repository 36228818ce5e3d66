"""One direction of a TCP connection in a capture: segments in any order and more than once become a stream of bytes."""

from __future__ import annotations

from typing import Final

AHEAD: Final = 1_000
"""Segments that are kept while one before them is missing."""

_CIRCLE: Final = 1 << 32
_HALF: Final = 1 << 31


class Stream:
    """Takes segments and gives the bytes that follow each other.

    `lost` counts the bytes that the capture does not have: after so many segments ahead nobody waits for them any more.
    """

    def __init__(self) -> None:
        self.lost: int = 0
        self._next: int | None = None
        self._early: dict[int, bytes] = {}

    def begin(self, seq: int) -> None:
        """Take the number of the first byte, from the segment that opens the connection."""
        self._next = (seq + 1) % _CIRCLE
        self._early.clear()

    def feed(self, seq: int, data: bytes) -> bytes:
        """Take a segment; return what follows now.

        >>> stream = Stream()
        >>> stream.feed(100, b"ab"), stream.feed(104, b"ef"), stream.feed(102, b"cd"), stream.feed(102, b"cd")
        (b'ab', b'', b'cdef', b'')
        """
        if not data:
            return b""
        if self._next is None:
            self._next = seq  # the capture began later than the connection
        self._early[seq] = max(data, self._early.get(seq, b""), key=len)
        found = self._ready()
        if not found and len(self._early) > AHEAD:
            first = min(self._early, key=lambda each: (each - (self._next or 0)) % _CIRCLE)
            self.lost += (first - self._next) % _CIRCLE
            self._next = first
            found = self._ready()
        return found

    def _ready(self) -> bytes:
        found = b""
        for seq in sorted(self._early, key=self._distance):
            begun = -self._distance(seq)
            if begun < 0:
                break
            fresh = self._early.pop(seq)[begun:]
            found += fresh
            self._next = ((self._next or 0) + len(fresh)) % _CIRCLE
        return found

    def _distance(self, seq: int) -> int:
        ahead = (seq - (self._next or 0)) % _CIRCLE
        return ahead if ahead < _HALF else ahead - _CIRCLE
