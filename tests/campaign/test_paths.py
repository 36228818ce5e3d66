"""One path: its trace is whole whenever and however it ends."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

import anyio
import pytest

from otf.adapter import Bench, Line
from otf.adapters.inprocess import open_inprocess
from otf.campaign import Settings, paths, recorder
from otf.campaign.paths import PathRun
from otf.campaign.results import PathResult
from otf.campaign.settings import header
from otf.errors import ContactError, UsageError
from otf.strategy import Script
from otf.trace.events import Event, Sent
from tests.campaign.machine import THIEF, Button, Coin, Machine, Refund, bench, judged
from tests.runner.playing import virtually

INPUTS = [Coin(), Coin(), Button(), Button()]


def _path(tested: Bench, trace: Path, on_event: Callable[[Event], None] | None = None) -> PathRun:
    return PathRun(tested, tested.oracle(), header(tested, Settings(out=trace.parent), 1), trace, on_event)


def _run(tested: Bench, trace: Path) -> PathResult:
    return virtually(lambda: _path(tested, trace).run(Script(INPUTS), 10))


def _slow(stopped: list[float], starting: float = 1.0) -> Bench:
    """Return a bench whose machine takes a while to start and a second to stop."""

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        try:
            await anyio.sleep(starting)
            async with open_inprocess(lambda: Machine(delay=0.25)) as line:
                yield {"": line}
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(1)
            stopped.append(anyio.current_time())

    return bench(connect=connect, ports={}, outputs=("",))


def _lines(trace: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in trace.read_bytes().splitlines()]


# Results


def test_a_passing_path(tmp_path: Path) -> None:
    """A path that passes has its number, its steps and its trace; its events are not kept."""
    trace = tmp_path / "path.jsonl"
    result = _run(bench(), trace)
    assert (result.number, result.verdict.outcome, result.steps, result.trace, result.events) == (
        1,
        "pass",
        4,
        trace,
        (),
    )
    assert judged(trace).recorded == "pass"


def test_a_failing_path_keeps_its_events(tmp_path: Path) -> None:
    """The events of a path that fails are those of its trace: the shrinker needs them."""
    tested = bench(THIEF)
    run = _path(tested, tmp_path / "path.jsonl")
    result = virtually(lambda: run.run(Script([Coin(), Coin(), Refund()]), 10))
    assert result.verdict.failed
    assert result.events == judged(result.trace).events


def test_no_more_steps_than_asked(tmp_path: Path) -> None:
    """A path ends after the given number of inputs."""
    tested = bench()
    result = virtually(lambda: _path(tested, tmp_path / "path.jsonl").run(Script(INPUTS), 3))
    assert result.steps == 3


# Times


def test_moments_are_those_of_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the system takes to start, an event's moment is the one at which it happened."""
    zero = datetime(2026, 11, 20, tzinfo=UTC)

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:  # noqa: ANN401 -- as the method that it replaces
            assert tz is UTC
            return zero + timedelta(seconds=anyio.current_time())

    for module in (paths, recorder):
        monkeypatch.setattr(module, "datetime", Clock)
    _run(_slow([], starting=3600.0), tmp_path / "path.jsonl")
    start, first, *_ = _lines(tmp_path / "path.jsonl")
    assert datetime.fromisoformat(start["timestamp"]) == zero
    assert (first["at"], datetime.fromisoformat(first["timestamp"])) == (0.0, zero + timedelta(hours=1))


# Interruptions


@pytest.mark.parametrize("eighth", range(44))
def test_interrupted_at_any_time(tmp_path: Path, eighth: int) -> None:
    """Whenever a path is cancelled, the system is stopped, and the trace has what happened, and an end that says so."""
    whole = _run(_slow([]), tmp_path / "whole.jsonl")
    trace, stopped, moment = tmp_path / "path.jsonl", list[float](), (eighth + 0.5) / 8

    async def run() -> bool:
        with anyio.move_on_after(moment) as scope:
            await _path(_slow(stopped), trace).run(Script(INPUTS), 10)
        return scope.cancelled_caught

    assert virtually(run)
    assert len(stopped) == 1
    start, *events, end = _lines(trace)
    assert (start["event"], end["event"], end["verdict"], end["why"]) == ("start", "end", "inconclusive", "interrupted")
    assert end["steps"] == sum(event["event"] == "sent" for event in events)
    happened = [event for event in _lines(whole.trace)[1:-1] if event["at"] + 1 <= moment]
    assert [event["n"] for event in events] == [event["n"] for event in happened]


def test_interrupted_after_the_verdict(tmp_path: Path) -> None:
    """A path that is cancelled while its system is being stopped has its verdict already."""
    stopped: list[float] = []

    async def run() -> PathResult:
        with anyio.move_on_after(6):
            return await _path(_slow(stopped), tmp_path / "path.jsonl").run(Script(INPUTS), 10)
        raise AssertionError

    assert virtually(run).verdict.outcome == "pass"
    assert stopped == [6.5]


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
@pytest.mark.parametrize("number", range(1, 11))
def test_interrupted_at_any_event(tmp_path: Path, loop: str, number: int) -> None:
    """Who listens to the events may cancel the path at any of them."""
    tested, trace = bench(quiescence=0.001, latency=0, busy=0), tmp_path / "path.jsonl"
    seen: list[Event] = []

    async def run() -> None:
        with anyio.CancelScope() as scope:

            def take(event: Event) -> None:
                seen.append(event)
                if len(seen) == number:
                    scope.cancel()

            await _path(tested, trace, take).run(Script(INPUTS), 10)

    anyio.run(run, backend=loop)
    _, *events, end = _lines(trace)
    assert len(events) == len(seen)
    assert end["verdict"] == ("inconclusive" if number < len(seen) or len(seen) < 10 else "pass")


@pytest.mark.parametrize("error", [RuntimeError("a bug"), KeyboardInterrupt(), UsageError("no room")])
def test_whatever_is_raised_the_trace_ends(tmp_path: Path, error: BaseException) -> None:
    """An error in a listener, or Ctrl-C at that moment, leaves a trace with an end."""
    trace = tmp_path / "path.jsonl"

    def take(event: Event) -> None:
        if isinstance(event, Sent) and isinstance(event.input, Button):
            raise error

    with pytest.raises(type(error)):
        virtually(lambda: _path(bench(), trace, take).run(Script(INPUTS), 10))
    *_, last, end = _lines(trace)
    assert (last["value"], end["verdict"]) == ({"type": "Button"}, "inconclusive")
    assert end["why"] == (str(error) or "interrupted")


# No contact


@pytest.mark.parametrize(("retries", "fails"), [(0, True), (1, True), (2, False), (3, False)])
def test_starts_are_tried_as_often_as_the_bench_says(tmp_path: Path, retries: int, *, fails: bool) -> None:
    """A system that starts at the third attempt needs two retries; the trace holds one run, and one header."""
    starts = iter([ContactError("one"), ContactError("two"), None, None])

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        trouble = next(starts)
        if trouble is not None:
            raise trouble
        async with open_inprocess(Machine) as line:
            yield {"": line}

    tested = bench(connect=connect, ports={}, outputs=("",), retries=retries)
    trace = tmp_path / "path.jsonl"
    if fails:
        with pytest.raises(ContactError):
            _run(tested, trace)
    else:
        assert _run(tested, trace).verdict.outcome == "pass"
    assert [line["event"] for line in _lines(trace)].count("start") == 1
    assert _lines(trace)[-1]["event"] == "end"


def test_contact_lost_in_mid_run_is_not_tried_again(tmp_path: Path) -> None:
    """Once something was sent, a second start would be another path under the same name."""
    starts: list[int] = []

    def take(event: Event) -> None:
        if isinstance(event, Sent) and isinstance(event.input, Button):
            raise ContactError("the cable is cut")

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        starts.append(1)
        async with open_inprocess(Machine) as line:
            yield {"": line}

    tested = bench(connect=connect, ports={}, outputs=("",), retries=5)
    with pytest.raises(ContactError, match="the cable is cut"):
        virtually(lambda: _path(tested, tmp_path / "path.jsonl", take).run(Script(INPUTS), 10))
    assert starts == [1]
