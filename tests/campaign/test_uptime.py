"""A device that falls silent after some time, whatever it was sent: in virtual time, it is shrunk to waiting."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from otf.adapter import Bench, Line
from otf.adapters.inprocess import Reply, open_inprocess
from otf.campaign import Shrinker, Shrunk
from otf.campaign.paths import PathRun
from otf.campaign.settings import Settings, header
from otf.codec import lines
from otf.spec import Idle, Spec, Transition, goto, start
from otf.strategy import Script
from otf.trace.clock import awaited_output
from tests.campaign.machine import inputs
from tests.runner.playing import virtually

PERIOD = 0.5
LAST = 24
"""The number of its last tick, after 12 s."""


def _answer(data: bytes) -> list[Reply]:
    return [(PERIOD * number, b"tick") for number in range(1, LAST + 1)] if data == b"on" else [(0.0, b"pong")]


@asynccontextmanager
async def _connect() -> AsyncGenerator[Mapping[str, Line], None]:
    async with open_inprocess(lambda: _answer) as line:
        await line.send(b"on")
        yield {"p": line}


def _ticks(state: int) -> Iterator[Transition[int]]:
    yield goto(state, "tick", after="tick", timers=[TICK])


TICK = start("tick", 0.9 * PERIOD, 1.1 * PERIOD)
SPEC: Spec[int, str] = Spec(lambda state, _: [goto(state, "pong")], 0, ["ping", "pang"], _ticks, timers=[TICK])
BENCH = Bench(
    SPEC,
    codec=lines({str: "{}"}, port="p"),
    connect=_connect,
    outputs=("p",),
    quiescence=0.1,
    latency=0.01,
    busy=0.01,
    name="ticking",
)


def test_a_device_that_falls_silent_after_a_time(tmp_path: Path) -> None:
    """Of all inputs none is left: waiting for as long shows it, twice."""

    async def shrunk() -> Shrunk:
        oracle, head = BENCH.oracle(), header(BENCH, Settings(out=tmp_path), 1)
        run = PathRun(BENCH, oracle, replace(head, mode="strict"), tmp_path / "path-0001.jsonl")
        failing = await run.run(Script(["ping", "pang"] * 75), 150)
        output = awaited_output(failing.verdict.failure, failing.events)
        assert output is not None
        assert output.at == pytest.approx(PERIOD * (LAST + 1), abs=1.1)  # silence that fails is waited out
        return await Shrinker(bench=BENCH, oracle=oracle, header=head).run(failing)

    found = virtually(shrunk)
    assert (found.steps, found.resets, found.minimal) == (1, 2, True)
    [wait] = inputs(found.trace, BENCH)
    assert isinstance(wait, Idle)
