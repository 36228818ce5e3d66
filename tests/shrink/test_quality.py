"""The tables of `python -m benchmarks.shrink` in small: how short, for how many transitions of the system."""

from __future__ import annotations

from functools import cache
from statistics import mean

import pytest

from benchmarks.shrink import Row, rows
from benchmarks.shrink_classical import ALGORITHMS
from benchmarks.shrink_simulated import Simulated, drive, unpaused
from benchmarks.shrink_subjects import SYSTEMS, Remembered, Subject
from otf.shrink import AllowedInputs, Setting, again

BOUNDS = {
    "vending": (1.03, 150, [*range(10)]),
    "vending_counters": (1.05, 600, [10, 11]),
    "cycles": (1.1, 350, [0, 1]),
    "queue": (1.02, 600, [0, 5, 9]),  # those whose optimum is found soon
    "refusing": (1.03, 400, [0, 3, 5, 7]),
    "conference": (1.03, 250, [3, 9, 10, 25]),
}
SEEDS = 1


@cache
def _rows(system: str, algorithm: str) -> list[Row]:
    subjects = [SYSTEMS[system][at] for at in BOUNDS[system][2]]
    return [row for subject in subjects for seed in range(SEEDS) for row in rows(subject, seed, [algorithm])]


@pytest.mark.parametrize("system", BOUNDS)
def test_the_best_algorithm_is_near_the_optimum_for_little(system: str) -> None:
    """The default comes near the shortest run that there is, within the transitions that it may take on average."""
    found = _rows(system, "model")
    over, transitions, _ = BOUNDS[system]
    assert mean(row.length for row in found) <= over * mean(row.optimum for row in found)
    assert all(row.length >= row.optimum for row in found)
    assert mean(row.transitions for row in found) <= transitions
    assert min(1.0 if row.rate is None else row.rate for row in found) >= 0.99


def test_a_way_that_the_run_did_not_take() -> None:
    """A member's leaving does what leaving and joining again did in the run: one input less."""
    (row,) = rows(SYSTEMS["conference"][26], 1, ["model"])
    assert (row.fault, row.length, row.optimum) == ("U8", 5, 5)


def test_a_way_that_opens_when_two_names_are_made_one() -> None:
    """The run was in two conferences; one is enough to see that the user need not leave it."""
    (row,) = rows(SYSTEMS["conference"][26], 6, ["model"])
    assert (row.fault, row.length, row.optimum) == ("U8", 5, 5)


def test_elements_cost_a_hundred_times_as_much() -> None:
    """The tables show differences: element elimination alone takes a hundred times the transitions of the default."""
    own, elements = (mean(row.transitions for row in _rows("vending", name)) for name in ("model", "elements"))
    assert elements > 100 * own


@pytest.mark.parametrize("algorithm", ["elements", "ddmin"])
@pytest.mark.parametrize("subject", [SYSTEMS["vending"][9], SYSTEMS["queue"][5], SYSTEMS["cycles"][0]])
def test_what_is_remembered_is_what_is_computed(subject: Subject, algorithm: str) -> None:
    """The benchmark's short cut changes neither the result of the search nor its counts."""
    issue, quick = subject.issue(1), subject.simulated(1)
    assert isinstance(quick, Remembered)
    slow = Simulated(quick.oracle, quick.make)
    results = [
        drive(unpaused(issue, Setting(each.oracle), ALGORITHMS[algorithm]), each.shows) for each in (quick, slow)
    ]
    assert results[0] == results[1]
    assert quick.lengths == slow.lengths


def test_a_run_that_is_planned_shows_the_failure_whatever_is_refused() -> None:
    """Of a system that refuses three coins of ten, a plan fails in every run, and mere inputs in few."""
    subject = SYSTEMS["refusing"][3]
    issue, system = subject.issue(0), subject.simulated(0)
    found = drive(unpaused(issue, Setting(system.oracle)), system.shows)
    plan, script = again(found, system.oracle), AllowedInputs(found.inputs)
    planned, scripted = ([system.shows(each) is not None for _ in range(50)] for each in (plan, script))
    assert all(planned)
    assert sum(scripted) < 45
