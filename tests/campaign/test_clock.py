"""A keep-alive by the system's own clock, which the model forgot, is one kind of failure, and is shrunk once."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from otf import Bench, Spec, goto, lines
from otf.adapter import Line
from otf.campaign import Campaign, Settings, Summary
from otf.cli.tools.campaign_folder import gathered
from otf.spec import Transition, start
from otf.trace.clock import by_clock
from otf.trace.explain import explanation
from tests.runner.playing import Answer, hub, virtually

AFTER = 0.6  # seconds after which the server speaks by itself
REFERENCE = f"{__name__}:bench"
ANSWERS = {"hello": "hi", "nop": "ok", "look": "seen"}


def answering(_port: str, data: bytes) -> list[Answer]:
    """Answer each line, some time later; whoever connects gets a `ping` once."""
    return [(0.005, "line", ANSWERS[data.decode()].encode())] if data else [(AFTER, "line", b"ping")]


@asynccontextmanager
async def connect() -> AsyncGenerator[Mapping[str, Line]]:
    """Connect to a fresh server."""
    async with hub(answering, "line")() as found:
        await found["line"].send(b"")
        yield found


def step(state: int, inp: str) -> list[Transition[int]]:
    """Answer each word with another."""
    return [goto(state, ANSWERS[inp])]


def bench() -> Bench:
    """Return a bench whose model knows of no ping."""
    spec = Spec(step, 0, [*ANSWERS])
    codec = lines({str: "{}"}, port="line")
    return Bench(spec, connect=connect, codec=codec, quiescence=0.2, latency=0.05, busy=0.1)


def run(tested: Bench, out: Path, **options: object) -> Summary:
    """Return the result of four paths that are driven one after the other."""
    settings = Settings(out=out, reference=REFERENCE, traces=4, steps=12, mode="strict", seed=1)
    return virtually(Campaign(tested, replace(settings, **options)).run)  # type: ignore[arg-type]


def test_a_keep_alive(tmp_path: Path) -> None:
    """Four paths fail after whichever input came before: one kind, shown by waiting alone, in two runs."""
    summary = run(bench(), tmp_path / "out")
    [group] = summary.failures.values()
    assert group.shrunk is not None
    assert (group.shrunk.steps, group.shrunk.resets, group.shrunk.rate) == (1, 2, 1.0)
    found = by_clock(group.shrunk.verdict.failure, group.shrunk.events)
    assert found is not None
    assert found.at == pytest.approx(AFTER, abs=0.2)
    told = explanation(group.shrunk.verdict, group.shrunk.events)
    assert f"  comes {found.at:.1f} s after connecting, whatever is sent; " in told
    assert "yield goto(state, 'ping', after='ping')" in told


def test_its_report(tmp_path: Path) -> None:
    """The report of the folder has the same kind, with as many paths; so has a campaign that spends its time."""
    for name, options in {"one": {}, "two": {"spend": True, "time": 40.0}}.items():
        summary = run(bench(), tmp_path / name, traces=2, **options)
        report = gathered(tmp_path / name, REFERENCE, {})
        assert {name: each.count for name, each in report.failures.items()} == {
            str(name): group.count for name, group in summary.failures.items()
        }
        assert len(report.failures) == 1


def test_the_lines_that_allow_it(tmp_path: Path) -> None:
    """The model with the timer that is offered has no failure."""

    def emits(state: int) -> Iterator[Transition[int]]:
        yield goto(state, "ping", after="ping")

    tested = bench()
    spec = Spec(step, 0, [*ANSWERS], timers=[start("ping", AFTER * 0.7, AFTER * 1.3)], emits=emits)
    assert not run(replace(tested, spec=spec), tmp_path / "out", traces=2, steps=12).failures
