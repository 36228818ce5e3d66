"""The parts of a failure in time: its input, the allowed outputs, and the times; with silence before it or without."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from otf.core import Model, Monitor, Oracle, Timing
from otf.spec import Spec, Transition, goto, start
from otf.trace.events import Quiet, Seen, Sent, Undecodable
from otf.trace.verdict import Failure
from tests.core.timed import driven, timed, told


def _oven(state: str, inp: str) -> Iterator[Transition[str]]:
    """Return an oven that takes 2 to 3 s to answer a, and rings 10 to 12 s after c; b asks for the time at once."""
    if inp == "a":
        yield goto(state, "x", within=(2, 3))
    elif inp == "c":
        yield goto("hot", "z")
    else:
        yield goto(state, "y")


def _ring(state: str) -> Iterator[Transition[str]]:
    if state == "hot":
        yield goto("cold", "w", within=(10, 12))


OVEN: Spec[str, str] = Spec(_oven, "cold", ["a", "b", "c"], _ring)


def failure(script: str) -> Failure:
    """Return the failure of a script."""
    found = told(OVEN, script).end().failure
    assert found is not None, script
    return found


@pytest.mark.parametrize("quiet", ["quiet0.7", "quiet0.7 quiet1.4", "taken0.5 quiet0.7"])
@pytest.mark.parametrize(
    ("rest", "kind"), [("quiet3.5", "missing"), ("x!4.5", "late"), ("x!1.5", "early"), ("z!2.5", "wrong")]
)
def test_silence_before_the_deadline_changes_nothing_about_the_failure(rest: str, kind: str, quiet: str) -> None:
    """The same kind, input, alternatives and signature as without that silence."""
    plain, found = failure(f"a?0 {rest}"), failure(f"a?0 {quiet} {rest}")
    assert found.kind == plain.kind == kind
    assert found.input == plain.input == "'a'"
    assert found.allowed == plain.allowed
    assert found.signature == plain.signature
    assert found.seen == plain.seen
    assert found.step == plain.step == 1


def test_the_step_goes_on_from_the_state_before_the_input() -> None:
    """After two inputs that are over, the third is the one that is explained."""
    found = failure("b?0 y!0.1 quiet1 c?2 z!2.1 quiet3 a?4 quiet5 quiet7.5")
    assert (found.input, found.step) == ("'a'", 3)
    assert [each.state for each in found.allowed] == ["'hot'"]
    assert any("x" in text for each in found.allowed for texts, _ in each.branches for text in texts)


def test_an_input_while_another_is_being_answered_belongs_to_the_step() -> None:
    """Sent after silence, while the answer to a is due: both are named."""
    assert failure("a?0 quiet1 b?1.5 quiet5").input == "'a'; 'b'"


def test_a_step_that_is_over_is_not_named() -> None:
    """Where everything was settled by silence, the next failure has nothing to do with the input before."""
    assert failure("b?0 y!0.1 quiet1 a?2 z!2.5").input == "'a'"
    assert failure("a?0 x!2.5 quiet3 x!3.5").input == ""
    assert failure("a?0 x!2.5 quiet3 x!3.5").kind == "unasked"


def test_different_faults_have_different_signatures() -> None:
    """A late answer, a missing one, a wrong one, and a bell that does not ring."""
    scripts = ["a?0 x!4.5", "a?0 quiet3.5", "a?0 z!2.5", "c?0 z!0.1 quiet1 w!5"]
    assert len({failure(script).signature for script in scripts}) == len(scripts)


def test_a_missing_answer_and_a_dead_timer_are_two_faults() -> None:
    """Both are missed after silence: they must not be one group, or shrinking slides from one to the other."""
    answer, timer = failure("a?0 quiet1 quiet3.5"), failure("c?0 z!0.1 quiet1 quiet13")
    assert answer.signature != timer.signature
    assert answer.signature.input == "str"


@pytest.mark.parametrize(
    ("script", "window", "seconds"),
    [
        ("a?0 x!4.5", ("2", "3"), "4.5"),
        ("a?0 quiet1 x!4.5", ("2", "3"), "4.5"),
        ("a?0 x!1.25", ("2", "3"), "1.25"),
        ("a?0 quiet4.75", ("2", "3"), "4.75"),
        ("c?0 z!0 quiet1 w!5.5", ("10", "12"), "5.5"),
    ],
)
def test_a_failure_in_time_names_the_window_and_the_seconds_seen(
    script: str, window: tuple[str, str], seconds: str
) -> None:
    """All inputs are sent at 0, so that seconds since the input and since the start are the same."""
    text = repr(failure(script))
    assert all(each in text for each in (*window, seconds))


def test_so_it_is_live() -> None:
    """A device that is late with its answer, in strict mode: silence passed many times before."""
    late: Spec[str, str] = Spec(
        lambda state, inp: [goto(state, "x", within=(6, 6))] if inp == "a" else _oven(state, inp), "cold", ["a", "b"]
    )
    for number in range(5):
        verdict, _ = driven(OVEN, "bab", system=late, number=number)
        assert verdict.failure is not None
        assert (verdict.failure.input, verdict.failure.signature.input) == ("'a'", "str")


def _session(state: str, _inp: str) -> Iterator[Transition[str]]:
    yield goto("on", timers=[start("tick", 1, 2), start("end", 5, 9)]) if state == "off" else goto(state)


def _ticks(state: str) -> Iterator[Transition[str]]:
    if state == "on":
        yield goto("on", "x", after="tick", timers=[start("tick", 1, 2)])
        yield goto("off", "w", after="end")


@pytest.mark.parametrize(
    ("script", "timer", "seen", "off"),
    [("a?0 x!1.5 x!4", "tick", "0.500 s too late", 0.4), ("a?0 x!1.5 w!3", "end", "2.000 s too early", 2.0)],
)
def test_an_output_is_late_for_a_timer_that_is_over_and_early_for_one_that_has_not_begun(
    script: str, timer: str, seen: str, off: float
) -> None:
    """Another timer that runs in the same state has nothing to do with it; L excuses what is late."""
    found = told(Spec(_session, "off", ["a"], _ticks), script).end().failure
    assert found is not None
    assert f"the timer '{timer}'" in found.times[0]
    assert found.times[1].endswith(seen)
    assert found.off == pytest.approx(off)


@pytest.mark.parametrize("last", [Seen("y", "Q", 1.6), Seen(Undecodable(b"?"), "P", 1.6)])
def test_nothing_is_said_of_timers_that_have_nothing_to_do_with_an_output(last: Seen) -> None:
    """Neither tick nor end brings it."""
    monitor = told(Spec(_session, "off", ["a"], _ticks), "a?0 x!1.5")
    verdict = monitor.tell(last)
    assert verdict is not None
    assert verdict.failure is not None
    assert verdict.failure.times == ()


def _hold(state: str, inp: str) -> Iterator[Transition[str]]:
    """Yield the answers of a room: a hold ends by itself after a second, and a confirmation then is refused."""
    if inp == "a":
        yield goto("held", "x", timers=[start("red", 0.9, 1.1)])
    elif inp == "b":
        yield goto(state, "y" if state == "held" else "z")
    else:
        yield goto(state)


def _end(state: str) -> Iterator[Transition[str]]:
    if state == "held":
        yield goto("free", after="red")


ROOM: Spec[str, str] = Spec(_hold, "free", ["a", "b", "c"], _end)


@pytest.mark.parametrize(
    ("script", "timers"),
    [
        ("a?0 x!0.1 quiet0.8 b?0.81 z!0.82", ["'red' (0.9 to 1.1 s) runs"]),
        ("a?0 x!0.1 quiet0.8 c?0.81 quiet3 b?4 y!4.1", ["'red' (0.9 to 1.1 s) has ended"]),
    ],
)
def test_a_possible_state_names_its_timers(script: str, timers: list[str]) -> None:
    """Those that ran, and those that had just ended without an output: nothing else in the run shows them."""
    found = told(ROOM, script).end().failure
    assert found is not None
    assert [*dict.fromkeys(each for state in found.allowed for each in state.timers)] == timers


@pytest.mark.parametrize("seen", ["up 1", "up 9", "garbage"])
def test_a_wrong_answer_of_a_silent_clock_is_a_failure(seen: str) -> None:
    """It counts seconds without a word and without end: to ask whether an answer is early is no broken model."""

    def step(seconds: int, inp: str) -> Iterator[Transition[int]]:
        yield goto(0, "on") if inp == "start" else goto(seconds, f"up {seconds}")

    def count(seconds: int) -> Iterator[Transition[int]]:
        if seconds >= 0:
            yield goto(seconds + 1, within=(0.9, 1.1))

    timing = Timing(0.04, 0.001, 0.004)
    monitor = Monitor(Oracle(Model(Spec(step, -1, ["start", "ask"], count)), timing=timing))
    for event in (Sent("start", "sut", 0.5), Seen("on", "sut", 0.501), Quiet(0.6), Sent("ask", "sut", 3.5)):
        assert monitor.tell(event) is None
    assert monitor.would(Seen("up 2", "sut", 3.505))
    found = monitor.tell(Seen(seen, "sut", 3.505))
    assert found is not None
    assert found.failed


BEAT = start("beat", 0.01, 0.03)


@pytest.mark.parametrize("outputs", [[], ["z"]])
def test_a_heartbeat_in_place_of_an_answer(outputs: list[str]) -> None:
    """It came in time; what is wrong is the answer that did not come before it."""
    spec = Spec(
        lambda state, _inp: [goto(state, *outputs)],
        0,
        ["a"],
        lambda state: [goto(state, "x", after="beat", timers=[BEAT])],
        timers=[BEAT],
    )
    timing = Timing(quiescence=0.01, latency=0.004, busy=0.004)
    monitor = told(timed(spec, timing), "x!0.02 a?0.025 x!0.04 x!0.06 x!0.08")
    found = monitor.end().failure
    if not outputs:
        assert found is None
        return
    assert found is not None
    assert (found.kind, found.seen, found.signature.seen) == ("missing", "nothing before 'x'", "silence")
    assert found.times == (
        "due after the input was sent: between 0.025 s and 0.037 s of the run",
        "at 0.060 s it had not come",
    )
    assert found.off == pytest.approx(0.023)
