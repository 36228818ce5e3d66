"""The small cases that a monitor gets wrong easily; beside each one a near miss."""

from __future__ import annotations

from tests.core.scripts import machine, outcome

OVERTAKEN = machine("s0 -a-> s1", "s0 -b/x-> s1", "s1 -a-> s1", "s1 -b-> s1")
CROSSED = machine("s0 -a/x-> s1", "s0 -b-> s0", "s1 -a-> s1", "s1 -b/y-> s1")
LEFT_IN_TIME = machine("s0 -a-> s1", "s0 -/z-> s0", "s1 -/x-> s1")
SPONTANEOUS_FIRST = machine("s0 -/x-> s1", "s0 -b-> s0", "s1 -b/y-> s1")
SPONTANEOUS_NEXT = machine("s0 -a/x-> s1", "s1 -/y-> s1")


def test_inputs_on_different_ports_overtake_each_other() -> None:
    """B may be taken first, in s0, although a was sent first."""
    assert outcome(OVERTAKEN, "a? b? x! quiet") == "pass"


def test_inputs_overtake_each_other_only_while_both_are_in_flight() -> None:
    """After quiescence a was taken, and b gives nothing in s1; x comes once at most."""
    assert outcome(OVERTAKEN, "a? quiet b? x!") == "fail: unasked"
    assert outcome(OVERTAKEN, "a? b? x! x!") == "fail: wrong"


def test_outputs_on_different_ports_overtake_each_other() -> None:
    """Y on Q is seen before x on P, although it was emitted later."""
    assert outcome(CROSSED, "a? b? y! x! quiet") == "pass"


def test_an_output_that_was_overtaken_is_still_owed() -> None:
    """Where y is explained by a having been taken, its x must come; and y without any a is wrong."""
    assert outcome(CROSSED, "a? b? y! quiet") == "fail: missing"
    assert outcome(CROSSED, "b? y!") == "fail: unasked"


def test_what_may_come_unasked_need_not_come() -> None:
    """S0 may emit z, but leaves it for s1 without."""
    assert outcome(LEFT_IN_TIME, "a? x!") == "pass"


def test_what_may_come_unasked_comes_before_its_state_is_left() -> None:
    """After x the system is in s1, where z cannot come any more; x cannot come in s0."""
    assert outcome(LEFT_IN_TIME, "a? z! x! x!") == "pass"
    assert outcome(LEFT_IN_TIME, "a? x! z!") == "fail: wrong"
    assert outcome(LEFT_IN_TIME, "x!") == "fail: wrong"


def test_an_unasked_output_may_come_before_the_input_is_taken_and_be_seen_after_its_answer() -> None:
    """X was emitted in s0, b was taken in s1, and y was seen first."""
    assert outcome(SPONTANEOUS_FIRST, "b? y! x! quiet") == "pass"


def test_the_unasked_output_that_explains_an_answer_must_come() -> None:
    """Y without x is not the system's; neither is x twice."""
    assert outcome(SPONTANEOUS_FIRST, "b? y! quiet") == "fail: missing"
    assert outcome(SPONTANEOUS_FIRST, "b? y! x! x!") == "fail: wrong"


def test_an_unasked_output_may_overtake_the_answer_before_it() -> None:
    """Y follows x, on another port, and is seen first."""
    assert outcome(SPONTANEOUS_NEXT, "a? y! x! quiet") == "pass"


def test_the_answer_that_an_unasked_output_has_overtaken_must_come() -> None:
    """Y proves that a was taken, so x is outstanding; and before any a there is no y."""
    assert outcome(SPONTANEOUS_NEXT, "a? y! quiet") == "fail: missing"
    assert outcome(SPONTANEOUS_NEXT, "y!") == "fail: unasked"
