"""Several candidates at a time lead to the same result as one after another."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.shrink_classical import ALGORITHMS
from benchmarks.shrink_simulated import Unpaused, unpaused
from otf.shrink import Ahead, AllowedInputs, Issue, repeats
from tests.shrink.simulated import Bench, lamp, values

RUNS = st.lists(st.sampled_from(["press", "look", "wait"]), max_size=25)


def _several(tried: Bench, issue: Issue, algorithm: str, most: int) -> Issue:
    """Shrink with so many candidates at a time; return the best that was seen."""
    best, ahead = issue, Ahead(lambda: unpaused(issue, tried.setting, ALGORITHMS[algorithm]))
    while not ahead.done:
        for candidate in ahead.candidates(most):
            answer = tried.system.shows(candidate)
            ahead.tell(answer)
            if answer is not None:
                best = answer if len(answer) <= len(best) else best
                break
    return best


@given(RUNS, st.integers(1, 5), st.integers(2, 5))
@pytest.mark.parametrize("algorithm", ["model", "elements", "ddmin"])
def test_the_result_is_the_same(algorithm: str, run: list[str], presses: int, most: int) -> None:
    """The search finds the same with any number of candidates at a time."""
    tried = lamp(presses)
    issue = tried.issue(run)
    if issue is None:
        return
    one, several = (_several(lamp(presses), issue, algorithm, each) for each in (1, most))
    assert values(one.inputs) == values(several.inputs)


def test_bets_are_candidates_that_follow_if_those_before_pass() -> None:
    """Candidates come in the order of the search; a lost bet withdraws those after it."""
    issue = lamp(2).failing(["press", "wait", "press", "press", "look"])
    a, b, c = (AllowedInputs(issue.inputs[at:]) for at in range(3))

    def search() -> Unpaused:
        first = yield a
        yield c if first else b
        return issue

    ahead = Ahead(search)
    assert ahead.candidates(5) == [a, b]
    ahead.tell(issue)
    assert not ahead.done
    assert ahead.candidates(5) == [c]
    ahead.tell(None)
    assert ahead.done


def test_a_search_without_candidates_is_done_at_once() -> None:
    """A search without candidates is done at once."""

    def nothing() -> Unpaused:
        yield from ()
        return Issue(())

    ahead = Ahead(nothing)
    assert not ahead.candidates(1)
    assert ahead.done
    assert Ahead(nothing).candidates(3) == []


def test_a_bet_that_was_lost_at_the_end() -> None:
    """A search that waits for one last candidate goes on if that one fails."""
    issue = lamp(1).failing(["press", "wait", "look"])
    asked: Iterator[AllowedInputs] = iter([AllowedInputs(issue.inputs[:2]), AllowedInputs(issue.inputs[:1])])
    first, second = asked

    def search() -> Unpaused:
        if (yield first) is not None:
            yield second
        return issue

    ahead = Ahead(search)
    assert ahead.candidates(2) == [first]
    ahead.tell(issue)
    assert ahead.candidates(2) == [second]


@pytest.mark.parametrize(("rate", "runs"), [(1.0, 1), (0.99, 1), (0.5, 5), (0.3, 9), (0.01, 50), (0.0, 50)])
def test_how_often_a_candidate_is_tried(rate: float, runs: int) -> None:
    """The rarer a failure is, the more runs have to pass before it is ruled out, up to a bound."""
    assert repeats(rate) == runs
