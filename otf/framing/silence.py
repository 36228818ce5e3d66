"""Silence between frames: serial protocols such as Modbus RTU have nothing else."""

from __future__ import annotations

from functools import partial

from otf.errors import UsageError
from otf.framing.frame import LARGEST, Frame, Framing, too_long


class Silence:
    """A frame is what comes until nothing comes for `gap` seconds; made by `silence`."""

    def __init__(self, gap: float, largest: int) -> None:
        self.gap = gap
        self._largest = largest
        self._buffer = bytearray()

    @property
    def unfinished(self) -> bool:
        """Return whether something has come since the last silence."""
        return bool(self._buffer)

    @property
    def begun(self) -> bytes:
        """Return what has come since the last silence."""
        return bytes(self._buffer)

    def pack(self, data: bytes) -> bytes:
        """Return the bytes as they are: the tester sends a frame at a time."""
        return data

    def feed(self, chunk: bytes) -> list[Frame]:
        """Take the next bytes; no frame ends by them."""
        # one byte more tells that it is too long
        self._buffer += chunk[: self._largest + 1 - len(self._buffer)]
        return []

    def rest(self) -> list[Frame]:
        """Return the frame, now that there was silence."""
        data = self.begun
        self._buffer.clear()
        long = too_long(self._largest) if len(data) > self._largest else ""
        return [Frame(data[: self._largest], long)] if data else []


def silence(gap: float, *, largest: int = LARGEST) -> Framing:
    """Return the framing in which `gap` seconds of silence end a frame. Raises UsageError for no such time.

    Choose it several times as long as the longest pause within a frame, the machine's own hesitation included (some
    milliseconds), and well below the quiescence time of the bench. Where the bytes themselves tell how long a frame
    is, `measured(…)` is quicker and safer.
    """
    if not 0 < gap < float("inf"):
        message = f"silence({gap}): a gap is a number of seconds above 0, such as 0.005"
        raise UsageError(message)
    return partial(Silence, gap, largest)
