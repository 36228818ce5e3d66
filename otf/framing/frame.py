"""Frames, the interface of framers, and the base of those that look for the end of a frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import field
from typing import Final, Protocol, TypeAlias

from otf.errors import UsageError
from otf.values.identity import light

LARGEST: Final = 65_536
"""The default for the largest size of a frame, in bytes.

>>> from otf.framing import lines
>>> framer = lines(largest=LARGEST)()
"""


@light
class Frame:
    """One message that arrived, such as a datagram, a line or a packet.

    The `data` of a frame are its bytes without the framing. If the bytes are not a correct frame, `trouble` says why in
    a few words, for example that they are too long; else `trouble` is "". Reports show an incorrect frame, but otf
    never passes it to a codec, since a truncated wrong answer might look right. `received` is the time on the event
    loop's clock when the kernel or a reader got the frame, or None if unknown. The frame may have arrived up to `doubt`
    seconds before `received`; infinity means that otf does not know how much earlier.

    >>> Frame(b"pong").data
    b'pong'
    """

    data: bytes
    trouble: str = ""
    received: float | None = field(default=None, compare=False)
    doubt: float = field(default=0.0, compare=False, repr=False)


class Framer(Protocol):
    r"""Cuts the bytes of one connection into frames, and adds the framing to frames that otf sends.

    A `Framing` makes a new framer for each connection.

    >>> from otf.framing import lines
    >>> framer = lines()()
    >>> framer.pack(b"hello"), framer.feed(b"ab"), framer.unfinished, framer.begun
    (b'hello\n', [], True, b'ab')
    >>> [frame.data for frame in framer.rest()]
    [b'ab']
    """

    gap: float
    """Seconds of silence that end a frame; 0 if silence does not end frames."""

    @property
    def unfinished(self) -> bool:
        """Whether a frame has begun but not ended."""
        ...

    @property
    def begun(self) -> bytes:
        """The bytes of the unfinished frame so far, shortened for reports."""
        ...

    def pack(self, data: bytes) -> bytes:
        """Return the bytes that otf sends for one frame. Raises CodecError if `data` cannot be a frame."""
        ...

    def feed(self, chunk: bytes) -> list[Frame]:
        """Take the next bytes of the stream, and return the frames that are now complete."""
        ...

    def rest(self) -> list[Frame]:
        """Return the unfinished frame, if there is one, after the stream has ended or a silence has cut it off."""
        ...


Framing: TypeAlias = Callable[[], Framer]
"""A function that makes a new framer for each connection.

>>> from otf.framing import lines
>>> framing: Framing = lines()
>>> framing().feed(b"ping\\n")
[Frame(data=b'ping', trouble='', received=None)]
"""


def too_long(largest: int) -> str:
    """Return the trouble of a frame that is too long."""
    return f"longer than {largest} bytes"


FrameBounds: TypeAlias = tuple[int, int]
"""Where the data of the first frame ends, and where the next frame begins."""

TORN: Final = "torn: the stream ended within it"


class Buffered:
    """The bytes of a frame that has begun; only a subclass finds its end."""

    gap: float = 0.0

    def __init__(self) -> None:
        self._buffer: bytearray = bytearray()

    @property
    def unfinished(self) -> bool:
        """Return whether a frame has begun but not ended."""
        return bool(self._buffer)

    @property
    def begun(self) -> bytes:
        """Return the bytes of a frame that has not ended."""
        return bytes(self._buffer)


class Cutter(Buffered, ABC):
    """Buffers a frame up to its largest size; a subclass finds its end.

    If a frame is too long, it returns the beginning at once, with `trouble` set, and skips the rest. So an endless
    frame takes no memory, and later frames are read as usual.
    """

    grace: int = 0
    """The most bytes that the end of a frame may have, after its data."""

    def __init__(self, largest: int = LARGEST, written: int = 0) -> None:
        if largest < 1:
            message = f"largest={largest}: a frame has at least one byte"
            raise UsageError(message)
        super().__init__()
        self.largest = largest
        self._most = written or largest  # escapes of the framing make a frame longer on the wire
        self._looked = 0
        self._skipping = False

    @property
    def unfinished(self) -> bool:
        """Return whether a frame has begun but not ended."""
        return bool(self._buffer) and not self._skipping

    @property
    def begun(self) -> bytes:
        """Return the bytes of a frame that has not ended; none if it is being skipped."""
        return b"" if self._skipping else bytes(self._buffer)

    @abstractmethod
    def pack(self, data: bytes) -> bytes:
        """Return the bytes that otf sends for one frame. Raises CodecError if `data` cannot be one."""

    @abstractmethod
    def find(self, buffer: bytearray, looked: int) -> FrameBounds | None:
        """Return the bounds of the first frame, or None if it has no end yet; the last call searched up to `looked`."""

    def made(self, data: bytes) -> Frame | None:
        """Return the frame of these bytes, without escapes; None if they are not a frame."""
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
        """Return an unfinished frame as torn: a stream may end between two frames, but not within one."""
        left = self.left()
        return [Frame(left[: self.largest], TORN)] if left else []

    def left(self) -> bytes:
        """Remove and return the bytes of an unfinished frame."""
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
        # the last bytes may be the first part of an end
        del self._buffer[: len(self._buffer) - self.grace]
        self._looked = 0
