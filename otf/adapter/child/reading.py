"""The output of a child process: frames, the last lines of its standard error, and how it ended."""

from __future__ import annotations

import errno
import fcntl
import os
import select
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import anyio

from otf.adapter.child import Child
from otf.adapter.line import NEVER, Ending
from otf.adapter.stream import Inflow
from otf.adapter.waiting import Alarm, any_readable
from otf.framing import Frame, Framer, Tail

PATIENCE: Final = 0.1
"""Seconds that may pass between the end of a process's output and the end of the process."""

_CHUNK = 65_536  # bytes: what a pipe holds
_ROUNDS = 64  # a pipe can hold up to 1 MiB: sees all that was there when a look began
_HELD = 1 << 20  # bytes of errors that may wait to be read: what most systems allow, and read at once
_FLOOD = 1 << 15  # bytes found at once that mean a flood: such a program writes more, and is read again soon
_PAUSE = 0.001  # seconds later


class Reading:
    """Reads the output of a child as it arrives, without waiting, and at most one pipe's content ahead.

    `inflow` holds the frames of the standard output not yet taken, and finally the ending. `tail` keeps the end of the
    standard error. `ended` is how the process ended, once known. Wakes the inflow for news that no descriptor shows.

    A flood of errors is read only now and then, so that it costs little; meanwhile it waits in its pipe, which is made
    as large as the system allows.
    """

    def __init__(self, child: Child, framer: Framer, alarm: Alarm) -> None:
        self.inflow: Inflow = Inflow(framer, alarm)
        self.tail: Tail = Tail()
        self.ended: str = ""
        self.ending: str = ""
        self._child = child
        self._alarm = alarm
        self._closed: float | None = None
        self._poll = select.poll()
        self._readers: dict[int, Callable[[], None]] = {}
        self._watch(child.exit, self._see_exit)
        self._watch(child.stdout, self._read_output)
        self._watch(child.stderr, self._read_errors)
        self._flooded = False
        _enlarge(child.stderr)

    def descriptors(self) -> tuple[int, ...]:
        """Return the descriptors of the output, the errors and the exit that have not ended."""
        return tuple(self._readers)

    def watched(self) -> tuple[int, ...]:
        """Return the `descriptors` that must be watched now: without a flood of errors."""
        return tuple(each for each in self._readers if not (self._flooded and each == self._child.stderr))

    async def more(self) -> None:
        """Wait until there may be more to look at."""
        if self._flooded:
            await anyio.sleep(_PAUSE)  # its pipe is always readable
        else:
            await any_readable(self.descriptors())

    def at_once(self) -> tuple[Frame, ...] | None:
        """Return the frames now in the output if an equal chunk came before; otherwise call `look`."""
        if self._child.stdout not in self._readers:
            return None
        try:
            chunk = os.read(self._child.stdout, _CHUNK)
        except OSError:
            return None  # there is nothing, or `look` will find the same error
        whole = self.inflow.whole(chunk)
        if whole is None:
            self._take(chunk)
        return whole

    def look(self) -> None:
        """Read until there is something in the queue, or nothing more to read."""
        ended, readable = self._read()
        for _ in range(_ROUNDS):
            if self.inflow.queue or not readable or readable == [self._child.stderr]:
                break
            ended, readable = self._read()
        self.inflow.look()
        if ended and self._child.stdout not in readable:
            self.hear_out()
            self._end(ended)
        elif self._closed is not None and anyio.current_time() >= self._closed + PATIENCE:
            self._end("closed its output")

    def stirred(self) -> float:
        """Return when the last part of something unfinished came: a frame, or the end of a process after its output's.

        Until that end is known, or its time is over, a closed output does not count as silence.
        """
        ending = NEVER if self._closed is None or self.ending else self._closed + PATIENCE
        return max(self.inflow.stirred(), ending)

    def hear_out(self) -> None:
        """Read all error output available now, unless it never ends."""
        for _ in range(_ROUNDS):
            if not self._heard():
                return

    def close(self) -> None:
        """Stop looking."""
        for descriptor in self.descriptors():
            self._drop(descriptor)

    def _watch(self, descriptor: int, read: Callable[[], None]) -> None:
        if descriptor >= 0:
            self._readers[descriptor] = read
            self._poll.register(descriptor, select.POLLIN)

    def _drop(self, descriptor: int) -> None:
        # a descriptor at its end is readable forever, and whoever watches it would spin
        if self._readers.pop(descriptor, None) and not (self._flooded and descriptor == self._child.stderr):
            self._poll.unregister(descriptor)

    def _read(self) -> tuple[str, list[int]]:
        if self._child.exit < 0:
            self._see_exit()
        ended = self.ended  # if it had ended before the poll, the poll shows all its output
        readable = [descriptor for descriptor, _ in self._poll.poll(0)]
        for descriptor in readable:
            self._readers[descriptor]()
        return ended, readable

    def _read_output(self) -> None:
        self._take(self._chunk())

    def _take(self, chunk: bytes) -> None:
        if chunk:
            self.inflow.take(chunk)
            return
        self._drop(self._child.stdout)
        self._closed = anyio.current_time()
        self._alarm(self._closed + PATIENCE, self._ring)

    def _chunk(self) -> bytes:
        try:
            return os.read(self._child.stdout, _CHUNK)
        except OSError as error:
            if error.errno != errno.EIO:  # the error of a terminal whose other end is closed
                raise
            return b""

    def _read_errors(self) -> None:
        if self._heard() >= _FLOOD and self._child.stderr in self._readers:
            self._flooded = True
            self._poll.unregister(self._child.stderr)
            self._alarm(anyio.current_time() + _PAUSE, self._go_on)

    def _heard(self) -> int:
        """Read errors; return how many bytes there were."""
        if self._child.stderr not in self._readers:
            return 0
        chunks, heard = list[bytes](), 0
        with suppress(BlockingIOError):
            # in parts, since the allocator asks the kernel for each large piece, which takes longer than reading it
            while heard < _HELD:
                chunks.append(os.read(self._child.stderr, _CHUNK))
                heard += len(chunks[-1])
                if len(chunks[-1]) < _CHUNK:
                    break
        self.tail.feed(*chunks)
        if chunks and not chunks[-1]:
            self._drop(self._child.stderr)
        return heard

    def _go_on(self) -> None:
        self._flooded = False
        if self._child.stderr in self._readers:
            self._poll.register(self._child.stderr, select.POLLIN)
            self.inflow.wake()

    def _see_exit(self) -> None:
        self.ended = self._child.ended()
        if self.ended:
            self._drop(self._child.exit)

    def _end(self, reason: str) -> None:
        if self.ending:
            return
        self.ending = reason
        self._drop(self._child.stdout)
        self.inflow.end(Ending(reason))

    def _ring(self) -> None:
        self.inflow.wake()


def _enlarge(pipe: int) -> None:
    """Let a pipe hold as much as it may."""
    if pipe >= 0:
        with suppress(OSError):  # all pipes of a user share a limit
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _HELD)
