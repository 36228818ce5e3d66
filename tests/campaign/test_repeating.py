"""A run that is driven again pauses as it did, and waits for no timer in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest

from otf.adapter import Bench
from otf.adapters.inprocess import Reply, inprocess
from otf.campaign import Settings, rerun
from otf.campaign.again import both_ways
from otf.campaign.pace import Pace
from otf.campaign.paths import PathRun
from otf.campaign.program import program
from otf.campaign.results import PathResult
from otf.campaign.settings import header
from otf.codec import lines
from otf.core.timer_waits import Timers
from otf.runner.reproduce import reproduce
from otf.spec import Idle, Spec, Transition, goto, start
from otf.strategy import Script
from otf.trace.clock import pauses
from otf.trace.verdict import Verdict
from tests.runner.playing import virtually


def step(state: str, inp: str) -> Iterator[Transition[str]]:
    """A heater warms up once it is on; until then it says so."""
    if inp == "on" and state == "off":
        yield goto("warming", "ok", timers=[start("warm", 0.4, 0.6)])
    else:
        yield goto(state, state)


def emits(state: str) -> Iterator[Transition[str]]:
    """Say when it is warm."""
    if state == "warming":
        yield goto("warm", "it is warm", after="warm")


def heater() -> Callable[[bytes], list[Reply]]:
    """Return a heater that says it is off while it warms up."""
    on = -1.0

    def act(frame: bytes) -> list[Reply]:
        nonlocal on
        now = anyio.current_time()
        if frame == b"on" and on < 0:
            on = now
            return [b"ok", (0.5, b"it is warm")]
        return [b"off" if on < 0 or now - on < 0.5 else b"warm"]

    return act


BENCH = Bench.on_ports(
    Spec(step, "off", ["on", "look"], emits),
    lines({str: "{}"}),
    {"p": inprocess(heater)},
    name="heater",
    quiescence=0.05,
)
INPUTS = ["look", "on", Idle(0.2), "look"]


async def failing(out: Path) -> PathResult:
    """Return the path that looks while the heater warms up."""
    head, oracle = header(BENCH, Settings(out=out, mode="strict"), 1), BENCH.oracle()
    pacing = Pace("strict", 1, BENCH.timing, timers=Timers(last=True, between=False)).pacing()
    return await PathRun(BENCH, oracle, head, out / "path-0001.jsonl").run(Script(INPUTS), 4, pacing)


def test_a_rerun_does_not_wait_for_what_ends_the_state(tmp_path: Path) -> None:
    """The heater is as faulty as before: a rerun that waited until it is warm would call it mended."""

    async def again() -> Verdict:
        first = await failing(tmp_path)
        assert first.verdict.failed
        return (await rerun(BENCH, first.events, Settings(out=tmp_path / "out"))).verdict

    assert virtually(again).failed


def test_both_ways_are_the_same_run(tmp_path: Path) -> None:
    """A path from a snapshot is driven from a reset with its own pauses."""

    async def both() -> PathResult:
        first = await failing(tmp_path)
        head = header(BENCH, Settings(out=tmp_path), 1)
        return await both_ways(BENCH, BENCH.oracle(), head, first, until=1e9)

    assert virtually(both).verdict.failed


def test_the_program_has_the_pauses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What pytest runs fails as long as the failure is there."""
    # a busy machine would take so long between two inputs that the heater is warm
    monkeypatch.setattr("otf.runner.reproduce.anyio", SimpleNamespace(run=virtually))
    first = virtually(lambda: failing(tmp_path))
    steps: list[tuple[object, list[object]]] = [("look", ["off"]), ("on", ["ok"]), (Idle(0.2), []), ("look", ["off"])]
    with pytest.raises(AssertionError, match="off"):
        reproduce(BENCH, steps, pauses=pauses(first.events))
    text = program(BENCH, header(BENCH, Settings(out=tmp_path, reference=f"{__name__}:BENCH"), 1), first)
    assert text is not None
    assert ", STEPS, pauses=(0.05, 0.05, 0.2))" in text
