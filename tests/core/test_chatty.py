"""Devices that count: the oracle against the enumeration, which knows all explanations of finite counters.

`OTF_CASES` is the number of cases on demand (`-m slow`, 100,000 by default; a fiftieth of them is run).
"""

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from random import Random

import pytest

from otf.core import Limits, Model, Monitor, Oracle
from otf.spec import Spec, Transition, goto
from otf.trace.events import Event, Quiet, Seen, Sent
from tests.core.chatty_specs import ANSWERS, chatty_machine
from tests.core.enumeration import unexplained
from tests.core.random_specs import Machine, random_events

CHUNK = 50
CASES = int(os.environ.get("OTF_CASES", "100000"))


@cache
def cases(seed: int) -> list[tuple[Machine, list[Event], int]]:
    """Return machines, runs up to quiescence, and the event of each that nothing explains in the enumeration.

    In half of the runs one answer is another one, or came once more.
    """
    found: list[tuple[Machine, list[Event], int]] = []
    for number in range(seed * CHUNK, (seed + 1) * CHUNK):
        random = Random(f"chatty {number}")
        machine = chatty_machine(random)
        events = random_events(random, machine, random.randint(3, 9))
        told = [*(_tampered(random, events) if random.random() < 0.5 else events), Quiet(0)]
        found.append((machine, told, unexplained(machine, told)))
    return found


def _tampered(random: Random, events: list[Event]) -> list[Event]:
    answers = [at for at, event in enumerate(events) if isinstance(event, Seen) and event.output in ANSWERS]
    if not answers:
        return events
    at, wrong = random.choice(answers), random.choice(list(ANSWERS))
    surplus = random.random() < 0.5
    return [*events[: at + surplus], Seen(wrong, ANSWERS[wrong], 0), *events[at + 1 :]]


def compared(seed: int, limits: Limits) -> Counter[str]:
    """Return how often the oracle and the enumeration agree, and how they do not."""
    found = Counter[str]()
    for machine, told, wanted in cases(seed):
        monitor = Monitor(Oracle(Model(machine.spec(), machine.routes()), limits=limits))
        at = next((number for number, event in enumerate(told, 1) if monitor.tell(event)), 0)
        outcome = monitor.end().outcome
        if outcome == "inconclusive":
            found["open"] += 1
        elif at != wanted:
            found["false alarm" if at and (not wanted or at < wanted) else "late" if at else "missed"] += 1
        else:
            found[outcome] += 1
    return found


@pytest.mark.parametrize("spontaneous", [0, 1, 3])
def test_the_verdict_is_that_of_the_enumeration(spontaneous: int) -> None:
    """However few heartbeats are followed at first, each failure is found at the same event, and no other is."""
    found = compared(spontaneous, Limits(spontaneous=spontaneous))
    assert set(found) == {"pass", "fail"}
    assert min(found.values()) > CHUNK / 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 10 + CASES // CHUNK // 50))
def test_the_verdict_is_that_of_the_enumeration_on_demand(seed: int) -> None:
    """The same for a fiftieth of as many cases as are asked for."""
    assert set(compared(seed, Limits(spontaneous=seed % 4))) <= {"pass", "fail"}


@pytest.mark.parametrize("spontaneous", [0, 1, 3])
def test_an_output_that_is_itself_spontaneous_was_under_way(spontaneous: int) -> None:
    """The first y is not an answer, as the second one shows long afterwards; also if none is followed at first."""

    def step(state: str, _: str) -> list[Transition[str]]:
        return [goto("off")] if state == "on" else [goto("on", "y")]

    spec = Spec(step, "on", ["b"], emits=lambda state: [] if state == "on" else [goto("on", "y")])
    monitor = Monitor(Oracle(Model(spec), limits=Limits(spontaneous=spontaneous)))
    events: list[Event] = [Sent("b", "", 1), Sent("b", "", 1), Seen("y", "sut", 1.001), Seen("y", "sut", 2), Quiet(3)]
    assert [monitor.tell(each) for each in events] == [None] * 5


def test_a_failure_after_hours_of_heartbeats_names_the_last_of_them() -> None:
    """However long nothing is sent and no pause comes: the memory of a run is bounded, and so is its failure."""
    spec = Spec(lambda state, _: [goto(state, "y")], 0, ["a"], emits=lambda state: [goto(state, "tick")])
    monitor = Monitor(Oracle(Model(spec)))
    for at in range(3_500):
        assert monitor.tell(Seen("tick", "sut", at)) is None
    verdict = monitor.tell(Seen("wrong", "sut", 3_500))
    assert verdict is not None
    assert verdict.failure is not None
    assert 0 < len(verdict.failure.before) <= 1_000
