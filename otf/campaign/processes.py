"""The executor of several processes: each worker drives the paths of its lanes, and answers in lines of JSON.

A worker is a program of its own, started anew and not forked: it loads the bench as a user does, and nothing that it
says is code. If it dies, its lanes go on in a new one, which gets what paths learned so far, and a path that was under
way is driven again with the same seed and the same knowledge. If the coordinator dies, its workers see the end of their
input.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from subprocess import PIPE
from typing import Final

import anyio
import msgspec
from anyio.abc import Process

from otf.adapter import Bench
from otf.campaign.knowledge import Knowledge
from otf.campaign.lanes import Lease, Leased, trace_of
from otf.campaign.merged import Known
from otf.campaign.recorder import reread
from otf.campaign.results import PathResult
from otf.campaign.settings import Settings, Workers
from otf.core import Oracle
from otf.errors import ContactError, ModelError, OtfError, TraceError, UsageError, WriteError
from otf.trace.verdict import Verdict

DEATHS: Final = 10
"""Workers that may die of one path before the campaign ends: a path that kills its tester would do so for ever."""
ENDING: Final = 2.0  # seconds in which a worker ends by itself
ERRORS: Final = {kind.__name__: kind for kind in (ContactError, ModelError, TraceError, UsageError, WriteError)}
LONGEST: Final = 64 << 20  # bytes of a line


class LeaseLine(msgspec.Struct):
    """A lease as a worker reads it; `seconds` are those left for the path."""

    number: int
    lane: int
    run: str
    known: Known
    seconds: float | None = None


class ResultLine(msgspec.Struct):
    """What a leased path did, as a worker writes it; `error` and its `kind` if it has no result.

    `lacks`: the worker has not driven it, since it lacks some of what the path knows.
    """

    number: int
    verdict: Verdict = msgspec.field(default_factory=lambda: Verdict("inconclusive"))
    steps: int = 0
    faults: tuple[str, ...] = ()
    unwritten: str = ""
    silence: str = ""
    learned: Knowledge = msgspec.field(default_factory=Knowledge)
    cut: bool = False
    lacks: bool = False
    error: str = ""
    kind: str = ""


class _WorkerDiedError(Exception):
    """A worker has ended with a path under way."""


@dataclass(slots=True)
class _Worker:
    """A worker process; `waiting` are the results that it owes."""

    process: Process
    waiting: dict[int, anyio.Event] = field(default_factory=dict[int, anyio.Event])
    results: dict[int, ResultLine] = field(default_factory=dict[int, ResultLine])
    dead: bool = False

    async def drive(self, line: LeaseLine) -> ResultLine:
        done = self.waiting[line.number] = anyio.Event()
        await self.send(msgspec.json.encode(line))
        if not self.dead:
            await done.wait()
        if line.number not in self.results:
            raise _WorkerDiedError
        return self.results.pop(line.number)

    async def send(self, line: bytes) -> None:
        """Send a line; a worker that does not take it is dead."""
        assert self.process.stdin is not None  # noqa: S101 -- it was opened with a pipe
        try:
            await self.process.stdin.send(line + b"\n")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            self.end()

    async def read(self) -> None:
        """Take results until the worker ends."""
        decoder, rest = msgspec.json.Decoder(ResultLine), b""
        assert self.process.stdout is not None  # noqa: S101 -- as above
        try:
            async for part in self.process.stdout:
                *lines, rest = (rest + part).split(b"\n")
                for result in map(decoder.decode, lines):
                    self.results[result.number] = result
                    self.waiting.pop(result.number).set()
                if len(rest) > LONGEST:
                    break
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError, msgspec.DecodeError, KeyError):
            pass
        self.end()

    def end(self) -> None:
        """Wake everything that waits for a result: there will be none."""
        self.dead = True
        for done in self.waiting.values():
            done.set()
        self.waiting.clear()


class Processes:
    """Drives paths in worker processes.

    `whole` adds to what a path knows all that a new worker lacks; `ends` returns the moment at which a path ends,
    whatever it did.
    """

    def __init__(
        self,
        bench: Bench,
        settings: Settings,
        workers: Workers,
        whole: Callable[[Known], Known],
        ends: Callable[[], float],
    ) -> None:
        self._bench, self._settings, self._whole, self._ends = bench, settings, whole, ends
        self._command: Sequence[str] = (sys.executable, *workers.command)
        self._greeting = workers.greeting
        self._workers: list[_Worker | None] = [None] * workers.processes
        self._starting = [anyio.Lock() for _ in self._workers]
        self._oracle = bench.oracle()
        self._readers: anyio.abc.TaskGroup

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """End all workers when the context is left."""
        async with anyio.create_task_group() as self._readers:
            try:
                yield
            finally:
                with anyio.CancelScope(shield=True):
                    for worker in self._workers:
                        if worker is not None:
                            await _ended(worker.process)
                self._readers.cancel_scope.cancel()

    def oracle(self, lane: int) -> Oracle:
        """Return the oracle of this process, which judges failures again."""
        del lane
        return self._oracle

    async def drive(self, lease: Lease) -> Leased:
        """Drive a path in the worker of its lane; in a new one if that dies."""
        for deaths in range(DEATHS):
            worker = await self._worker(lease.lane % len(self._workers))
            try:
                line = await worker.drive(self._line(lease))
                if line.lacks:
                    line = await worker.drive(self._line(lease._replace(known=self._whole(lease.known))))
                return self._leased(line, deaths)
            except _WorkerDiedError:
                continue
        message = f"{DEATHS} worker processes died of path {lease.number}: drive it alone, without --processes"
        raise ContactError(message)

    def _line(self, lease: Lease) -> LeaseLine:
        seconds = self._ends() - anyio.current_time()
        return LeaseLine(*lease, seconds=seconds if seconds < float("inf") else None)

    async def _worker(self, at: int) -> _Worker:
        async with self._starting[at]:
            worker = self._workers[at]
            if worker is None or worker.dead:
                if worker is not None:
                    await _ended(worker.process)
                # a terminal's Ctrl-C goes to all processes of its group: this one decides when its workers end
                process = await anyio.open_process(
                    self._command, stdin=PIPE, stdout=PIPE, stderr=None, start_new_session=True
                )
                worker = self._workers[at] = _Worker(process)
                await worker.send(self._greeting)
                self._readers.start_soon(worker.read)
            return worker

    def _leased(self, line: ResultLine, deaths: int) -> Leased:
        if line.error:
            raise ERRORS.get(line.kind, OtfError)(line.error)
        trace = trace_of(self._settings.out, line.number)
        events = reread(trace, self._bench) if line.verdict.failed else ()
        result = PathResult(
            line.number, line.verdict, line.steps, trace, events, line.faults, line.unwritten, line.silence
        )
        return Leased(result, line.learned, line.cut, deaths)


async def _ended(process: Process) -> None:
    if process.stdin is not None:
        await process.stdin.aclose()
    with anyio.move_on_after(ENDING):
        await process.wait()
    if process.returncode is None:
        process.kill()
        await process.wait()
