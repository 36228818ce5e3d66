"""The executor of several processes: each worker drives the paths of its lanes.

A worker is a separate program, started anew and not forked: it loads the bench as a user does. If it dies, its lanes
continue in a new one, which gets what paths have learned so far. The path under way is driven again with the same seed
and the same knowledge. If the coordinator dies, its workers see the end of their input.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from subprocess import PIPE
from typing import Final

import anyio
import msgspec
from anyio.abc import Process

from otf.adapter.log import note
from otf.adapter.third_party import ungrouped
from otf.campaign.remote import JobLine, Remote, ResultLine, WorkerDiedError

ENDING: Final = 2.0  # seconds for a worker to end by itself
LONGEST: Final = 64 << 20  # bytes of a line


@dataclass(slots=True)
class _Worker:
    """A worker process; `waiting` holds the results that it owes.

    Its results are read until `reading` is cancelled, even while an interruption ends everything else.
    """

    process: Process
    waiting: dict[int, anyio.Event] = field(default_factory=dict[int, anyio.Event])
    results: dict[int, ResultLine] = field(default_factory=dict[int, ResultLine])
    dead: bool = False
    reading: anyio.CancelScope = field(default_factory=lambda: anyio.CancelScope(shield=True))

    async def ask(self, line: JobLine) -> ResultLine:
        done = self.waiting[line.job] = anyio.Event()
        await self.send(msgspec.json.encode(line))
        if not self.dead:
            await done.wait()
        if line.job not in self.results:
            raise WorkerDiedError(*await self._how())
        return self.results.pop(line.job)

    async def _how(self) -> list[str]:
        """Return how the process ended, if it has."""
        with anyio.move_on_after(ENDING):
            code = await self.process.wait()
            return [f"status {code}" if code >= 0 else f"signal {-code} ({signal.strsignal(-code)})"]
        return []

    async def stop(self, job: int) -> ResultLine | None:
        """Stop a search; return its answer, None if the worker has ended."""
        done = self.waiting.get(job)
        if done is not None:
            await self.send(msgspec.json.encode(JobLine(job, "stop")))
            await done.wait()
        return self.results.pop(job, None)

    async def send(self, line: bytes) -> None:
        """Send a line; a worker that does not accept it is dead."""
        assert self.process.stdin is not None  # noqa: S101 -- it was opened with a pipe
        try:
            await self.process.stdin.send(line + b"\n")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            self.end()

    async def read(self) -> None:
        """Take results until the worker ends, or nothing waits for them any more."""
        with self.reading:
            await self._read()
        self.end()

    async def _read(self) -> None:
        decoder, rest = msgspec.json.Decoder(ResultLine), b""
        assert self.process.stdout is not None  # noqa: S101 -- as above
        try:
            async for part in self.process.stdout:
                *lines, rest = (rest + part).split(b"\n")
                for result in map(decoder.decode, lines):
                    self.results[result.job] = result
                    self.waiting.pop(result.job).set()
                if len(rest) > LONGEST:
                    break
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError, msgspec.DecodeError, KeyError):
            pass

    async def follow(self) -> None:
        """Wait for the end of the process: a copy forked by its bench would keep its pipes open for ever."""
        await self.process.wait()
        self.kill()

    def kill(self) -> None:
        """Kill the process, and what is left of its group."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def end(self) -> None:
        """Wake everything that waits for a result: there will be none."""
        self.dead = True
        for done in self.waiting.values():
            done.set()
        self.waiting.clear()


class Processes(Remote):
    """Drives paths in processes of this machine."""

    _workers: list[_Worker | None]
    _starting: list[anyio.Lock]
    _readers: anyio.abc.TaskGroup

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """End all workers when the context is left."""
        self._workers = [None] * self.workers.processes
        self._starting = [anyio.Lock() for _ in self._workers]
        with ungrouped():
            async with anyio.create_task_group() as self._readers:
                try:
                    yield
                finally:
                    with anyio.CancelScope(shield=True):
                        for worker in self._workers:
                            if worker is not None:
                                await _end(worker)
                    self._readers.cancel_scope.cancel()

    @property
    def together(self) -> int:
        """Return the number of workers."""
        return self.workers.processes

    async def ask(self, line: JobLine) -> ResultLine:
        """Have the lane's worker do it."""
        worker = await self._worker(line.lane % len(self._workers))
        return await worker.ask(line)

    async def stop(self, line: JobLine) -> ResultLine | None:
        """Have the lane's worker stop a search."""
        worker = self._workers[line.lane % len(self._workers)]
        return None if worker is None else await worker.stop(line.job)

    async def _worker(self, at: int) -> _Worker:
        async with self._starting[at]:
            worker = self._workers[at]
            if worker is None or worker.dead:
                if worker is not None:
                    await _end(worker)
                # Ctrl-C in a terminal goes to all processes of its group, but this one decides when its workers end
                process = await anyio.open_process(
                    (sys.executable, *self.workers.command),
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=None,
                    start_new_session=True,
                )
                worker = self._workers[at] = _Worker(process)
                note("worker started", lane=at, pid=process.pid)
                await worker.send(self.workers.greeting)
                self._readers.start_soon(worker.read)
                self._readers.start_soon(worker.follow)
            return worker


async def _end(worker: _Worker) -> None:
    process = worker.process
    if process.stdin is not None:
        await process.stdin.aclose()
    with anyio.move_on_after(ENDING):
        await process.wait()
    if process.returncode is None:
        worker.kill()
        await process.wait()
    worker.reading.cancel()
