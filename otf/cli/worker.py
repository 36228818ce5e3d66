"""`python -m otf.cli.worker`: a worker of `otf run --processes`. It reads leases as lines of JSON, and writes results.

Only `otf run` starts it. The first line has the options of the campaign, so that the worker loads the bench as the
command did; it ends with its input.
"""

from __future__ import annotations

import os
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Final

import anyio
import msgspec
from anyio.to_thread import run_sync

from otf.adapter import Bench
from otf.adapter.exits import blaming, watched
from otf.adapter.serial import keeping
from otf.campaign import Settings
from otf.campaign.campaign import undisturbed
from otf.campaign.lanes import InProcess, Lease, make_room
from otf.campaign.listener import Listener
from otf.campaign.processes import LeaseLine, ResultLine
from otf.campaign.settings import Workers
from otf.cli.continued import RunOptions, made, resumed, settings_of
from otf.core import Oracle
from otf.errors import OtfError
from otf.explore.steady import ask_again
from otf.trace.verdict import Signature, Verdict

_WRITING: Final = Lock()


class Greeting(msgspec.Struct):
    """The first line: the options, the folder, the speed of the clocks, and how many workers there are.

    `recorded`: the bench is the folder's.
    """

    options: RunOptions
    out: str
    speed: float = 1.0
    recorded: bool = False
    processes: int = 1


class Worker:
    """Drives leased paths with the executor of one process."""

    def __init__(self, bench: Bench, settings: Settings) -> None:
        self._bench, self._settings = bench, settings
        self._ends = float("inf")
        self._seen = set[Signature]()
        self._executor = InProcess(bench, settings, Listener(), lambda: self._ends, self._aftermath)

    async def drive(self, line: LeaseLine) -> ResultLine:
        """Drive a path; an error of otf becomes a result."""
        if not self._executor.takes(line.known):
            return ResultLine(line.number, lacks=True)
        self._ends = float("inf") if line.seconds is None else anyio.current_time() + line.seconds
        try:
            with blaming():
                result, learned, cut, _ = await self._executor.drive(
                    Lease(line.number, line.lane, line.run, line.known)
                )
                failure = result.verdict.failure
                if failure is not None and failure.signature not in self._seen:
                    ask_again(self._oracle(line.lane).model, self._bench.oracle(), result.events)
                    self._seen.add(failure.signature)
        except OtfError as error:
            return ResultLine(line.number, error=str(error), kind=type(error).__name__)
        return ResultLine(
            line.number, result.verdict, result.steps, result.faults, result.unwritten, result.silence, learned, cut
        )

    def _oracle(self, lane: int) -> Oracle:
        return self._executor.oracle(lane)

    def _aftermath(self, verdict: Verdict) -> float:
        failure = verdict.failure
        return 0.0 if failure is None or failure.signature in self._seen else self._settings.aftermath


def main() -> None:
    """Serve until the input ends. What the bench prints goes to standard error: the output has results alone."""
    out = os.dup(1)
    os.dup2(2, 1)
    greeting = msgspec.json.decode(sys.stdin.buffer.readline(), type=Greeting)
    settings = settings_of(greeting.options, Path(greeting.out))
    # lanes are those of all workers
    settings = replace(settings, workers=Workers(greeting.processes, (), b""))
    own = msgspec.structs.replace(greeting.options, bench="")
    bench = resumed(settings.out, own)[1] if greeting.recorded else made(greeting.options)
    make_room(settings.jobs)
    status = 1
    try:
        anyio.run(_serve, Worker(bench.at_speed(greeting.speed), settings), out)
        status = 0
    except Exception:  # noqa: BLE001 -- a defect of otf, or of a bench's own adapter
        traceback.print_exc()
    finally:
        # a thread may still be reading the input, and Python would wait for it
        os._exit(status)


async def _serve(worker: Worker, out: int) -> None:
    async def answer(line: LeaseLine) -> None:
        result = msgspec.json.encode(await worker.drive(line), enc_hook=str) + b"\n"
        await run_sync(_written, out, result)

    with undisturbed(), watched():
        async with keeping(), anyio.create_task_group() as tasks:
            while text := await run_sync(sys.stdin.buffer.readline, abandon_on_cancel=True):
                tasks.start_soon(answer, msgspec.json.decode(text, type=LeaseLine))
            tasks.cancel_scope.cancel()


def _written(out: int, text: bytes) -> None:
    # one write at a time is whole only up to the size of a pipe: the rest follows under the same lock
    with _WRITING:
        while text:
            text = text[os.write(out, text) :]


if __name__ == "__main__":
    main()
