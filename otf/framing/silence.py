"""Silence between frames: serial protocols such as Modbus RTU have no other framing."""

from __future__ import annotations

from functools import partial

from otf.errors import UsageError
from otf.framing.frame import LARGEST, Frame, Framing, too_long


class Silence:
    """Cuts a stream where no byte arrives for `gap` seconds; made by `silence`."""

    def __init__(self, gap: float, largest: int) -> None:
        self.gap = gap
        self._largest = largest
        self._buffer = bytearray()

    @property
    def unfinished(self) -> bool:
        """Return whether bytes have arrived since the last silence."""
        return bool(self._buffer)

    @property
    def begun(self) -> bytes:
        """Return the bytes since the last silence."""
        return bytes(self._buffer)

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


def silence(gap: float, *, largest: int = LARGEST) -> Framing:
    """Return the framing in which `gap` seconds of silence end a frame. Raises UsageError if `gap` is not above 0.

    Choose `gap` several times as long as the longest pause within a frame, including delays of the tester's machine
    (some milliseconds), and well below the quiescence time of the bench. If the bytes determine the length of a frame,
    `measured(…)` is faster and safer. A frame over `largest` bytes is cut, with a trouble.

    >>> framer = silence(0.005)()
    >>> framer.feed(b"ab"), framer.feed(b"c"), framer.gap
    ([], [], 0.005)
    >>> framer.rest()  # after 5 ms without a byte
    [Frame(data=b'abc', trouble='', came=None)]
    """
    if not 0 < gap < float("inf"):
        message = f"silence({gap}): a gap is a number of seconds above 0, such as 0.005"
        raise UsageError(message)
    return partial(Silence, gap, largest)
