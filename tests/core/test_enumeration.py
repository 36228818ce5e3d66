"""The oracle's verdict is that of an enumeration of all explanations, on random specs and random runs.

`OTF_CASES` is the number of cases on demand (`-m slow`, 100,000 by default).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import NamedTuple

import pytest

from otf.core import Limits, Model, Monitor, Oracle
from otf.core.nodes import UNKNOWN
from otf.trace.events import Event
from otf.trace.verdict import Verdict
from tests.core.enumeration import explained, unexplained
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


class Judged(NamedTuple):
    """A run, the verdict on it, and how many of its events the verdict is on."""

    number: int
    machine: Machine
    events: list[Event]
    verdict: Verdict
    at: int
    pending: bool  # whether an `Accept` is open


@cache
def judged(seed: int, shape: Shape, limits: Limits) -> list[Judged]:
    """Return runs, each judged once."""
    return [_judged(*case, limits) for case in cases(seed, shape)]


def _judged(number: int, machine: Machine, events: list[Event], limits: Limits) -> Judged:
    monitor = Monitor(Oracle(Model(machine.spec(), machine.routes()), limits=limits))
    for event in events:
        if monitor.tell(event) is not None:
            break
    pending = any(each.position is UNKNOWN for each in monitor.belief.hypotheses)
    return Judged(number, machine, events, monitor.end(), monitor.events, pending)


def agree(seed: int) -> int:
    """Compare verdicts, and the events at which runs fail: before it there is an explanation, with it there is none.

    Return in how many cases more is possible than is followed.
    """
    open_cases = 0
    for number, machine, events, verdict, at, _ in judged(seed, Shape(), PATIENT):
        if verdict.outcome == "inconclusive":
            open_cases += 1
            continue
        assert unexplained(machine, events) == (at if verdict.failed else 0), number
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
    for number, machine, events, verdict, _, pending in judged(seed, RICH, PATIENT):
        if verdict.outcome == "inconclusive":
            open_cases += 1
            continue
        assert (pending and not verdict.failed) or verdict.failed != explained(machine, events), number
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
    for number, machine, events, verdict, *_ in judged(seed, RESTLESS, IMPATIENT):
        assert verdict.outcome in {"inconclusive", "pass" if explained(machine, events) else "fail"}, number


def test_a_low_cap_seldom_costs_certainty() -> None:
    """With spontaneous outputs nearly all of 500 runs are judged, although only one unseen output is followed."""
    verdicts = [each.verdict for each in judged(0, RESTLESS, IMPATIENT)]
    assert sum(verdict.outcome == "inconclusive" for verdict in verdicts) <= 5


def test_the_cases_are_of_all_kinds() -> None:
    """Among 500 runs many pass, many fail, and many end at an unspecified input."""
    verdicts = [each.verdict for each in judged(0, Shape(), PATIENT)]
    kinds = {(verdict.outcome, verdict.truncated) for verdict in verdicts}
    counts = {kind: sum((each.outcome, each.truncated) == kind for each in verdicts) for kind in kinds}
    assert min(counts[kind] for kind in (("pass", False), ("pass", True), ("fail", False))) >= 50
