"""The incoming side of a stream: chunks go in; frames come out, and finally the ending."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from otf.adapter.line import NEVER, Arrival, Ending, Trouble
from otf.adapter.third_party import describe, where
from otf.adapter.waiting import Alarm, clock
from otf.errors import ModelError
from otf.framing import Frame, Framer
from otf.framing.counted import Counted
from otf.framing.frame import Cutter

BATCH: Final = 256
"""The most arrivals returned at a time."""

_SHOWN: Final = 100
_SHORT: Final = 512  # bytes: a longer chunk hardly ever comes twice, and would take much memory
_KEPT: Final = 1024


class Inflow:
    """The frames of one stream not received yet; calls `wake` when silence has ended a frame."""

    def __init__(self, framer: Framer, alarm: Alarm) -> None:
        self.queue: deque[Arrival] = deque()
        self.wake: Callable[[], None] = lambda: None
        self._framer = framer
        self._alarm = alarm
        self._clock = clock()
        self._stirred = NEVER
        self._set = False
        self._troubled = 0
        self._trouble = ""
        # whether the next byte begins a frame: then otf's own framers cut equal chunks into equal frames
        self._fresh = self._steady = isinstance(framer, (Counted, Cutter))
        self._whole: dict[bytes, tuple[Frame, ...]] = {}

    def whole(self, chunk: bytes) -> tuple[Frame, ...] | None:
        """Return the frames of a chunk if an equal chunk of whole frames came before, else None: then `take` it."""
        return self._whole.get(chunk) if self._fresh else None

    def take(self, chunk: bytes) -> None:
        """Take the next bytes."""
        frames, fresh = self._cut(self._framer.feed, chunk), self._fresh
        self.queue.extend(frames)
        for frame in frames:
            self._troubled += frame.trouble != ""
            self._trouble = frame.trouble or self._trouble
        unfinished = self._framer.unfinished
        # the rest of a frame that was too long is skipped, until a sound frame proves that this is over
        self._fresh = self._steady and not unfinished and bool(frames) and not frames[-1].trouble
        if fresh and self._fresh and len(chunk) <= _SHORT:
            self._remember(chunk, frames)
        if unfinished:
            self._stirred = self._clock()
            if self._framer.gap and not self._set:
                self._set = True
                self._alarm(self._stirred + self._framer.gap, self._ring)

    def _cut(self, how: Callable[..., list[Frame]], *chunk: bytes) -> list[Frame]:
        try:
            return how(*chunk)
        except Exception as error:
            # the framing is not called again, since it would raise once more while the line and the system are closed
            self._framer, self._steady = _Broken(), False
            raise ModelError(f"{where(error)}: the framing raised {describe(error)}") from error

    def _remember(self, chunk: bytes, frames: list[Frame]) -> None:
        if len(self._whole) >= _KEPT:
            self._whole.clear()
        if not any(frame.trouble for frame in frames):
            self._whole[chunk] = tuple(frames)

    def look(self) -> None:
        """End the frame if nothing is left to read and the silence was long enough."""
        gap = self._framer.gap
        if gap and self._framer.unfinished and self._clock() >= self._stirred + gap:
            self.queue.extend(self._cut(self._framer.rest))

    def end(self, how: Ending | Trouble) -> None:
        """End the stream."""
        self.queue.extend(self._cut(self._framer.rest))
        self.queue.append(how)

    def batch(self) -> list[Arrival]:
        """Return the arrivals, at most `BATCH` at a time."""
        queue = self.queue
        return [queue.popleft() for _ in range(min(len(queue), BATCH))]

    def clear(self) -> None:
        """Forget what has arrived, including an unfinished frame."""
        self._cut(self._framer.rest)
        self.queue.clear()
        self._fresh = self._steady

    def stirred(self) -> float:
        """Return when the last bytes of an unfinished frame arrived; `NEVER` if there is none."""
        return self._stirred if self._framer.unfinished else NEVER

    def remarks(self) -> list[str]:
        """Return remarks that help to understand a failure."""
        # the output shown in a failure may be cut before its reason
        last = f"frames that were too long or broken: {self._troubled}; the last: {self._trouble}"
        remarks = [last] if self._troubled else []
        if self._framer.unfinished:
            begun = self._framer.begun
            more = "" if len(begun) <= _SHOWN else f" (the last of {len(begun)} bytes)"
            remarks.append(f"a frame has begun and not ended: {begun[-_SHOWN:]!r}{more}")
        return remarks

    def _ring(self) -> None:
        # one alarm for a whole frame: each chunk moves the end, and only that of the last chunk counts
        self._set = False
        due = self._stirred + self._framer.gap
        if self._framer.unfinished and self._clock() < due:
            self._set = True
            self._alarm(due, self._ring)
        else:
            self.wake()


class _Broken:
    """Replaces a framer that raised, and cuts nothing."""

    gap = 0.0
    unfinished = False
    begun = b""

    def pack(self, data: bytes) -> bytes:
        return data

    def feed(self, _chunk: bytes) -> list[Frame]:
        return []

    def rest(self) -> list[Frame]:
        return []
