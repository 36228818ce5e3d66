"""`Taken`: these inputs were taken, and what was emitted before that was seen. For systems that are never quiet."""

from __future__ import annotations

import pytest

from otf.spec import Accept
from tests.core.scripts import machine, outcome, spec_of, states, told

CHAIN = machine("s0 -a/x-> s1", "s1 -c/z-> s2", "s2 -c-> s2")
TICKING = machine("s0 -/x-> s0", "s0 -a/z-> s1", "s1 -/x-> s1", "s1 -a/z-> s1")
TWO_PORTS = machine("s0 -a/x-> s1", "s0 -b/y-> s2", "s1 -b/y-> s3", "s2 -a/x-> s3", "s3 -a-> s3", "s3 -b-> s3")


def test_what_the_last_input_brought_stays_owed() -> None:
    """A was taken; its x may still be on its way."""
    assert outcome(CHAIN, "a? taken x! quiet") == "pass"
    assert outcome(CHAIN, "a? taken quiet") == "fail: missing"


def test_what_was_emitted_before_the_last_input_must_have_been_seen() -> None:
    """C was taken after a, so the x of a is overdue."""
    assert outcome(CHAIN, "a? c? taken") == "fail: missing"
    assert outcome(CHAIN, "a? c? x! taken z! quiet") == "pass"


def test_inputs_after_the_one_that_is_named_may_be_in_flight() -> None:
    """Only a is known to be taken."""
    assert outcome(CHAIN, "a? c? taken1 x! z! quiet") == "pass"
    assert outcome(CHAIN, "a? c? x! taken1 taken2 z! quiet") == "pass"
    assert told(CHAIN, "a? c? taken1").ledger.unproven == 1


def test_what_was_said_already_says_nothing_new() -> None:
    """The same input twice, and none at all."""
    assert outcome(CHAIN, "taken a? taken taken1 x! quiet") == "pass"


def test_an_input_proven_by_its_output_is_proven() -> None:
    """X tells that a was taken; nothing is unproven then."""
    assert told(CHAIN, "a?").ledger.unproven == 1
    assert told(CHAIN, "a? x!").ledger.unproven == 0


@pytest.mark.parametrize("script", ["a? taken z! x! x! quiet", "a? x! taken z! x!", "x! x! a? taken z!"])
def test_a_system_that_is_never_quiet_is_judged(script: str) -> None:
    """X comes spontaneously, before a is taken and after it."""
    assert outcome(TICKING, script) == "pass"


def test_what_came_by_itself_before_the_input_must_have_been_seen() -> None:
    """Once a is proven taken, its z is outstanding: an x before that would have been seen by then."""
    assert outcome(TICKING, "a? x! taken z! quiet") == "pass"
    assert outcome(TICKING, "a? taken x!") == "fail: wrong"


def test_the_last_of_inputs_on_two_ports_is_the_one_that_was_taken_last() -> None:
    """A and b were taken in either order: the output of one of them may be outstanding, not of both."""
    assert outcome(TWO_PORTS, "a? b? taken x! quiet") == "fail: missing"
    assert outcome(TWO_PORTS, "a? b? x! taken y! quiet") == "pass"
    assert outcome(TWO_PORTS, "a? b? y! taken x! quiet") == "pass"
    assert outcome(TWO_PORTS, "a? b? taken") == "fail: missing"


def test_an_input_on_another_port_may_have_been_taken_first_although_it_was_sent_later() -> None:
    """B was sent second and taken first: then y was emitted before a was taken, and must have been seen."""
    assert outcome(TWO_PORTS, "a? b? taken1 x! y! quiet") == "pass"
    assert states(TWO_PORTS, "a? b? taken1") == {"s1"}
    # a makes no difference that can be seen: it is still in flight
    assert states(TWO_PORTS, "a? b? y!") == {"s2"}
    assert states(TWO_PORTS, "a? b? y! taken1") == {"s3"}


def test_an_unspecified_input_is_taken_like_others() -> None:
    """C is unspecified in s0: after it nothing is known, and nothing more is in flight."""
    assert outcome(CHAIN, "c? a? taken z! z!") == "truncated"
    assert told(CHAIN, "c? a? taken").ledger.unproven == 0


def test_an_accept_must_be_complete_before_a_later_input_is_taken() -> None:
    """C was taken after a, so all that a brings was seen; with only one of two outputs that cannot be."""
    spec = spec_of(Accept(lambda seen: [seen], "P", until=2))
    assert outcome(spec, "a? x! taken z! quiet") == "pass"
    assert outcome(spec, "a? c? x! taken") == "fail: missing"
    assert outcome(spec, "a? c? x! z! taken") == "pass"
