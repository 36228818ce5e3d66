"""The exact solver, on cases that can be worked out by hand: L is 1 s, R is 2 s."""

from __future__ import annotations

import pytest

from benchmarks.blueprints import Blueprint, Branch
from benchmarks.differences import Differences
from benchmarks.solver import decided
from otf.trace.events import Event, Quiet, Seen, Sent

L, R = 1.0, 2.0
ANSWERS = {
    ("s0", "a"): (Branch("s0", ("x",)),),
    ("s0", "b"): (Branch("s1", ("y",), (10.0, 12.0)),),
    ("s0", "c"): (Branch("s0", (), (10.0, 12.0), "same", ((("x",), ("s1",)), (("z",), ("s0",))), "P"),),
    ("s1", "a"): (Branch("s1"),),
}
TIMERS = {"s1": (Branch("s1", ("x",), (3.0, 3.0)), Branch("s0", ("z",), (10.0, 10.0)))}
SPEC = Blueprint(ANSWERS, TIMERS, {"a": "A", "b": "A", "c": "B"}, {"x": "P", "y": "Q", "z": "P"})


def sent(inp: str, at: float) -> Sent:
    """Return the event of an input."""
    return Sent(inp, SPEC.inputs[inp], at)


def seen(output: str, at: float) -> Seen:
    """Return the event of an output."""
    return Seen(output, SPEC.outputs[output], at)


@pytest.mark.parametrize(
    ("events", "decision"),
    [
        ([sent("a", 0), seen("x", 0), Quiet(5)], "explained"),
        ([sent("a", 0), seen("x", 4), Quiet(5)], "explained"),
        ([sent("a", 0), seen("x", 4.1), Quiet(6)], "slow"),
        ([sent("a", 0), Quiet(3.9)], "explained"),
        ([sent("a", 0), Quiet(4.1)], "impossible"),
        ([sent("a", 0), Quiet(4)], "borderline"),
        ([sent("a", 0), seen("z", 1), Quiet(5)], "impossible"),
        ([seen("x", 1), sent("a", 1), Quiet(5)], "impossible"),
        ([sent("a", 0), sent("a", 0), seen("x", 1), seen("x", 6), Quiet(7)], "explained"),
        ([sent("a", 0), sent("a", 0), seen("x", 1), seen("x", 6.1), Quiet(7)], "slow"),
    ],
)
def test_an_answer_comes_within_two_latencies_and_r(events: list[Event], decision: str) -> None:
    """One way, R, and the other way; two inputs take twice R."""
    assert decided(SPEC, events, L, R) == decision


@pytest.mark.parametrize(
    ("at", "decision"), [(9.9, "impossible"), (10, "explained"), (14, "explained"), (14.1, "impossible")]
)
@pytest.mark.parametrize(("inp", "output"), [("b", "y"), ("c", "z")])
def test_a_window_is_kept_by_answers_and_by_what_is_accepted(inp: str, output: str, at: float, decision: str) -> None:
    """From 10 to 12 s after the input was taken."""
    events: list[Event] = [sent(inp, 0), seen(output, at), Quiet(at)]
    assert decided(SPEC, events, L, R) == decision


def timed(*moments: tuple[str, float], end: float) -> list[Event]:
    """Return what is seen after an Accept has led into the timed state 12 to 13 s after the start."""
    return [sent("c", 0), seen("x", 13), *(seen(*each) for each in moments), Quiet(end)]


@pytest.mark.parametrize(
    ("events", "decision"),
    [
        (timed(end=15), "explained"),
        (timed(end=17.1), "impossible"),
        (timed(("x", 16), ("x", 19), end=20), "explained"),
        (timed(("x", 16), ("x", 17.9), end=20), "impossible"),
        # the other timer runs on, or is set anew by each message
        (timed(("x", 16), ("x", 19), ("x", 22), ("z", 23), end=24), "explained"),
        (timed(("x", 16), ("x", 19), ("x", 22), ("x", 25), end=26), "explained"),
        (timed(("x", 16), ("x", 19), ("x", 22), ("z", 27), end=28), "impossible"),
        # an input that changes nothing may set all of them anew
        ([*timed(("x", 16), end=16)[:-1], sent("a", 18), Quiet(22)], "explained"),
        ([*timed(("x", 16), end=16)[:-1], sent("a", 18), Quiet(26.1)], "impossible"),
    ],
)
def test_timers_are_set_anew_or_run_on(events: list[Event], decision: str) -> None:
    """Nothing idles beyond the end of a window."""
    assert decided(SPEC, events, L, R) == decision


def test_where_the_spec_says_nothing_everything_is_explained() -> None:
    """A b is not specified in the state that a b has led to."""
    events: list[Event] = [sent("b", 0), seen("y", 11), sent("b", 12), seen("z", 13), seen("z", 13), Quiet(100)]
    assert decided(SPEC, events, L, R) == "explained"


def test_differences_have_a_solution_or_a_negative_cycle() -> None:
    """What was taken back does not count any more."""
    times = Differences()
    one, two = times.unknown(), times.unknown()
    assert times.at_most(one, 0, -5.0)
    assert times.at_most(two, one, 2.0)
    mark = times.mark()
    assert not times.at_most(0, two, 2.0)
    times.back(mark)
    assert times.at_most(0, two, 3.0)
    assert times.solution[two] - times.solution[0] == -3.0


NAMED = Blueprint(
    {
        ("s0", "a"): (Branch("s1", ("x",), starts=(("t", (10.0, 12.0)),)),),
        ("s0", "b"): (Branch("s0", ("y",)),),
        ("s0", "c"): (Branch("s0"),),
        ("s1", "a"): (Branch("s1", ("x",), starts=(("t", (10.0, 12.0)),)),),
        ("s1", "b"): (Branch("s1", ("y",), stops=("t",)),),
        ("s1", "c"): (Branch("s0"),),
    },
    {"s1": (Branch("s0", ("z",), after="t"),)},
    SPEC.inputs,
    SPEC.outputs,
)


@pytest.mark.parametrize(
    ("events", "decision"),
    [
        ([sent("a", 0), seen("x", 2), seen("z", 12), Quiet(12)], "explained"),
        ([sent("a", 0), seen("x", 2), seen("z", 16), Quiet(16)], "explained"),
        ([sent("a", 0), seen("x", 2), seen("z", 9.9), Quiet(12)], "impossible"),
        ([sent("a", 0), seen("x", 2), seen("z", 16.1), Quiet(17)], "impossible"),
        ([sent("a", 0), seen("x", 2), Quiet(16.1)], "impossible"),
        ([seen("z", 1), Quiet(16.1)], "impossible"),
        ([sent("a", 0), seen("x", 2), sent("a", 8), seen("x", 10), seen("z", 16)], "impossible"),
        ([sent("a", 0), seen("x", 2), sent("a", 8), seen("x", 10), seen("z", 20)], "explained"),
        ([sent("a", 0), seen("x", 2), sent("b", 8), seen("y", 10), Quiet(30)], "explained"),
        ([sent("a", 0), seen("x", 2), sent("b", 8), seen("y", 9), seen("z", 15)], "impossible"),
        (
            [sent("a", 0), seen("x", 2), Quiet(4), sent("c", 5), Quiet(20), sent("b", 20), seen("y", 22), Quiet(25)],
            "explained",
        ),
        (
            [
                sent("a", 0),
                seen("x", 2),
                Quiet(4),
                sent("c", 5),
                Quiet(20),
                sent("a", 20),
                seen("x", 22),
                seen("z", 24),
            ],
            "impossible",
        ),
    ],
)
def test_a_timer_with_a_name_runs_from_its_start_until_it_expires_or_is_stopped(
    events: list[Event], decision: str
) -> None:
    """It may be set while the system is busy; where nothing is said of it, it expires without effect."""
    assert decided(NAMED, events, L, R) == decision


def test_an_input_of_which_nothing_is_said_explains_nothing_that_was_seen_before() -> None:
    """From then on everything is allowed; the y came before it was sent, and nobody had asked for that."""
    spec = Blueprint({("s0", "a"): (Branch("s0", ("x",)),)}, {}, SPEC.inputs, SPEC.outputs)
    assert decided(spec, [sent("a", 0), seen("x", 1), sent("b", 5), seen("y", 6), seen("z", 6)], L, R) == "explained"
    assert decided(spec, [seen("y", 0), sent("b", 5), Quiet(9)], L, R) == "impossible"
