"""Frames whose bytes are counted: by a number before them, by agreement, or by a function that looks at them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias

from otf.errors import CodecError, UsageError
from otf.framing.frame import LARGEST, TORN, Frame, Framing, too_long

Measure: TypeAlias = Callable[[bytes], int | None]
"""How many bytes the first frame has, by what has come of it; None while that cannot be told."""


class Counted:
    """Cuts a stream into frames of counted bytes; made by `length`, `fixed` and `measured`.

    `head` bytes at the beginning are the count itself, and are taken off; `sight` bytes are all that `measure` needs.
    """

    gap: float = 0.0

    def __init__(self, measure: Measure, pack: Callable[[bytes], bytes], head: int, sight: int, largest: int) -> None:
        self._measure = measure
        self._pack = pack
        self._head = head
        self._sight = sight
        self._largest = largest
        self._buffer = bytearray()
        self._skip = 0

    @property
    def unfinished(self) -> bool:
        """Return whether a frame has begun and not ended."""
        return bool(self._buffer)

    @property
    def begun(self) -> bytes:
        """Return what has come of a frame that has not ended."""
        return bytes(self._buffer)

    def pack(self, data: bytes) -> bytes:
        """Return the bytes on the wire of one frame. Raises CodecError for what cannot be one."""
        return self._pack(data)

    def feed(self, chunk: bytes) -> list[Frame]:
        """Take the next bytes of the stream; return the frames that they complete."""
        if not self._buffer and not self._skip and (whole := self._at_once(chunk)) is not None:
            return [whole]
        skipped = min(self._skip, len(chunk))
        self._skip -= skipped
        self._buffer += chunk[skipped:]
        frames = list[Frame]()
        while self._buffer and (frame := self._first()) is not None:
            frames.append(frame)
        return frames

    def rest(self) -> list[Frame]:
        """Return what has begun as torn."""
        left = self.begun
        self._buffer.clear()
        self._skip = 0
        return [Frame(left, TORN)] if left else []

    def _at_once(self, chunk: bytes) -> Frame | None:
        """Return the frame that a chunk is, as nearly all are; None where it is another number of them."""
        try:
            whole = self._measure(chunk[: self._sight]) == len(chunk)
        except Exception:  # noqa: BLE001 -- told where the buffer is looked at
            return None
        fits = whole and max(1, self._head) <= len(chunk) <= self._head + self._largest
        return Frame(chunk[self._head :]) if fits else None

    def _first(self) -> Frame | None:
        """Take off the first frame; None where it is not whole."""
        try:
            size = self._measure(bytes(self._buffer[: self._sight]))
        except Exception as error:  # noqa: BLE001 -- a function of the user's stumbles over bytes of the system
            return self._dropped(len(self._buffer), f"cannot be measured: {type(error).__name__}: {error}")
        if size is None:
            unclear = len(self._buffer) > self._head + self._largest
            return self._dropped(len(self._buffer), too_long(self._largest)) if unclear else None
        if size < max(1, self._head):
            return self._dropped(1, f"a frame of {size} bytes cannot be")
        if size > self._head + self._largest:
            return self._dropped(size, too_long(self._largest))
        return self._whole(size) if len(self._buffer) >= size else None

    def _whole(self, size: int) -> Frame:
        data = bytes(self._buffer[self._head : size])
        del self._buffer[:size]
        return Frame(data)

    def _dropped(self, size: int, trouble: str) -> Frame:
        """Skip so many bytes, those that are still to come as well."""
        # of a frame with a count before it the count is enough to see: how much more is there already is chance
        begun = bytes(self._buffer[: min(size, self._head or self._largest)])
        self._skip = max(0, size - len(self._buffer))
        del self._buffer[:size]
        return Frame(begun, trouble)


def length(
    size: int = 2, order: Literal["big", "little"] = "big", *, itself: bool = False, largest: int = LARGEST
) -> Framing:
    r"""Return the framing in which a number of `size` bytes before each frame says how many bytes it has.

    `itself`: the number counts its own bytes as well. A frame over `largest` bytes is skipped. Raises UsageError for a
    number that cannot be.

    >>> framer = length(1)()
    >>> framer.pack(b"abc"), framer.feed(b"\x03ab"), framer.feed(b"c\x01")
    (b'\x03abc', [], [Frame(data=b'abc', trouble='', came=None)])
    >>> framer.rest()
    [Frame(data=b'\x01', trouble='torn: the stream ended within it', came=None)]
    """
    if not 1 <= size <= 8:  # noqa: PLR2004 -- the widest number that any protocol has
        message = f"length({size}): the number before a frame has 1 to 8 bytes"
        raise UsageError(message)
    extra = size if itself else 0

    def measure(begun: bytes) -> int | None:
        return int.from_bytes(begun[:size], order) - extra + size if len(begun) >= size else None

    def pack(data: bytes) -> bytes:
        if len(data) + extra >= 1 << 8 * size:
            message = f"{len(data)} bytes cannot be sent as one frame: their number does not fit into {size} bytes"
            raise CodecError(message)
        return (len(data) + extra).to_bytes(size, order) + data

    return partial(Counted, measure, pack, size, size, largest)


def fixed(size: int) -> Framing:
    """Return the framing in which every frame has `size` bytes. Raises UsageError for less than one.

    >>> framer = fixed(3)()
    >>> [frame.data for frame in framer.feed(b"abcdefg")], framer.begun
    ([b'abc', b'def'], b'g')
    """
    if size < 1:
        message = f"fixed({size}): a frame has at least one byte"
        raise UsageError(message)

    def pack(data: bytes) -> bytes:
        if len(data) != size:
            message = f"{data!r} cannot be sent as one frame: it has {len(data)} bytes, and a frame has {size}"
            raise CodecError(message)
        return data

    return partial(Counted, lambda _begun: size, pack, 0, 0, size)


def measured(measure: Measure, *, largest: int = LARGEST) -> Framing:
    r"""Return the framing in which a function of yours tells how many bytes the first frame has.

    It gets what has come since the last frame, and returns None while that cannot be told. What is sent goes as it is.

    >>> framer = measured(lambda begun: 8 if begun[:1] == b"\x01" else 5)()
    >>> [frame.data for frame in framer.feed(b"\x02abcd\x01abc")]
    [b'\x02abcd']
    """
    return partial(Counted, measure, bytes, 0, largest + 1, largest)
