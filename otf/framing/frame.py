"""A frame, and what cuts a stream of bytes into frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Final, Protocol, TypeAlias

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
