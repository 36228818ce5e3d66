"""A line over any byte stream with a descriptor: chunks go in; frames come out, and finally the ending."""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

import anyio

from otf.adapter.line import NEVER, Arrival, Ending, LineLost, Trouble
from otf.adapter.third_party import where
from otf.adapter.waiting import Alarm, clock
from otf.errors import ModelError, UsageError
from otf.framing import Frame, Framer, Framing
from otf.framing.counted import Counted
from otf.framing.frame import Cutter
from otf.values.arguments import brief
from otf.values.raised import describe

BATCH: Final = 256
"""The most arrivals returned at a time."""

_OF_FRAMER: Final = ("gap", "unfinished", "pack", "feed", "rest")  # see `Framer`
_SHOWN: Final = 100
_SHORT: Final = 512  # bytes: a longer chunk hardly ever comes twice, and would take much memory
_KEPT: Final = 1024


def framer_of(framing: Framing) -> Framer:
    """Return a new framer. Raises UsageError if the framing makes something else."""
    framer = framing()
    if missing := [each for each in _OF_FRAMER if not hasattr(framer, each)]:
        raise UsageError(f"the framing made {brief(framer)}, which is no framer: it has no {', '.join(missing)}")
    return framer


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


PATIENCE: Final = 10.0
"""Seconds within which the other side must read on while something is being sent."""

_AGAIN: Final = 0.005
_ROUNDS: Final = 64  # the most chunks read at once of a frame that does not end
WORDS: Final[Mapping[int, str]] = {
    errno.ECONNRESET: "connection reset",
    errno.EPIPE: "closed by the other side",
    errno.ECONNABORTED: "connection aborted",
    errno.ETIMEDOUT: "connection timed out",
    errno.EHOSTUNREACH: "host unreachable",
    errno.ENETUNREACH: "network unreachable",
}


class StreamLine:
    """Frames over a stream that never blocks; `read` and `write` act on its descriptor.

    `read` returns no bytes at the end of the stream. A subclass says in `ended` what an end or an error means.
    """

    def __init__(
        self, descriptor: int, read: Callable[[], bytes], write: Callable[[bytes], int], framing: Framing, alarm: Alarm
    ) -> None:
        self._descriptor = descriptor
        self._read = read
        self._write = write
        self._alarm = alarm
        self._framing = framing
        self._framer = framer_of(framing)
        self._inflow = Inflow(self._framer, alarm)
        self._wake: Callable[[], None] = lambda: None
        self._gone = ""
        self._broken: Ending | Trouble | None = None
        self._over = False
        self.patience = PATIENCE

    def descriptors(self) -> tuple[int, ...]:
        """Return the descriptor of the stream; none after its end."""
        return () if self._over else (self._descriptor,)

    def arm(self, wake: Callable[[], None]) -> None:
        """Call `wake` when silence has ended a frame."""
        self._wake = self._inflow.wake = wake

    def send(self, data: bytes) -> Coroutine[Any, Any, None]:
        """Send one frame. Raises LineLost, also if the other side reads nothing for ten seconds; CodecError."""
        return self.push(self._framer.pack(data))

    def pack(self, data: bytes) -> bytes:
        """Return the bytes that otf sends for one frame. Raises CodecError."""
        return self._framer.pack(data)

    async def push(self, raw: bytes) -> None:
        """Send bytes as they are. Raises LineLost."""
        if self._gone:
            raise LineLost(self._gone)
        try:
            written = self._write(raw)
        except BlockingIOError:
            written = 0
        except OSError as error:
            raise self._lost(error) from error
        if written < len(raw):
            await self._send_rest(raw[written:])

    def receive(self) -> list[Arrival]:
        """Return up to 256 frames, and finally the ending."""
        inflow = self._inflow
        return inflow.batch() if inflow.queue or self._over else self._look()

    def stirred(self) -> float:
        """Return when the last bytes of an unfinished frame arrived."""
        return self._inflow.stirred()

    def remarks(self) -> list[str]:
        """Return remarks on frames that were too long or broken, and on an unfinished one."""
        return self._inflow.remarks()

    def restart(self, descriptor: int, read: Callable[[], bytes], write: Callable[[bytes], int]) -> None:
        """Start afresh with another stream."""
        self._descriptor, self._read, self._write = descriptor, read, write
        self._inflow.clear()
        self._over, self._gone, self._broken = False, "", None

    def ended(self, error: OSError | None) -> Ending | Trouble:
        """Return the ending, or the trouble, that an end of the stream or an error means."""
        if error is None:
            return Ending("end of stream")
        return Ending(WORDS.get(error.errno or 0, str(error.strerror).lower()))

    def _look(self) -> list[Arrival]:
        """Read until a frame is complete, or there is nothing more to read; return the arrivals."""
        inflow = self._inflow
        for _ in range(_ROUNDS):
            try:
                chunk = self._read()
            except BlockingIOError:
                inflow.look()
                break
            except OSError as error:
                self._end(self.ended(error))
                break
            if not chunk:
                self._end(self.ended(None))
                break
            if (whole := inflow.whole(chunk)) is not None:
                return list(whole)
            inflow.take(chunk)
            if inflow.queue:
                break
        return inflow.batch()

    def _end(self, how: Ending | Trouble) -> None:
        # the kernel reports an error only to the next call: if that was a send, a read sees just an end
        how = self._broken or how
        self._over, self._gone = True, self._gone or how.reason
        self._inflow.end(how)

    def _lost(self, error: OSError) -> LineLost:
        how = self.ended(error)
        self._gone = how.reason
        if error.errno != errno.EPIPE:  # which only says that there was an end before, still to be read
            self._broken = how
        self._wake()  # earlier arrivals are still to be read, and so is the ending
        return LineLost(self._gone)

    async def _send_rest(self, rest: bytes) -> None:
        while rest:
            with anyio.move_on_after(self.patience) as waiting:
                rest = rest[await self._some(rest) :]
            if waiting.cancelled_caught:
                self._gone = f"did not read for {self.patience:g} s"
                raise LineLost(self._gone)

    async def _some(self, rest: bytes) -> int:
        """Write as soon as possible; return how many bytes were written."""
        while True:
            await anyio.wait_writable(self._descriptor)
            try:
                return self._write(rest)
            except BlockingIOError:
                # there is room, but TLS has to read first: waiting for the descriptor would return at once again
                await anyio.sleep(_AGAIN)
            except OSError as error:
                raise self._lost(error) from error


def reader(descriptor: int, size: int = 65_536) -> Callable[[], bytes]:
    """Return a function that reads a descriptor."""
    return lambda: os.read(descriptor, size)
