"""The executor of a cluster: dask.distributed decides which of its workers drives a path.

otf schedules nothing here. A lease is a task of the cluster; a worker that joins late gets the next ones, and a task
whose worker dies runs again on another. Functions travel by name: workers import otf and the bench themselves.

The library unpickles what a worker answers, so a worker can run code here: otf trusts whoever reaches the scheduler.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import msgspec

from otf.campaign.changes import ChangedTransitions
from otf.campaign.contact import NoWorkersError
from otf.campaign.relay import Files, JobAnswer, end_relay, relayed, stop_relayed
from otf.campaign.remote import JobLine, Remote, ResultLine, WorkerDiedError
from otf.campaign.saved import DriveSaved, SavedRun, saved_trace
from otf.campaign.settings import Settings
from otf.errors import ContactError, UsageError
from otf.runner.writer import put

CONNECTING = 10.0  # seconds for a scheduler to answer
LARGEST = 64 << 20  # bytes of a transferred trace: the coordinator holds all of it in memory


class Cluster(Remote):
    """Drives paths on the workers of a dask cluster, each with its own process for that.

    >>> from otf.campaign import Settings
    >>> Cluster.trace(Settings(out=Path("out")), "../../path-0001.jsonl")
    PosixPath('out/path-0001.jsonl')
    """

    _client: Any
    _campaign: str
    _futures: dict[int, Any]
    _kept: dict[int, Path]
    _of_lanes: dict[int, list[str]]

    @property
    def together(self) -> int:
        """Return the number of lanes."""
        return self.settings.jobs

    @property
    def drive_saved(self) -> DriveSaved | None:
        """Return the function that drives a saved failure on a worker: maybe only workers can reach the system."""
        return self._drive_saved

    async def _drive_saved(self, kept: Path, number: int, until: float) -> SavedRun:
        self._kept[number] = kept
        line = JobLine(0, "retry", number, failing=ResultLine(0, trace=f"kept-{number:04}.jsonl"))
        found, _ = await self._ask(line, until - anyio.current_time())
        if found.verdict.outcome == "fail":
            return found.result(self.settings, self.bench.at_speed(1)), ""
        return None, "" if found.verdict.outcome == "pass" else found.verdict.why

    def _changed(self, lane: int) -> list[str]:
        if lane not in self._of_lanes:
            self._of_lanes[lane] = ChangedTransitions.of(self.settings.out).of_lane(lane, self.settings.lanes)
        return self._of_lanes[lane]

    async def check_speed(self, until: float) -> None:
        """Measure nothing here: each worker does so before its first path."""

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Connect to the scheduler; leaving the context ends the worker programs."""
        distributed = _import_distributed()
        self._campaign, self._futures, self._kept, self._of_lanes = uuid4().hex, {}, {}, {}
        try:
            self._client = await distributed.Client(
                self.workers.cluster, asynchronous=True, timeout=CONNECTING, set_as_default=False
            )
        except (OSError, ValueError, ImportError, TypeError) as error:  # TypeError: tls:// without certificates
            message = f"--cluster {self.workers.cluster}: there is no scheduler ({error}); `dask scheduler` starts one"
            raise ContactError(message) from error
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(CONNECTING), suppress(Exception):
                await self._client.run(end_relay, self._campaign, on_error="ignore")
            with anyio.CancelScope(shield=True), anyio.move_on_after(CONNECTING), suppress(Exception):
                await self._client.close()

    async def ask(self, line: JobLine) -> ResultLine:
        """Have a worker chosen by the scheduler do it. Raises WorkerDiedError, ContactError."""
        self._futures[line.job] = self._submit(line)
        return await self._result(line.job, _stem(line))

    async def stop(self, line: JobLine) -> ResultLine | None:
        """Have the worker that is doing it stop a search."""
        if line.job not in self._futures:
            return None
        text = msgspec.json.encode(JobLine(line.job, "stop"))
        await self._client.run(stop_relayed, self._campaign, line.job, text, on_error="ignore")
        with suppress(WorkerDiedError, ContactError):
            return await self._result(line.job, _stem(line))
        return None

    def _submit(self, line: JobLine) -> Any:  # noqa: ANN401 -- a future of a library without types
        return self._client.submit(
            relayed,
            self._campaign,
            self.workers.command,
            self.workers.greeting,
            line.job,
            msgspec.json.encode(line),
            self._files(line),
            _beginnings(_stem(line)),
            key=f"otf-{line.does}-{self._campaign}-{line.job}",
            pure=False,
        )

    async def _result(self, job: int, stem: str) -> ResultLine:
        try:
            answer = await self._answer(job)
        except (WorkerDiedError, ContactError):
            self._futures.pop(job).release()
            raise
        self._futures.pop(job).release()
        if not answer.line:
            raise WorkerDiedError
        for name, text in answer.files.items():
            file = self.trace(self.settings, name)
            # our worker sends only what it was asked for: other paths, the journal and a report stay as they are
            if file.name.startswith(_beginnings(stem)):
                put(file, text)
        return msgspec.json.decode(answer.line, type=ResultLine)

    async def _answer(self, job: int) -> JobAnswer:
        """Return an answer; until something waits for it the future stays, since a search may still be stopped."""
        distributed = _import_distributed()
        try:
            answer: JobAnswer = await self._futures[job]
        except distributed.KilledWorker:
            raise WorkerDiedError from None
        except distributed.CancelledError as error:
            raise self._scheduler_gone() from error
        except OSError as error:
            raise self._scheduler_gone() from error
        return answer

    def _scheduler_gone(self) -> NoWorkersError:
        return NoWorkersError(
            f"--cluster {self.workers.cluster}: the scheduler is gone; what counts so far is in {self.settings.out}: "
            f"`otf run --resume {self.settings.out} --cluster ADDRESS` drives the rest"
        )

    def _files(self, line: JobLine) -> Files:
        if line.failing is None:
            return {}
        name = Path(line.failing.trace).name
        trace = self._kept[line.number] if line.does == "retry" else self.settings.out / name
        with suppress(OSError):
            return {name: trace.read_bytes()}
        return {}

    @staticmethod
    def trace(settings: Settings, name: str) -> Path:
        """Return a file in the campaign's folder, whatever a worker calls it."""
        return settings.out / Path(name).name


def _beginnings(stem: str) -> tuple[str, ...]:
    """Return the beginnings of the names of a trace and its companions; a pytest file must be importable."""
    return f"{stem}.", f"{stem.replace('-', '_')}_"


def _stem(line: JobLine) -> str:
    if line.does == "retry":
        return saved_trace(Path(), line.number).stem
    return f"path-{line.number:04}" if line.failing is None else Path(line.failing.trace).name.partition(".")[0]


def _import_distributed() -> Any:  # noqa: ANN401 -- it has no types
    try:
        distributed = import_module("distributed")  # by name: type checkers do without it
    except ImportError:
        raise UsageError("--cluster needs dask.distributed: pip install 'otf[cluster]'") from None
    # its own warnings repeat, in other words, what otf reports
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    return distributed
