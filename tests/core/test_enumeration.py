"""The oracle's verdict is that of an enumeration of all explanations, on random specs and random runs.

`OTF_CASES` is the number of cases on demand (`-m slow`, 100,000 by default).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

import pytest

from otf.core import Limits, Model, Monitor, Oracle
from otf.core.nodes import UNKNOWN
from otf.trace.events import Event
from otf.trace.verdict import Verdict
from tests.core.enumeration import explained
from tests.core.random_specs import Machine, Shape, mutated, random_events, random_machine

CHUNK = 500
CASES = int(os.environ.get("OTF_CASES", "100000"))
PATIENT = Limits(spontaneous=4)  # as many as hardly any case needs
IMPATIENT = Limits(spontaneous=1)
RICH = Shape(rich=0.5)
RESTLESS = Shape(emits=1, unspecified=0.05)


def cases(seed: int, shape: Shape) -> Iterator[tuple[int, Machine, list[Event]]]:
    """Yield machines and runs, by numbers that name them; half of the runs were tampered with."""
    for number in range(seed * CHUNK, (seed + 1) * CHUNK):
        random = Random(number)
        machine = random_machine(random, shape)
        events = random_events(random, machine, random.randint(3, 9))
        yield number, machine, mutated(random, machine, events) if random.random() < 0.5 else events


def judged(machine: Machine, events: list[Event], limits: Limits) -> tuple[Monitor, Verdict]:
    """Return a monitor that was told the events, and its verdict."""
    monitor = Monitor(Oracle(Model(machine.spec(), machine.routes()), limits=limits))
    for event in events:
        if monitor.tell(event) is not None:
            break
    return monitor, monitor.end()


def agree(seed: int) -> int:
    """Compare verdicts, and the events at which runs fail: before it there is an explanation, with it there is none.

    Return in how many cases more is possible than is followed.
    """
    open_cases = 0
    for number, machine, events in cases(seed, Shape()):
        monitor, verdict = judged(machine, events, PATIENT)
        if verdict.outcome == "inconclusive":
            open_cases += 1
            continue
        assert verdict.failed != explained(machine, events), number
        if verdict.failed:
            assert explained(machine, events[: monitor.events - 1]), number
            assert not explained(machine, events[: monitor.events]), number
    return open_cases


@pytest.mark.parametrize("seed", range(4))
def test_the_verdict_is_that_of_the_enumeration(seed: int) -> None:
    """A run passes exactly when there is an explanation, and fails at the event that leaves none; 2,000 cases."""
    assert agree(seed) == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 4 + CASES // CHUNK))
def test_the_verdict_is_that_of_the_enumeration_on_demand(seed: int) -> None:
    """The same for as many cases as are asked for; next to none of them remain open."""
    assert agree(seed) <= 1


def agree_on_rich_specs(seed: int) -> int:
    """Compare verdicts; where an `Accept` is open at the end of a run, other ports are not judged yet.

    Return in how many cases more is possible than is followed.
    """
    open_cases = 0
    for number, machine, events in cases(seed, RICH):
        monitor, verdict = judged(machine, events, PATIENT)
        if verdict.outcome == "inconclusive":
            open_cases += 1
            continue
        pending = not verdict.failed and any(each.position is UNKNOWN for each in monitor.belief.hypotheses)
        assert pending or verdict.failed != explained(machine, events), number
    return open_cases


def test_so_it_is_with_outputs_in_any_order_predicates_and_accept() -> None:
    """All items of a transition have the meaning that is documented; 500 cases."""
    assert agree_on_rich_specs(0) == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 1 + CASES // CHUNK // 10))
def test_so_it_is_with_rich_specs_on_demand(seed: int) -> None:
    """The same for a tenth of as many cases as are asked for; next to none of them remain open."""
    assert agree_on_rich_specs(seed) <= 2


@pytest.mark.parametrize("seed", range(2))
def test_a_low_cap_on_unasked_outputs_costs_certainty_only(seed: int) -> None:
    """If fewer spontaneous outputs are followed than come, the verdict may be inconclusive; it is never wrong."""
    for number, machine, events in cases(seed, RESTLESS):
        _, verdict = judged(machine, events, IMPATIENT)
        assert verdict.outcome in {"inconclusive", "pass" if explained(machine, events) else "fail"}, number


def test_a_low_cap_seldom_costs_certainty() -> None:
    """With spontaneous outputs nearly all of 500 runs are judged, although only one unseen output is followed."""
    verdicts = [judged(machine, events, IMPATIENT)[1] for _, machine, events in cases(0, RESTLESS)]
    assert sum(verdict.outcome == "inconclusive" for verdict in verdicts) <= 5


def test_the_cases_are_of_all_kinds() -> None:
    """Among 500 runs many pass, many fail, and many end at an unspecified input."""
    verdicts = [judged(machine, events, PATIENT)[1] for _, machine, events in cases(0, Shape())]
    kinds = {(verdict.outcome, verdict.truncated) for verdict in verdicts}
    counts = {kind: sum((each.outcome, each.truncated) == kind for each in verdicts) for kind in kinds}
    assert min(counts[kind] for kind in (("pass", False), ("pass", True), ("fail", False))) >= 50
