"""A transition back into the same state: each timer of the state may run on, or be set anew; both are allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from otf.core import Limits, Model, Monitor, Oracle, Routes, Timing
from otf.spec import Accept, Spec, Transition, goto, start
from otf.trace.events import Quiet, Seen, Sent
from tests.core.timed import PACINGS, TIMING, Device, inputs, judged, played, session, told

CYCLE = (0.08, 0.12)
EVER = float("inf")
Window = tuple[float, float] | None


def device(*cycles: tuple[str, Window]) -> Spec[str, str]:
    """Return the spec of a device that emits `x` (and more) in a cycle while on, and `y` after 0.4 to 0.7 s."""

    def step(state: str, inp: str) -> list[Transition[str]]:
        return [goto("on" if (state, inp) == ("off", "a") else state)]

    def emits(state: str) -> Iterator[Transition[str]]:
        if state == "on":
            yield from (goto("on", output, within=window) for output, window in cycles)
            yield goto("off", "y", within=(0.4, 0.7))

    return Spec(step, "off", ["a"], emits)


FREE = device(("x", None))
CYCLIC = device(("x", CYCLE))
TWICE = device(("x", CYCLE), ("z", (0.2, 0.3)))


@pytest.mark.parametrize("spec", [FREE, CYCLIC])
@pytest.mark.parametrize("script", ["a?0 x!0.1 x!0.2 x!0.3 x!0.4 y!0.5", "a?0 x!0.1 x!0.2 x!0.3 x!0.4 x!0.5 y!0.6"])
def test_a_cyclic_message_lets_another_timer_run_on(spec: Spec[str, str], script: str) -> None:
    """The session ends half a second after it began, whatever ticks meanwhile, with a window or without."""
    assert judged(spec, script) == "pass"


def test_a_cyclic_message_may_set_another_timer_anew() -> None:
    """The last tick came at 0.8 s, and the session ends 0.6 s after that: another tick would have been due before."""
    ticks = " ".join(f"x!{tick / 10}" for tick in range(1, 9))
    assert judged(device(("x", (0.08, 0.9))), f"a?0 {ticks} y!1.4") == "pass"


def test_two_cyclic_messages_do_not_disturb_each_other() -> None:
    """One every 0.1 s, one every 0.25 s, and the end after half a second."""
    assert judged(TWICE, "a?0 x!0.1 x!0.2 z!0.25 x!0.3 x!0.4 x!0.5 z!0.5 x!0.6 y!0.6") == "pass"


def test_a_cyclic_accept_lets_another_timer_run_on() -> None:
    """A test of the model may check the outputs of the cycle."""

    def emits(state: str) -> Iterator[Transition[str] | Accept]:
        if state == "on":
            yield Accept(lambda seen: ["on"] if seen == ("x",) else [], "P", within=CYCLE)
            yield goto("off", "y", within=(0.4, 0.7))

    spec: Spec[str, str] = Spec(lambda _state, _inp: [goto("on")], "off", ["a"], emits)
    assert judged(spec, "a?0 x!0.1 x!0.2 x!0.3 x!0.4 y!0.5") == "pass"
    assert judged(spec, "a?0 x!0.1 y!0.15") == "fail: early"


@pytest.mark.parametrize("spec", [FREE, CYCLIC, TWICE])
@pytest.mark.parametrize("script", ["a?0 y!0.3", "a?0 x!0.1 y!0.15", "a?0 x!0.1 x!0.2 x!0.3 y!0.35"])
def test_what_neither_reading_allows_is_early(spec: Spec[str, str], script: str) -> None:
    """A timer that ran from the beginning, and never anew, is the earliest there is."""
    assert judged(spec, script) == "fail: early"


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("a?0 x!0.1 x!0.2 quiet0.6", "fail: missing"),
        ("a?0 x!0.1 x!0.2 x!0.6", "fail: late"),
        ("a?0 quiet0.6", "fail: missing"),
        ("a?0 x!0.3 x!0.32 x!0.34 x!0.36 x!0.38 x!0.4", "fail: early"),
    ],
)
def test_the_cycle_itself_starts_anew_with_each_message(script: str, verdict: str) -> None:
    """A tick that stops is missing, one that comes too seldom is late, one that comes too often is early."""
    assert judged(CYCLIC, script) == verdict


def test_an_end_that_never_comes_is_missing_without_a_cycle() -> None:
    """What sets no timer anew does not excuse it either."""
    assert judged(device(), "a?0 quiet1.15") == "fail: missing"
    assert judged(device(), "a?0 y!1.15") == "fail: late"
    assert judged(device(), "a?0 y!0.65") == "pass"


class Ticker(Device):
    """Emits `x` every 0.1 s while it is on, and `y` some time after it was switched on."""

    def __init__(self, ends: float) -> None:
        super().__init__()
        self.ends = ends

    def take(self, inp: object, at: float) -> None:
        if inp == "a" and not self.due:
            self.say("x", at + 0.1)
            self.say("y", at + self.ends)

    def said(self, output: object, at: float) -> None:
        if output == "x":
            self.say("x", at + 0.1)
        else:
            self.due = []


@pytest.mark.parametrize("mode", PACINGS)
@pytest.mark.parametrize("spec", [FREE, CYCLIC])
def test_so_it_is_live(spec: Spec[str, str], mode: str) -> None:
    """A device that ticks every 0.1 s and ends its session after 0.5 s is driven to the end of the path."""
    verdict, events = played(session(spec, ["a"] * 4, PACINGS[mode](TIMING)), Ticker(0.5))
    assert (verdict.outcome, len(inputs(events))) == ("pass", 4)


@pytest.mark.parametrize("mode", PACINGS)
def test_a_session_that_ends_too_early_fails_live(mode: str) -> None:
    """After 0.25 s, by any reading."""
    verdict, _ = played(session(CYCLIC, ["a"] * 4, PACINGS[mode](TIMING)), Ticker(0.25))
    assert verdict.failure is not None
    assert verdict.failure.kind == "early"


def test_a_window_without_an_end_ends_where_another_timer_must_go_off() -> None:
    """It may go off at any time before that, and what it brings is seen by then: no time is not a number."""

    def emits(state: str) -> Iterable[Transition[str]]:
        return [goto("on", "x", within=(0.1, EVER)), goto("on", "y", "x", after="t")] if state == "on" else []

    def step(_state: str, _inp: str) -> Iterable[Transition[str]]:
        return [goto("on", timers=[start("t", 1.0, 2.0)])]

    # it is not known how long it was on before the run
    judge = Spec(step, "on", ["a"], emits)
    for script in ("a?0 y!2.3 x!2.35", "a?0 x!0.2 y!2.2 x!2.3", "a?0 x!0.2 x!2.2 y!2.3 x!2.35 x!2.9"):
        assert judged(judge, script) == "pass"
    due = told(judge, "a?0 x!0.2 y!2.2").due()
    assert due is None or due > 2.2
    assert judged(judge, "a?0 x!0.2 quiet2.9") == "fail: missing"


def test_a_timer_without_an_end_does_not_go_off_a_thousand_times_unseen() -> None:
    """A tick comes at least 0.1 s after the last, and arrives within 1 ms: so one may be in flight, and no more."""
    spec: Spec[str, str] = Spec(
        lambda state, _inp: [goto(state, "answer", within=(0, 0.001))],
        "on",
        ["ask"],
        lambda state: [goto(state, "tick", within=(0.1, EVER))],
    )
    routes = Routes(("P", "Q"), lambda value: "P" if value == "tick" else "Q")
    oracle = Oracle(Model(spec, routes), limits=Limits(hypotheses=300), timing=Timing(0.04, 0.001, 0.004))
    monitor = Monitor(oracle)
    for event in (Quiet(0.04), Sent("ask", "Q", 0.12), Seen("answer", "Q", 0.2)):
        monitor.tell(event)
    assert monitor.verdict is not None
    assert monitor.verdict.failed, monitor.verdict.why
