"""A child process as the system under test, on pipes; a frame is a line, unless `framing` is given."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio

from otf.adapter import Arrival, Ending, Frame, LineLost, Port, Trouble
from otf.adapter.child import Child, Program, halted, words
from otf.adapter.child.reading import PATIENCE, Reading
from otf.adapter.observed_rest.place import Place
from otf.adapter.stream import PATIENCE as UNREAD
from otf.adapter.stream import framer_of
from otf.adapter.waiting import Alarm, alarms
from otf.codec import PortAction
from otf.errors import CodecError, ContactError
from otf.framing import Framer, Framing, Tail, lines
from otf.values.arguments import checked

_MOMENT = 0.001  # seconds between two looks for the exit
_LAST = 5.0  # seconds that SIGKILL may take
LINES: Final = lines()


class ProcessLine:
    """Frames to the standard input of a process and from its standard output; made by `open_process`.

    The endings are "exit status 3", "killed by SIGKILL" and, if the process outlives its output by 0.1 s, "closed its
    output". The line always reads its standard error and keeps the last 20 lines. `pid` is the number of the process
    and of its group.
    """

    def __init__(self, child: Child, alarm: Alarm, framer: Framer) -> None:
        self.pid: int = child.pid
        self._child = child
        self._framer = framer
        self._reading = Reading(child, self._framer, alarm)
        self._inflow = self._reading.inflow
        self._early = Tail()
        self._torn = ""

    def descriptors(self) -> tuple[int, ...]:
        """Return the descriptors of its output, its errors and the process that have not ended.

        While the process floods standard error, the result leaves it out for short times.
        """
        return self._reading.watched()

    def arm(self, wake: Callable[[], None]) -> None:
        """Call `wake` when no exit has followed a closed output, or when silence has ended a frame."""
        self._inflow.wake = wake

    async def send(self, data: bytes) -> None:
        """Write one frame. Raises LineLost, also if the process reads nothing for ten seconds; CodecError.

        Read from the process while this waits: perhaps the process does not read because its own output waits to be
        read.
        """
        rest = self._framer.pack(data)
        if self._reading.ended or self._torn:
            raise LineLost(self._reading.ended or self._torn)
        try:
            written = self._written(rest)
            if written < len(rest):
                await self._push(rest, written)
        except OSError as error:
            raise await self._lost() from error

    async def perform(self, port_action: PortAction) -> None:
        """Finish: close the standard input. Raises CodecError for anything else."""
        if port_action is not PortAction.FINISH:
            message = f"a process cannot {port_action.value}, only finish: that closes its standard input"
            raise CodecError(message)
        anyio.notify_closing(self._child.stdin)
        self._child.close_input()
        self._torn = "finished by the tester"

    def receive(self) -> list[Arrival]:
        """Return up to 256 frames, and finally the ending."""
        if not self._inflow.queue:
            whole = self._reading.at_once()
            if whole is not None:
                return list(whole)
            self._reading.look()
        return self._inflow.batch()

    def stirred(self) -> float:
        """Return when the last bytes of an unfinished frame came, or when otf will know what a closed output means."""
        return self._reading.stirred()

    def remarks(self) -> list[str]:
        """Return what it printed before it was ready, its last lines on standard error, and what was cut."""
        self._reading.hear_out()
        remarks = [f"before it was ready: {line}" for line in self._early.lines()]
        remarks += [f"stderr: {line}" for line in self._reading.tail.lines()]
        remarks += self._inflow.remarks()
        ended, ending = self._reading.ended, self._reading.ending
        if ended and ending and ended != ending:
            remarks.append(f"it {ending}, and later: {ended}")
        return remarks

    def place(self) -> Place:
        """Return that the other end is the process."""
        return Place(self.pid)

    def lost(self) -> str:
        """Return that the process is stopped, "" if it runs."""
        return "" if self._reading.ended else halted(self.pid)

    async def until_ready(self, ready: str, seconds: float) -> None:
        """Wait for the line `ready`; earlier lines become remarks. Raises ContactError."""
        with anyio.move_on_after(seconds):
            while not self._is_ready(ready):
                await self._reading.more()
            return
        why = f"did not print the line {ready!r} within {seconds:g} s"
        raise self._no_contact(why, "give it more in ready_timeout, name another line in ready, or None for no line")

    async def stop(self, grace: float) -> None:
        """Stop the process: close its input; after `grace` seconds send SIGTERM, and after as many again SIGKILL.

        The signals go to its group, and SIGKILL always does, so everything that the process started ends with it.
        """
        for descriptor in (self._child.stdin, *self._reading.descriptors()):
            if descriptor >= 0:
                anyio.notify_closing(descriptor)
        self._child.close_input()
        try:
            await self._exit_within(grace)
            if not self._reading.ended:
                self._child.signal(signal.SIGTERM)
                await self._exit_within(grace)
        finally:
            # even if a framing raises on the last words
            self._child.signal(signal.SIGKILL)
            try:
                await self._exit_within(_LAST)
            finally:
                self._reading.close()
                self._child.close()

    async def _exit_within(self, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            while not self._reading.ended and self._reading.descriptors():
                await self._reading.more()
                self._reading.look()
                self._inflow.queue.clear()

    async def _push(self, data: bytes, written: int) -> None:
        while written < len(data):
            self._torn = "a frame was sent in part only" if written else ""
            with anyio.move_on_after(UNREAD) as waiting:
                await anyio.wait_writable(self._child.stdin)
            if waiting.cancelled_caught:
                self._torn = f"did not read for {UNREAD:g} s"
                raise LineLost(self._torn)
            written += self._written(data[written:])
        self._torn = ""

    def _written(self, data: bytes) -> int:
        try:
            written = os.write(self._child.stdin, data)
        except BlockingIOError:
            return 0
        if self._child.on_terminal:
            self._child.settle()
        return written

    async def _lost(self) -> LineLost:
        # a pipe breaks a moment before its process ends, and what matters is how that ended
        self._reading.look()
        self._inflow.wake()
        with anyio.move_on_after(PATIENCE):
            # whoever receives may not look meanwhile, and two tasks cannot wait for one descriptor
            while not self._reading.ended:
                await anyio.sleep(_MOMENT)
                self._reading.look()
        self._torn = self._reading.ended or "closed its input"
        return LineLost(self._torn)

    def _is_ready(self, ready: str) -> bool:
        self._reading.look()
        while self._inflow.queue:
            match self._inflow.queue.popleft():
                case Frame(data) if data == ready.encode():
                    return True
                case Frame(data):
                    self._early.feed(data + b"\n")
                case Ending(reason) | Trouble(reason):
                    raise self._no_contact(f"was never ready: {reason}, and no line {ready!r} before")
        return False

    def _no_contact(self, why: str, advice: str = "") -> ContactError:
        printed = "".join(f"\n  {remark}" for remark in self.remarks()) or "\n  it printed nothing at all"
        # what it printed is the reason, or the best hint; starting it by hand shows more only if it printed nothing
        return ContactError(f"`{self._child.command}` {why}{advice and f'; {advice}'}{printed}")


@checked
def process(  # noqa: PLR0913 -- the options of a start are arguments, each with its name
    command: Program,
    *,
    ready: str | None = "ready",
    ready_timeout: float = 5.0,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    grace: float = 0.2,
    framing: Framing = LINES,
    pty: bool = False,
) -> Port:
    """Return the port of a child process, which otf starts for each path; `open_process` explains the options.

    The program has `ready_timeout` seconds to print the line `ready`, and `grace` seconds to end after a path.
    `process` raises UsageError if there is no command.

    >>> process("./machine --port 7", ready=None).kind
    'process'
    """
    options: dict[str, Any] = {"ready": ready, "ready_timeout": ready_timeout, "env": env, "cwd": cwd}
    options |= {"grace": grace, "framing": framing}

    def at(url: str) -> Port:
        scheme, _, other = url.partition(":")
        return process(other, **options, pty=scheme == "pty")

    return Port(partial(open_process, words(command), **options, pty=pty), "process", framing, at)


@asynccontextmanager
async def open_process(  # noqa: PLR0913 -- the same
    command: Program,
    *,
    ready: str | None = "ready",
    ready_timeout: float = 5.0,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    grace: float = 0.2,
    framing: Framing = LINES,
    pty: bool = False,
) -> AsyncGenerator[ProcessLine, None]:
    """Start a process in its own session and open a line to it; leaving the context stops it and its children.

    The line is ready once the process has printed the line `ready` (None: at once), within `ready_timeout` seconds.
    `env` is its whole environment, `cwd` its working directory (None: ours). To stop the process, otf closes its input;
    after `grace` seconds it sends SIGTERM, and after as many again SIGKILL. `framing` says what a frame is: a line of
    at most 64 KiB, or one of those in `otf.framing`. With `pty` the process has a terminal instead of pipes, for
    programs that would otherwise write in large blocks; its standard error is then part of that. Raises UsageError for
    an invalid command, ContactError if it cannot be started or does not get ready.
    """
    async with alarms() as alarm:
        framer = framer_of(framing)  # first: one that cannot be made must not leave a process behind
        line = ProcessLine(Child(words(command), env, cwd, pty=pty), alarm, framer)
        try:
            if ready is not None:
                await line.until_ready(ready, ready_timeout)
            yield line
        finally:
            with anyio.CancelScope(shield=True):
                await line.stop(grace)
