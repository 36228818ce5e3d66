"""Named timers in simulated worlds: they run on whatever happens, and the core judges them rightly."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from otf.core import Timing
from otf.simulate import Mutation, faulty
from otf.spec import Spec, Transition, goto, start, stop
from otf.trace.events import Event, Seen
from tests.core.timed import PACINGS, driven

TICK = start("tick", 1.8, 2.2)


def device(*, stops: bool) -> Spec[str, str]:
    """Return a device that ticks (x) every 2 s and ends its session (y) after 9 to 12 s, or when it gets b.

    The session is set anew by c, and the device is busy for 3 s with d.
    """

    def step(state: str, inp: str) -> Iterator[Transition[str]]:
        match state, inp:
            case "off", "a":
                yield goto("on", "z", timers=[TICK, start("session", 9, 12)])
            case "on", "c":
                yield goto("on", timers=[start("session", 9, 12)])
            case "on", "d":
                yield goto("on", "w", within=(3, 4))
            case "on", "b":
                yield goto("off", "w", timers=[stop("tick"), stop("session")] if stops else [])
            case _:
                yield goto(state)

    def emits(state: str) -> Iterator[Transition[str]]:
        if state == "on":
            yield goto("on", "x", after="tick", timers=[TICK])
            yield goto("off", "y", after="session", timers=[stop("tick")] if stops else [])

    return Spec(step, "off", ["a", "b", "c"], emits)


def times(events: list[Event], output: str) -> list[float]:
    """Return when an output came."""
    return [each.at for each in events if isinstance(each, Seen) and each.output == output]


@pytest.mark.parametrize("mode", PACINGS)
@pytest.mark.parametrize("stops", [True, False])
@pytest.mark.parametrize("number", range(10))
def test_a_system_with_named_timers_conforms_to_its_own_spec(mode: str, number: int, *, stops: bool) -> None:
    """In every mode, whether its timers are stopped in time or expire without effect."""
    verdict, events = driven(device(stops=stops), "aadcabcaadab", mode, number=number)
    assert verdict.outcome == "pass"
    assert times(events, "x")


@pytest.mark.parametrize("number", range(5))
def test_a_timer_that_means_nothing_in_a_state_expires_without_effect(number: int) -> None:
    """The system goes aside while its timer runs, and comes back when it does not run any more: x never comes."""

    def step(_state: str, inp: str) -> list[Transition[str]]:
        then = {"a": "aside", "b": "on"}[inp]
        return [goto(then, "z", timers=[start("t", 0.5, 0.6)] if inp == "a" else [])]

    spec = Spec(step, "on", ["a", "b"], lambda state: [goto(state, "x", after="t")] if state == "on" else [])
    verdict, events = driven(spec, "aab", number=number, timing=Timing(1.5, 0.1, 0.2))
    assert verdict.outcome == "pass"
    assert times(events, "z")
    assert not times(events, "x")


@pytest.mark.parametrize(
    ("fault", "kinds"),
    [
        (Mutation("late", "off", "a", 4.0), {"missing", "late"}),
        (Mutation("early", "off", "a", -1.5), {"early"}),
    ],
)
@pytest.mark.parametrize("number", range(10))
def test_a_timer_that_runs_for_another_time_is_found(fault: Mutation, kinds: set[str], number: int) -> None:
    """Where it is waited for: too long or too short."""
    spec = device(stops=True)
    verdict, _ = driven(spec, "ac", "strict", system=faulty(spec, fault), number=number)
    assert verdict.failure is not None
    assert verdict.failure.kind in kinds


def test_a_stop_that_is_late_stops_all_the_same() -> None:
    """What moves is when timers expire."""
    (way,) = faulty(device(stops=True), Mutation("late", "on", "b", 4.0)).step("on", "b")
    assert isinstance(way, Transition)
    assert way.timers == (stop("tick"), stop("session"))
