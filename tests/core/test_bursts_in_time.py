"""Bursts on two input ports of a system that is slow in some states: what is sent may make slow what is in flight."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import pytest

from otf.core.burst import Burst
from otf.simulate import System, TimeBounds, World, conduct
from otf.spec import Spec, Transition, goto
from otf.trace.events import Event, Sent
from otf.trace.verdict import Verdict
from tests.core.scripts import PORTS
from tests.core.timed import TIMING, inputs, session

SLOWLY = (0.5, 1.5)
Device = Spec[str, str]
Step = Callable[[str, str], Iterable[Transition[str]]]


def made_slow(state: str, inp: str) -> Iterable[Transition[str]]:
    """Return a device whose answer x to a takes its time once a b came."""
    if inp == "b":
        return [goto("slow", "y")]
    return [goto(state, "x", within=SLOWLY)] if state == "slow" else [goto(state, "x")]


def slow_once(state: str, inp: str) -> Iterable[Transition[str]]:
    """Return a device that is slow for one a only after a b came."""
    if inp == "b":
        return [goto("slow", "y")]
    return [goto("fast", "x", within=SLOWLY)] if state == "slow" else [goto(state, "x")]


def slows_itself(state: str, inp: str) -> Iterable[Transition[str]]:
    """Return a device whose answer y to b takes its time once an a came."""
    if inp == "a":
        return [goto("slow", "x")]
    return [goto(state, "y", within=SLOWLY)] if state == "slow" else [goto(state, "y")]


def toggled(state: str, inp: str) -> Iterable[Transition[str]]:
    """Return a device that is fast and slow in turn, by each b and without an answer to it."""
    if inp == "b":
        return [goto("slow" if state == "fast" else "fast")]
    return [goto(state, "x", within=SLOWLY)] if state == "slow" else [goto(state, "x")]


def run(
    spec: Spec[Any, str], script: str, size: int, number: int, system: Spec[Any, str]
) -> tuple[Verdict, list[Event]]:
    """Return the verdict on a system that takes inputs on different ports in any order, at the ends of its bounds."""
    random, record = Random(number), list[Event]()
    world = World(
        System(system, PORTS.__getitem__, random),
        TimeBounds(0.1, 0.2, chance="extreme"),
        random,
        choosy=bool(number % 2),
    )
    burst = session(spec, script, Burst(TIMING, size))
    return conduct(burst, world, PORTS.__getitem__, record.append), record


def alarms(step: Step, script: str, size: int) -> list[list[Event]]:
    """Return the runs of conforming systems that fail."""
    spec: Device = Spec(step, "fast", ["a", "b"])
    runs = (run(spec, script, size, number, spec) for number in range(60))
    return [events for verdict, events in runs if verdict.failed]


@pytest.mark.parametrize(
    ("step", "size"),
    [
        (made_slow, 3),
        (made_slow, 4),
        (slow_once, 4),
        (toggled, 4),
        (made_slow, 2),
        (slows_itself, 4),
    ],
)
def test_a_slow_system_in_a_burst_is_never_failed(step: Step, size: int) -> None:
    """Two inputs a in flight, then a b that may overtake them: each of them may then take its time."""
    for script in ("aab", "aabaab", "abab", "aaab"):
        assert alarms(step, script, size) == []


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("within", [(4, 5), (40, 50)])
def test_answers_that_are_too_late_fail_all_the_same(within: tuple[float, float], size: int) -> None:
    """The second b is slow already, so that the window of what follows is 1.5 s, and the answer takes more than 4."""

    def late(state: str, inp: str) -> Iterable[Transition[str]]:
        return [
            goto(each.state, *each.outputs, within=within if each.within else None) for each in made_slow(state, inp)
        ]

    spec: Device = Spec(made_slow, "fast", ["a", "b"])
    for number in range(10):
        verdict, events = run(spec, "baaaab", size, number, Spec(late, "fast", ["a", "b"]))
        assert verdict.failed, events


def test_there_are_bursts_where_nothing_is_slow() -> None:
    """A tester that never sends a second input would keep every rule."""
    quick: Device = Spec(lambda state, inp: [goto(state, "x" if inp == "a" else "y")], "s", ["a", "b"])
    _, events = run(quick, "aab", 4, 1, quick)
    assert inputs(events[:3]) == ["a", "a", "b"]


def test_a_heartbeat_that_counts_keeps_no_burst_from_being_sent() -> None:
    """Its states have no end; how slow the next answer may be is asked of the few that may come before the input."""
    ticking = Spec[int, str](lambda beats, _inp: [goto(beats, "x")], 0, ["a"], lambda beats: [goto(beats + 1, "z")])
    verdict, events = run(ticking, "aaa", 3, 1, ticking)
    assert verdict.outcome == "pass"
    assert [event.input for event in events if isinstance(event, Sent)] == ["a", "a", "a"]
