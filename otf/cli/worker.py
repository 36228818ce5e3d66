"""`python -m otf.cli.worker`: a worker of `otf run --processes`. It reads leases and writes results, as JSON lines.

Only `otf run` starts it. The first line has the options of the campaign, so that the worker loads the bench as the
command did. The worker ends when its input ends.
"""

from __future__ import annotations

import os
import select
import shutil
import traceback
from _thread import start_new_thread
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from socket import gethostname
from typing import Final, NoReturn

import anyio
import msgspec

from otf import supervisor
from otf.adapter import Bench
from otf.adapter.kept import keeping
from otf.adapter.third_party import blamed, blaming, watched
from otf.campaign import Settings
from otf.campaign.journal_lines import ShrunkLine
from otf.campaign.lanes import InProcess, Lease, ShrinkTask, ShrinkWatch, make_room
from otf.campaign.paths import undisturbed
from otf.campaign.remote import JobLine, ResultLine
from otf.campaign.results import PathResult, Shrunk
from otf.campaign.saved import Saved, saved_trace
from otf.campaign.summary import Listener
from otf.cli.resumption import as_recorded, made, settings_of
from otf.cli.run_arguments import RunOptions
from otf.cli.workers import on_devices
from otf.core.repeatable import ask_again
from otf.errors import ModelError, OtfError
from otf.runner.time_spent import TimeSpent, spending
from otf.trace.record import Header
from otf.trace.verdict import Signature, Verdict
from otf.values import as_text

READ, WRITE = os.read, os.write  # kept here, since a bench may replace them
ENDING: Final = 5.0  # seconds this process has to end by itself
Answers = Callable[[JobLine], Awaitable[ResultLine | None]]


class Greeting(msgspec.Struct):
    """The first line: the options, the folder, the clock speed, and the header if the bench is as recorded.

    `lanes` counts those of all workers. `checks`: the worker itself checks whether the system follows a faster clock.
    `removes`: the folder is the worker's own, to be removed at its end.
    """

    options: RunOptions
    out: str
    speed: float = 1.0
    header: Header | None = None
    lanes: int = 1
    checks: bool = False
    removes: bool = False


class Worker:
    """Drives leased paths with the executor of one process."""

    def __init__(self, bench: Bench, settings: Settings, lanes: int, *, checks: bool = False) -> None:
        self._bench, self._settings, self._checks = bench, settings, checks
        self._checking = anyio.Lock()
        self._ends = float("inf")
        self._seen = set[Signature]()
        self._searches: dict[int, anyio.CancelScope] = {}
        self._executor = InProcess(bench, settings, Listener(), lambda: self._ends, self._aftermath, lanes)

    async def do(self, line: JobLine) -> ResultLine | None:
        """Do what a line says; an error of otf becomes a result. A stopped search sends its own answer."""
        with spending(TimeSpent()) as count:
            result = await self._do(line)
        return None if result is None else msgspec.structs.replace(result, time=count)

    async def _do(self, line: JobLine) -> ResultLine | None:
        if line.does == "stop":
            if line.job in self._searches:
                self._searches[line.job].cancel()
            return None
        try:
            with blaming():
                if line.failing is not None:
                    return await self._failing(line, line.failing.result(self._settings, self._bench))
                return await self._drive(line)
        except OtfError as error:
            return ResultLine(line.job, line.number, error=str(error), kind=type(error).__name__)
        except KeyboardInterrupt as error:  # no terminal reaches this process: the bench's code raised it
            return ResultLine(line.job, line.number, error=str(blamed(error)), kind=ModelError.__name__)

    async def _failing(self, line: JobLine, failing: PathResult) -> ResultLine:
        seconds = float("inf") if line.seconds is None else line.seconds
        if line.does == "retry":
            return await self._retry_failure(line, failing.trace, anyio.current_time() + seconds)
        if line.does == "confirm":
            until = anyio.current_time() + seconds
            found = await self._executor.confirm(line.lane, failing, line.first, until, strict=line.strict)
            return msgspec.structs.replace(ResultLine.of(line.job, found.result), tries=found.tries, again=found.again)
        shrunk = await self._shrunk(line, failing, seconds)
        return ResultLine(line.job, line.number, shrunk=None if shrunk is None else ShrunkLine.of("", shrunk))

    async def _shrunk(self, line: JobLine, failing: PathResult, seconds: float) -> Shrunk | None:
        """Return the result of a search; if stopped, the shortest so far, or None if there is none yet."""
        best: Shrunk | None = None

        def found(shrunk: Shrunk) -> None:
            nonlocal best
            best = shrunk

        watch = ShrinkWatch(found=found)
        with anyio.CancelScope() as self._searches[line.job]:
            task = ShrinkTask(failing, seconds, line.confirmed, line.scope)
            best = await self._executor.shrink(line.lane, task, watch)
        del self._searches[line.job]
        return best

    async def _retry_failure(self, line: JobLine, kept: Path, until: float) -> ResultLine:
        """Drive a failure of an earlier campaign again."""
        own = self._bench.at_speed(1)
        saved, oracle, trace = Saved.of(self._settings, own), own.oracle(), saved_trace(kept.parent, line.number)
        assert saved is not None  # noqa: S101 -- a campaign that saves no failures retries none
        result, why = await saved.driven(own, oracle, kept, trace, until)
        if result is None:
            return ResultLine(line.job, line.number, Verdict("inconclusive", why=why) if why else Verdict("pass"))
        return ResultLine.of(line.job, result)

    async def _check_speed(self, seconds: float | None) -> None:
        async with self._checking:
            if self._checks:
                await self._executor.check_speed(anyio.current_time() + (float("inf") if seconds is None else seconds))
            self._checks = False

    async def _drive(self, line: JobLine) -> ResultLine:
        """Drive a path."""
        await self._check_speed(line.seconds)
        if line.changed:
            self._executor.look_for(line.lane, line.changed)
        if not self._executor.takes(line.known) or (line.looks and not self._executor.looks(line.lane)):
            return ResultLine(line.job, line.number, lacks=True)
        self._ends = float("inf") if line.seconds is None else anyio.current_time() + line.seconds
        lease = Lease(line.number, line.lane, line.run, line.known)
        result, learned, cut, _ = await self._executor.drive(lease)
        failure = result.verdict.failure
        if failure is not None and failure.signature not in self._seen:
            ask_again(self._executor.oracle(line.lane).model, self._bench.oracle(), result.events)
            self._seen.add(failure.signature)
        return msgspec.structs.replace(ResultLine.of(line.job, result), learned=learned, cut=cut)

    def _aftermath(self, verdict: Verdict) -> float:
        failure = verdict.failure
        return 0.0 if failure is None or failure.signature in self._seen else self._settings.aftermath


def main() -> None:
    """Serve until the input ends. What the bench prints goes to standard error, and it has nothing to read."""
    given, out = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    with open(given, "rb", buffering=0, closefd=False) as lines:  # it must not read ahead
        greeted = lines.readline()
    if not greeted.endswith(b"\n"):  # the process that started this one was killed before it said what to do
        os._exit(1)
    greeting = msgspec.json.decode(greeted, type=Greeting)
    supervisor.end_copies()
    with suppress(RuntimeError):  # there may be no thread left for it
        start_new_thread(_follow, (given, greeting))
    status = 1
    try:
        anyio.run(_serve, _begun(greeting), given, out)
        status = 0
    except Exception:  # noqa: BLE001 -- a defect of otf, or a bench's code that broke Python itself
        traceback.print_exc()
    finally:
        _end(greeting, status)


def _follow(given: int, greeting: Greeting) -> None:
    """End some time after the input ends, even if the bench's code never returns or broke the event loop."""
    ends = select.poll()
    ends.register(given, 0)
    ends.poll()
    select.select([], [], [], ENDING)
    _end(greeting, 1)


def _end(greeting: Greeting, status: int) -> NoReturn:
    if greeting.removes:
        shutil.rmtree(greeting.out, ignore_errors=True)
    # threads of the bench may still run, and Python would wait for them
    os._exit(status)


def _begun(greeting: Greeting) -> Answers:
    """Return the function that answers lines; if the bench cannot be loaded here, each answer says why."""
    options, head = greeting.options, greeting.header
    try:
        settings = settings_of(options, Path(greeting.out))
        bench = made(options) if head is None else as_recorded(head, options, options.sets)
        bench = bench.at_speed(greeting.speed)
        settings = on_devices(settings, options, bench)
    except OtfError as error:
        why = f"a worker on {gethostname()} cannot begin: {error}"
        kind = type(error).__name__

        async def refuse(line: JobLine) -> ResultLine:
            return ResultLine(line.job, line.number, error=why, kind=kind)

        return refuse
    make_room(settings.jobs)
    return Worker(bench, settings, greeting.lanes, checks=greeting.checks).do


async def _serve(answers: Answers, given: int, out: int) -> None:
    os.set_blocking(out, False)
    writing = anyio.Lock()

    async def answer(line: JobLine) -> None:
        result = await answers(line)
        if result is not None:
            async with writing:
                await written(out, msgspec.json.encode(result, enc_hook=as_text) + b"\n")

    with undisturbed(), watched():
        async with keeping(), anyio.create_task_group() as tasks:
            async for text in _lines(given):
                tasks.start_soon(answer, msgspec.json.decode(text, type=JobLine))
            tasks.cancel_scope.cancel()


async def _lines(given: int) -> AsyncGenerator[bytes]:
    """Yield the lines of the input, without a thread: one that a bench killed would die unnoticed."""
    rest = b""
    while True:
        await anyio.wait_readable(given)
        part = READ(given, 1 << 16)
        if not part:
            return
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield line


async def written(out: int, text: bytes) -> None:
    """Write a whole answer; if the coordinator was killed, the input ends too, and that ends this process."""
    with suppress(BrokenPipeError):
        while text:
            await anyio.wait_writable(out)
            text = text[WRITE(out, text) :]


if __name__ == "__main__":
    main()
