"""Timers that run from the beginning: of a device that ticks from power-on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from otf.channels import lossy
from otf.compose import guide, product, scenario
from otf.core import Model, Monitor, Oracle, Timing
from otf.errors import ModelError
from otf.explore.expiring import expiring
from otf.mutation import bench_of, mutate
from otf.simulate import Mutation, faulty
from otf.spec import Spec, TimerStart, Transition, goto, restrict, start, stop, total
from otf.spec import at_speed as faster
from otf.trace.events import Seen, Sent
from tests.core.timed import PACINGS, driven, judged

TICK = start("tick", 0.9, 1.1)


def device(*timers: TimerStart, name: str = "tick") -> Spec[int, str]:
    """Return a device that ticks (x) each second, from power-on if the timer is given; on a it says w."""

    def step(state: int, inp: str) -> Iterator[Transition[int]]:
        if inp == "a":
            yield goto(state, "w")

    def emits(state: int) -> Iterator[Transition[int]]:
        yield goto(state, "x", after=name, timers=[start(name, 0.9, 1.1)])

    return Spec(step, 0, ["a"], emits, timers=timers)


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("quiet0.9 x!1.1 x!2.1 x!3.1", "pass"),
        # it may have been on before its port was opened
        ("x!0.1 x!1.1", "pass"),
        ("x!0.1 x!0.5", "fail: early"),
        ("quiet1.3", "fail: missing"),
        ("x!1.5", "fail: late"),
        ("a?0 w!0.1 x!1.1 x!2.5", "fail: late"),
    ],
)
def test_a_timer_of_the_spec_runs_from_the_beginning(script: str, verdict: str) -> None:
    """The first tick comes by the end of its window, and from then on each is judged by the one before."""
    assert judged(device(TICK), script) == verdict


def test_without_it_no_tick_is_allowed() -> None:
    """A device whose model starts no timer may not tick."""
    assert judged(device(), "x!1.0") == "fail: unasked"


def test_the_moments_are_those_of_the_system_at_another_speed() -> None:
    """A clock that runs ten times as fast makes the first tick due in a tenth of the time."""
    assert faster(device(TICK), 10).timers == (start("tick", 0.09, 0.11000000000000001),)
    assert judged(faster(device(TICK), 10), "quiet0.9") == "fail: missing"


Made = Callable[[Spec[Any, Any]], Spec[Any, Any]]
MADE: list[Made] = [
    total,
    lambda spec: restrict(spec, lambda _state, _inp: True),
    lambda spec: guide(spec, scenario("a*")),
    lambda spec: product(spec, device(start("other", 0.9, 1.1), name="other"), actions=[["a"], ["b"]]),
    lambda spec: lossy(spec, inputs=["A"], port=lambda _: "A"),
    lambda spec: faulty(spec, Mutation("surplus", 7, "a", "y")),
]


@pytest.mark.parametrize(
    "made",
    MADE,
    ids=["completed", "restricted", "guided", "composed", "behind a net", "faulty"],
)
def test_what_is_made_of_a_spec_keeps_its_timers(made: Made) -> None:
    """A completed, restricted, guided, composed or faulty spec, and one behind a net: the first tick stays due."""
    assert TICK in made(device(TICK)).timers
    assert judged(made(device(TICK)), "quiet1.3") == "fail: missing"


def test_models_of_a_product_have_timers_of_their_own() -> None:
    """Two models that begin with a timer of the same name are an error that names both."""
    with pytest.raises(ModelError, match="two models of a product have a timer 'tick'"):
        product(device(TICK), device(TICK), actions=[["a"], ["b"]])


@pytest.mark.parametrize("mode", PACINGS)
@pytest.mark.parametrize("number", range(10))
def test_a_conforming_system_passes(mode: str, number: int) -> None:
    """In each mode, whatever time was drawn for the first tick."""
    verdict, events = driven(device(TICK), "aaaaa", mode, number=number)
    assert verdict.outcome == "pass"
    assert events


@pytest.mark.parametrize("number", range(10))
def test_a_device_that_never_ticks_is_found(number: int) -> None:
    """A model of a device whose clock does not run at power-on fails against one whose clock must."""
    verdict, _ = driven(device(TICK), "aaaaaaaaaa", system=device(), number=number)
    assert verdict.failure is not None
    assert verdict.failure.kind in {"missing", "late"}


def test_the_analysis_knows_them() -> None:
    """A timer that runs from the beginning is started: its expiry is not a unknown timer."""
    assert all(expiring(device(TICK)))
    assert not all(expiring(device()))


def test_a_mutant_of_the_model_begins_with_them() -> None:
    """The model, served as its own system, ticks from the beginning, and passes."""
    report = mutate(bench_of(device(TICK)), most=1)
    assert report.results


@pytest.mark.parametrize(
    ("timers", "says"), [([stop("tick")], r"TimerStop.* starts none: write start\("), ([TICK, TICK], "tick, tick: one")]
)
def test_what_starts_no_timer_is_refused(timers: list[Any], says: str) -> None:
    """Only starts, and each name once."""
    with pytest.raises(ModelError, match=says):
        Spec(lambda state, _inp: [goto(state)], 0, ["a"], timers=timers)


@pytest.mark.parametrize(("seen", "judged"), [("up 5", "pass"), ("up 9", "fail")])
@pytest.mark.parametrize("named", [False, True])
def test_a_silent_clock_may_run_from_the_beginning(named: bool, seen: str, judged: str) -> None:
    """It was started at some time that leaves it running: it has not counted a thousand seconds before the run."""
    second = start("second", 0.9, 1.1)

    def count(seconds: int) -> Iterator[Transition[int]]:
        yield goto(seconds + 1, after="second", timers=[second]) if named else goto(seconds + 1, within=(0.9, 1.1))

    clock: Spec[int, str] = Spec(
        lambda seconds, _inp: [goto(seconds, f"up {seconds}")], 0, ["ask"], count, timers=[second] if named else []
    )
    monitor = Monitor(Oracle(Model(clock), timing=Timing(0.04, 0.001, 0.004)))
    for event in (Sent("ask", "sut", 5.5), Seen(seen, "sut", 5.501)):
        monitor.tell(event)
    assert monitor.end().outcome == judged
