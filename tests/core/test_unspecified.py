"""What the model leaves open: inputs that it does not specify, by both relations."""

from __future__ import annotations

import pytest

from otf.core import Relation
from tests.core.scripts import machine, oracle, outcome, run, states, told

OPEN = machine("s0 -a/x-> s1", "s1 -b-> s1")
FORKED = machine("s0 -a/x-> s1", "s0 -a/x-> s2", "s1 -b/y-> s1", "s2 -a-> s2")


def test_after_an_unspecified_input_anything_goes() -> None:
    """B is not specified in s0: whatever comes, the path is cut short but not failed."""
    assert outcome(OPEN, "b? y! z! quiet a? quiet") == "truncated"
    assert outcome(OPEN, "b?") == "pass"


def test_what_was_owed_before_stays_owed() -> None:
    """A second a is unspecified in s1, but the x of the first one must come, and come first."""
    assert outcome(OPEN, "a? a? x! z! quiet") == "truncated"
    assert run(OPEN, "a? a? z!").failed
    assert outcome(OPEN, "a? a? quiet") == "fail: missing"
    assert outcome(OPEN, "a? a? y! x! quiet") == "truncated"


def test_a_path_is_cut_short_only_when_no_other_explanation_is_left() -> None:
    """A on A and b on B: in s1 b is specified, in s0 it is not; silence leaves both open, until z decides."""
    assert outcome(OPEN, "a? b? x! quiet") == "pass"
    assert states(OPEN, "a? b? x! quiet") == {"s1"}
    assert outcome(OPEN, "a? b? x! z!") == "truncated"
    assert outcome(OPEN, "a? b? quiet") == "truncated"


def test_an_input_that_is_still_in_flight_has_cut_nothing_short() -> None:
    """Only when b was taken is the path cut short; x proves no more than that a was taken."""
    assert outcome(OPEN, "b? a? x!") == "pass"


def test_by_uioco_states_that_leave_an_input_open_stay() -> None:
    """S1 and s2 are possible; b is unspecified in s2, so nothing can be wrong after it."""
    assert outcome(FORKED, "a? x! b? y! quiet") == "pass"
    assert outcome(FORKED, "a? x! b? z! quiet") == "truncated"


@pytest.mark.parametrize(
    ("script", "expected"),
    [("a? x! b? y! quiet", "pass"), ("a? x! b? z!", "fail: unasked"), ("a? x! b? quiet", "fail: missing")],
)
def test_by_the_relation_any_states_that_leave_an_input_open_are_dropped(script: str, expected: str) -> None:
    """Some possible state specifies b, so it is judged by that one."""
    assert outcome(oracle(FORKED, relation="any"), script) == expected


def test_by_the_relation_any_an_input_that_no_state_specifies_leaves_everything_open() -> None:
    """There is no state that could be preferred: the path is cut short, as by uioco."""
    judge = oracle(OPEN, relation="any")
    assert outcome(judge, "b? z! quiet") == "truncated"
    assert outcome(judge, "a? a? x! z!") == "truncated"
    assert run(judge, "a? a? z!").failed


def test_by_the_relation_any_what_an_output_has_ruled_out_does_not_count() -> None:
    """After z only s2 is left, which does not specify the b in flight."""
    judge = oracle(machine("s0 -a/x-> s1", "s0 -a/z-> s2", "s1 -b/y-> s1", "s2 -a-> s2"), relation="any")
    assert outcome(judge, "a? quiet") == "fail: missing"
    assert outcome(judge, "a? z! quiet b? quiet") == "truncated"


@pytest.mark.parametrize("relation", ["uioco", "any"])
def test_nothing_unproven_is_left_by_silence(relation: Relation) -> None:
    """After quiescence all inputs were taken, specified or not."""
    assert told(oracle(OPEN, relation=relation), "b? b? quiet").ledger.unproven == 0
