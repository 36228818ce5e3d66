"""Answers in time, late and missing: what a run records, and how it is judged; all times are virtual."""

from __future__ import annotations

import time

import anyio
import pytest

from tests.runner.playing import answering, conduct, on_function, play, virtually

LOOPS = pytest.mark.parametrize("loop", ["asyncio", "trio"])


def test_an_answer_in_time() -> None:
    """An input is sent, its answer is seen, and silence for the time of the bench ends the step."""
    played = play(answering((0.25, b"pong")), "p.ping", "p.ping")
    assert played.script == [
        "0 > p.ping",
        "0.25 < p.pong",
        "1.25 quiet",
        "1.25 > p.ping",
        "1.5 < p.pong",
        "2.5 quiet",
    ]
    assert (played.verdict.outcome, played.verdict.late) == ("pass", ())


def test_silence_costs_nothing() -> None:
    """An hour of quiescence after each of ten inputs is over at once."""
    began = time.monotonic()
    played = play(on_function(lambda: lambda _frame: b"pong", quiescence=3600.0), *["p.ping"] * 10)
    assert played.events[-1].at == 36_000
    assert time.monotonic() - began < 60


def test_a_late_answer_is_judged_as_an_answer() -> None:
    """An answer after the quiescence time, but before ten times as much, passes, and is reported as late."""
    played = play(answering((9.75, b"pong")), "p.ping")
    assert played.script == ["0 > p.ping", "9.75 < p.pong (late)", "10.75 quiet"]
    assert (played.verdict.outcome, played.verdict.late) == ("pass", (2,))


def test_a_late_answer_may_be_wrong() -> None:
    """A late output is judged like one in time: a wrong answer fails as such and not as a missing one."""
    failure = play(answering((9.75, b"puck")), "p.ping").failure
    assert (failure.kind, failure.seen) == ("wrong", "'p.puck'")


def test_a_missing_answer() -> None:
    """Silence that would fail is waited out ten times as long; then the answer is missing."""
    played = play(answering(), "p.ping", "p.ping")
    assert played.script == ["0 > p.ping", "10 quiet"]
    failure = played.failure
    assert (failure.kind, failure.event, failure.step, failure.input) == ("missing", 2, 1, "'p.ping'")


def test_silence_where_it_is_right_is_not_waited_out() -> None:
    """Only silence that would fail is doubted."""
    assert play(answering(), "p.hush").script == ["0 > p.hush", "1 quiet"]


def test_an_unasked_output() -> None:
    """An output where the model has none fails at once."""
    played = play(answering(b"pong"), "p.hush", "p.hush")
    assert played.script == ["0 > p.hush", "0 < p.pong"]
    failure = played.failure
    assert (failure.kind, failure.port, failure.seen) == ("unasked", "p", "'p.pong'")


def test_a_second_answer_too_many() -> None:
    """An output after a right answer is judged too."""
    failure = play(answering(b"pong", (0.5, b"pong")), "p.ping").failure
    assert (failure.kind, failure.event, failure.before) == ("wrong", 3, ("'p.pong'",))


def test_what_came_with_the_failing_output_is_recorded() -> None:
    """Everything that had arrived when the verdict fell stands in the trace, in its order."""
    played = play(answering(b"one", b"two", b"three"), "p.ping")
    assert played.script == ["0 > p.ping", "0 < p.one", "0 < p.two", "0 < p.three"]
    assert played.failure.event == 2


def test_what_is_recorded_has_its_bytes() -> None:
    """Inputs and outputs are recorded with their bytes on the wire; silence has none."""
    played = play(answering(b"pong"), "p.ping")
    assert [raw for _, raw, _ in played.recorded] == [b"ping", b"pong", None]


def test_times_begin_with_the_run() -> None:
    """Times are seconds since the system was there, however long it took to start and whatever the clock says."""

    async def late() -> list[str]:
        await anyio.sleep(1000)
        return (await conduct(answering((0.25, b"pong")), ["p.ping"])).script

    assert virtually(late) == ["0 > p.ping", "0.25 < p.pong", "1.25 quiet"]


@pytest.mark.parametrize("start", [0.1, 1 / 3, 1234.567, 1e6 + 0.1, 1e9 / 7])
def test_a_deadline_comes_whatever_the_clock_says(start: float) -> None:
    """Rounding of the clock's large numbers makes no deadline that never comes."""

    async def late() -> float:
        await anyio.sleep(start)
        bench = on_function(lambda: lambda _frame: (0.05, b"pong"), quiescence=0.1)
        return (await conduct(bench, ["p.ping"] * 20)).events[-1].at

    assert virtually(late) == pytest.approx(20 * 0.15)


@LOOPS
def test_both_event_loops(loop: str) -> None:
    """The same run on asyncio and on trio, in real time."""
    bench = on_function(lambda: lambda _frame: b"pong", quiescence=0.001, latency=0, busy=0)
    played = anyio.run(lambda: conduct(bench, ["p.ping", "p.ping"]), backend=loop)
    assert [line.split(" ", 1)[1] for line in played.script] == ["> p.ping", "< p.pong", "quiet"] * 2
    assert played.verdict.outcome == "pass"
