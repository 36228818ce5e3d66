"""Shrinking keeps what matters: a counter that the model lacks, cycles that are essential, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.shrink_classical import ALGORITHMS
from benchmarks.shrink_simulated import drive, unpaused
from otf.shrink import AllowedInputs, Candidate, issue_of
from otf.trace.events import Event, Quiet, Seen, Sent
from tests.shrink.simulated import lamp, values

RUNS = st.lists(st.sampled_from(["press", "look", "wait"]), max_size=40)


@pytest.mark.parametrize("algorithm", ["cycles+elements", "ddmin", "model"])
def test_essential_cycles_stay(algorithm: str) -> None:
    """A cycle that the failure needs is kept: the result fails, and nothing can be left out of it."""
    run = ["look"] + ["press", "wait"] * 9 + ["look"]
    assert lamp(7).shrink(algorithm, run) == ["press"] * 7 + ["look"]


@given(RUNS, st.integers(1, 6))
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_comes_out_fails_and_is_no_longer(algorithm: str, run: list[str], presses: int) -> None:
    """Whatever fails is shrunk to something that fails too in the same way, and is no longer."""
    tried = lamp(presses)
    issue = tried.issue(run)
    if issue is None:
        return
    shrunk = tried.shrink(algorithm, run)
    again = tried.failing(shrunk)
    assert len(again) == len(shrunk) <= len(issue)
    assert again.signature == issue.signature


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_candidate_is_tried_twice(algorithm: str) -> None:
    """Different cuts that leave the same inputs are one candidate."""
    tried = lamp(1)
    search = unpaused(tried.failing(["wait"] * 5 + ["press", "look"]), tried.setting, ALGORITHMS[algorithm])
    candidates: list[Candidate] = []

    def note(candidate: Candidate) -> None:
        candidates.append(candidate)

    drive(search, note)
    assert len(candidates) == len(set(candidates))
    assert len(candidates) < (20 if algorithm != "halving" else 601)


def test_the_issue_of_a_run_is_all_of_it_up_to_the_failure() -> None:
    """Inputs after the failure do not count; where the events alone show no failure all inputs do."""
    oracle = lamp(1).setting.oracle
    dark: list[Event] = [Sent("press", "in", 0), Quiet(0), Sent("look", "in", 0), Seen("off", "sut", 0)]
    issue = issue_of(oracle, [*dark, Quiet(0), Sent("wait", "in", 0)])
    assert values(issue.inputs) == ["press", "look"]
    assert issue.signature is not None
    open_end = issue_of(oracle, dark[:3])
    assert (values(open_end.inputs), open_end.signature) == (["press", "look"], None)


def test_equal_inputs_are_equal_candidates() -> None:
    """Candidates with equal inputs are equal."""
    symbols = lamp(1).failing(["press", "look"]).inputs
    assert AllowedInputs(symbols) == AllowedInputs(tuple(symbols))
