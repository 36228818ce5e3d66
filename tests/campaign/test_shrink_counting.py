"""Shrinking a fault that counts commands, beside a heartbeat: each trial takes real time, so the run is cut first."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from otf.adapter import Bench, Line
from otf.adapters.inprocess import Reply, open_inprocess
from otf.campaign import Shrinker, Shrunk
from otf.campaign.paths import PathRun
from otf.campaign.settings import Budget, Settings, header
from otf.codec import lines
from otf.compose import cyclic
from otf.spec import Spec, goto
from otf.strategy import Script
from tests.campaign.machine import inputs
from tests.runner.playing import virtually

PERIOD = 0.2
ENOUGH = 50
"""Commands after which the device answers a check wrongly."""
COMMANDS = ("a", "b", "c", "d")
NODE: Spec[int, str] = Spec(lambda state, _: [goto(state, "ok")], 0, [*COMMANDS, "check"], name="counting")


def _device() -> Callable[[bytes], list[Reply]]:
    taken = 0

    def answer(data: bytes) -> list[Reply]:
        nonlocal taken
        if data == b"on":
            return [(PERIOD * number, b"beat") for number in range(1, 500)]
        taken += 1
        return [(0.1, b"bad" if data == b"check" and taken > ENOUGH else b"ok")]

    return answer


@asynccontextmanager
async def _connect() -> AsyncGenerator[Mapping[str, Line], None]:
    async with open_inprocess(_device) as line:
        await line.send(b"on")
        yield {"p": line}


BENCH = Bench(
    cyclic(NODE, "beat", "beat", every=PERIOD, jitter=0.02),
    codec=lines({str: "{}"}, port="p"),
    connect=_connect,
    outputs=("p",),
    quiescence=0.1,
    latency=0.11,
    busy=0.01,
    name="counting",
)


def test_a_long_run_is_cut_before_its_commands_are_repeated(tmp_path: Path) -> None:
    """Of 61 inputs the 51 that are needed are left, in six times the time that the run took."""

    async def shrunk() -> Shrunk:
        oracle, head = BENCH.oracle(), header(BENCH, Settings(out=tmp_path), 1)
        run = PathRun(BENCH, oracle, replace(head, mode="strict"), tmp_path / "path-0001.jsonl")
        failing = await run.run(Script([*COMMANDS * 15, "check"]), 61)
        budget = Budget(seconds=6 * failing.events[-1].at)
        return await Shrinker(bench=BENCH, oracle=oracle, header=head, budget=budget, confirmed=True).run(failing)

    found = virtually(shrunk)
    assert found.steps == len(inputs(found.trace, BENCH)) == ENOUGH + 1
