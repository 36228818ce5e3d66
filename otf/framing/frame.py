"""A frame, and what cuts a stream of bytes into frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import field
from typing import Final, Protocol, TypeAlias

from otf.errors import UsageError
from otf.values.cost import light

LARGEST: Final = 65_536
"""Bytes that one frame may have where nobody says otherwise."""


@light
class Frame:
    """One message that arrived: a datagram, a line, a packet; its framing is taken off.

    `trouble` says why it is none, in one word or few: it was too long, or its framing was broken. Such bytes are
    shown to people, and never to a codec: cut off at the right place, a wrong answer would look like a right one.
    `came` is when the kernel took it, by the clock of the event loop, where a line knows that.
    """

    data: bytes
    trouble: str = ""
    came: float | None = field(default=None, compare=False)


class Framer(Protocol):
    """Cuts one stream of bytes into frames, and makes the bytes of frames that are sent."""

    gap: float
    """Seconds of silence that end a frame; 0 where silence ends none."""

    @property
    def unfinished(self) -> bool:
        """Whether a frame has begun and not ended."""
        ...

    @property
    def begun(self) -> bytes:
        """What has come of such a frame: bounded, for people."""
        ...

    def pack(self, data: bytes) -> bytes:
        """Return the bytes on the wire of one frame. Raises CodecError for what cannot be one."""
        ...

    def feed(self, chunk: bytes) -> list[Frame]:
        """Take the next bytes of the stream; return the frames that they complete."""
        ...

    def rest(self) -> list[Frame]:
        """Return what has begun as the frame that it is, now that the stream, or the silence after it, has ended it."""
        ...


Framing: TypeAlias = Callable[[], Framer]
"""Makes a fresh framer: one for each connection."""


def too_long(largest: int) -> str:
    """Return the trouble of a frame that is over its largest size."""
    return f"longer than {largest} bytes"


FrameBounds: TypeAlias = tuple[int, int]
"""Where the data of the first frame ends, and where the next frame begins."""

TORN: Final = "torn: the stream ended within it"


class Cutter(ABC):
    """Keeps what has come of a frame, up to its largest size; a subclass finds where the frame ends.

    Of a frame that is too long its first bytes are given at once, with that as its trouble, and the rest is skipped
    up to its end: a frame without an end takes no memory, and what follows it is read as if nothing had been.
    """

    gap: float = 0.0
    grace: int = 0
    """Bytes that may follow the data of a frame before its end is found: those of the end itself."""

    def __init__(self, largest: int = LARGEST, written: int = 0) -> None:
        if largest < 1:
            message = f"largest={largest}: a frame has at least one byte"
            raise UsageError(message)
        self.largest = largest
        self._most = written or largest  # what the framing puts into a frame makes it longer on the wire
        self._buffer = bytearray()
        self._looked = 0
        self._skipping = False

    @property
    def unfinished(self) -> bool:
        """Return whether a frame has begun and not ended."""
        return bool(self._buffer) and not self._skipping

    @property
    def begun(self) -> bytes:
        """Return what has come of a frame that has not ended, if it is not one that is skipped."""
        return b"" if self._skipping else bytes(self._buffer)

    @abstractmethod
    def pack(self, data: bytes) -> bytes:
        """Return the bytes on the wire of one frame. Raises CodecError for what cannot be one."""

    @abstractmethod
    def find(self, buffer: bytearray, looked: int) -> FrameBounds | None:
        """Return where the first frame ends; in what is before `looked` no end was found when there was no more."""

    def made(self, data: bytes) -> Frame | None:
        """Return the frame of these bytes, without what the framing has put into them; None for what is no frame."""
        return Frame(data)

    def feed(self, chunk: bytes) -> list[Frame]:
        """Take the next bytes of the stream; return the frames that they complete."""
        buffer = self._buffer
        buffer += chunk
        frames = list[Frame]()
        while buffer and (found := self.find(buffer, self._looked)) is not None:
            self._cut(found, frames)
        self._looked = len(buffer)
        if len(buffer) > self._most + self.grace:
            self._overflow(frames)
        return frames

    def rest(self) -> list[Frame]:
        """Return what has begun as torn: a stream may end between two frames, and not within one."""
        left = self.left()
        return [Frame(left[: self.largest], TORN)] if left else []

    def left(self) -> bytes:
        """Take out what has begun."""
        left = self.begun
        self._buffer.clear()
        self._looked, self._skipping = 0, False
        return left

    def _cut(self, found: FrameBounds, frames: list[Frame]) -> None:
        end, after = found
        data = bytes(self._buffer[:end])
        del self._buffer[:after]
        self._looked = 0
        if self._skipping:
            self._skipping = False
        elif (frame := self.made(data)) is not None:
            frames.append(self._bounded(frame))

    def _bounded(self, frame: Frame) -> Frame:
        fits = len(frame.data) <= self.largest
        return frame if fits else Frame(frame.data[: self.largest], frame.trouble or too_long(self.largest))

    def _overflow(self, frames: list[Frame]) -> None:
        if not self._skipping:
            frames.append(Frame(bytes(self._buffer[: self.largest]), too_long(self.largest)))
        self._skipping = True
        # an end that has come in part only may be at the very end
        del self._buffer[: len(self._buffer) - self.grace]
        self._looked = 0
