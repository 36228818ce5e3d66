"""Frames of counted bytes: the size is a number before them, fixed, or computed by a function."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias

from otf.errors import CodecError, UsageError
from otf.framing.frame import LARGEST, TORN, Buffered, Frame, Framing, too_long
from otf.values.arguments import checked

Measure: TypeAlias = Callable[[bytes], int | None]
"""Returns the size of the first frame in bytes, given its bytes so far; None while they are too few to tell."""


class Counted(Buffered):
    """Cuts a stream into frames of counted bytes; made by `length`, `fixed` and `measured`.

    The first `head` bytes are the count itself, and are removed. `measure` receives at most the first `sight` bytes.
    """

    def __init__(self, measure: Measure, pack: Callable[[bytes], bytes], head: int, sight: int, largest: int) -> None:
        super().__init__()
        self._measure = measure
        self._pack = pack
        self._head = head
        self._sight = sight
        self._largest = largest
        self._skip = 0

    def pack(self, data: bytes) -> bytes:
        """Return the bytes that otf sends for one frame. Raises CodecError if `data` cannot be a frame."""
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
        """Return an unfinished frame as torn."""
        left = self.begun
        self._buffer.clear()
        self._skip = 0
        return [Frame(left, TORN)] if left else []

    def _at_once(self, chunk: bytes) -> Frame | None:
        """Return the frame if the chunk is exactly one, as nearly all chunks are, else None."""
        try:
            whole = self._measure(chunk[: self._sight]) == len(chunk)
        except Exception:  # noqa: BLE001 -- `_first` reports it
            return None
        fits = whole and max(1, self._head) <= len(chunk) <= self._head + self._largest
        return Frame(chunk[self._head :]) if fits else None

    def _first(self) -> Frame | None:
        """Remove and return the first frame, or None if it is not complete."""
        try:
            size = self._measure(bytes(self._buffer[: self._sight]))
        except Exception as error:  # noqa: BLE001 -- a function of the user may fail on the bytes of the system
            return self._dropped(len(self._buffer), f"cannot be measured: {type(error).__name__}: {error}")
        if size is None:
            unclear = len(self._buffer) > self._head + self._largest
            return self._dropped(len(self._buffer), too_long(self._largest)) if unclear else None
        if size < max(1, self._head):
            return self._dropped(1, f"impossible: a frame of {size} bytes")
        if size > self._head + self._largest:
            return self._dropped(size, too_long(self._largest))
        return self._whole(size) if len(self._buffer) >= size else None

    def _whole(self, size: int) -> Frame:
        data = bytes(self._buffer[self._head : size])
        del self._buffer[:size]
        return Frame(data)

    def _dropped(self, size: int, trouble: str) -> Frame:
        """Skip a frame of this size, including bytes still to arrive, and return its beginning."""
        # if a count precedes the frame, the trouble shows only the count: how much more has arrived is chance
        begun = bytes(self._buffer[: min(size, self._head or self._largest)])
        self._skip = max(0, size - len(self._buffer))
        del self._buffer[:size]
        return Frame(begun, trouble)


@checked
def length(
    size: int = 2, order: Literal["big", "little"] = "big", *, itself: bool = False, largest: int = LARGEST
) -> Framing:
    r"""Return the framing in which each frame begins with its length in bytes, a number of `size` bytes.

    With `itself=True`, the length includes the bytes of the number. The framer skips a frame longer than `largest`
    bytes, and returns the beginning of that frame with `trouble` set. `length` raises UsageError if `size` is not 1 to
    8; sending a frame that is too long for its number raises CodecError.

    >>> framer = length(1)()
    >>> framer.pack(b"abc"), framer.feed(b"\x03ab"), framer.feed(b"c\x01")
    (b'\x03abc', [], [Frame(data=b'abc', trouble='', received=None)])
    >>> framer.rest()
    [Frame(data=b'\x01', trouble='torn: the stream ended within it', received=None)]
    """
    if not 1 <= size <= 8:  # noqa: PLR2004 -- the widest number that any protocol has
        message = f"length({size}): the number before a frame has 1 to 8 bytes"
        raise UsageError(message)
    extra = size if itself else 0

    def measure(begun: bytes) -> int | None:
        return int.from_bytes(begun[:size], order) - extra + size if len(begun) >= size else None

    def pack(data: bytes) -> bytes:
        if len(data) + extra >= 1 << 8 * size:
            message = f"{len(data)} bytes cannot be sent as one frame: this length does not fit into {size} bytes"
            raise CodecError(message)
        return (len(data) + extra).to_bytes(size, order) + data

    return partial(Counted, measure, pack, size, size, largest)


@checked
def fixed(size: int) -> Framing:
    """Return the framing in which every frame has `size` bytes; raise UsageError if `size` is below 1.

    Sending a frame of another size raises CodecError.

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


@checked
def measured(measure: Measure, *, largest: int = LARGEST) -> Framing:
    r"""Return the framing in which the function `measure` computes the size of each frame in bytes.

    `measure` receives the bytes since the last frame. `measure` returns the size, or None as long as it needs more
    bytes. otf sends frames unchanged. The framer skips a frame longer than `largest` bytes, and returns the beginning
    of that frame with `trouble` set.

    >>> framer = measured(lambda begun: 8 if begun[:1] == b"\x01" else 5)()
    >>> [frame.data for frame in framer.feed(b"\x02abcd\x01abc")]
    [b'\x02abcd']
    """
    return partial(Counted, measure, bytes, 0, largest + 1, largest)
