"""Doubts: more unseen outputs than are followed. They end where quiescence settles what there was."""

from __future__ import annotations

import pytest

from otf.core import Model, Monitor, Oracle
from otf.core.timing import Timing
from otf.trace.events import Seen
from tests.core.scripts import machine, outcome, states

RESTLESS = machine("s0 -/x-> s0", "s0 -a/y-> s0")
BOTH = machine("s0 -/x-> s0", "s0 -/w-> s0", "s0 -a/y-> s0", "s0 -b/y-> s0")
DOUBT = "a? y! x! x! x! x!"
"""Y shows that a was taken; all of x may have been emitted before: more than the three that are followed."""


@pytest.mark.parametrize("quiet", [1, 23])
@pytest.mark.parametrize("wrong", ["z!", "a? z!", "a? y! z!", "x! z!"])
def test_quiescence_ends_a_doubt(wrong: str, quiet: int) -> None:
    """Everything emitted has been seen then: the next output on that port is judged like any other."""
    assert outcome(RESTLESS, DOUBT, "quiet " * quiet, wrong) == "fail: wrong"


def test_it_ends_on_every_port_at_once() -> None:
    """A doubt on P and one on Q."""
    assert outcome(BOTH, "a? y! x! x! x! x! w! w! w! w! b? y! x! x! x! x! quiet z!") == "fail: wrong"


def test_a_doubt_may_come_again_and_end_again() -> None:
    """Each quiescence settles what came before it."""
    assert outcome(RESTLESS, DOUBT, "quiet", DOUBT, "quiet", DOUBT, "quiet z!") == "fail: wrong"


@pytest.mark.parametrize("later", ["quiet", "quiet a? y! quiet", "quiet x! quiet", f"quiet {DOUBT} quiet {DOUBT}"])
def test_a_conforming_run_passes_all_the_same(later: str) -> None:
    """Before the quiescence, and after it."""
    assert outcome(RESTLESS, DOUBT, later) == "pass"


@pytest.mark.parametrize("script", ["a? quiet", "quiet a? quiet", "quiet quiet a? x! quiet"])
def test_a_missing_answer_on_another_port_fails(script: str) -> None:
    """A doubt about P is no doubt about Q."""
    assert outcome(RESTLESS, DOUBT, script) == "fail: missing"


CHAIN = machine(
    "s0 -/x-> s1", "s1 -/x-> s2", "s2 -/x-> s3", "s3 -/x-> s4", "s4 -/x-> s5", "s5 -/y-> s6", "s6 -a/z-> s6"
)


@pytest.mark.parametrize("script", ["y! x! x! x! x! x!", "y! x! x! x! x! x! quiet", "y! x! x! x! x! x! quiet a? z!"])
def test_where_only_a_doubt_is_left_nothing_fails(script: str) -> None:
    """Five outputs on P came after the one on Q that was said after them: this conforms, whatever is followed."""
    assert outcome(CHAIN, script) in {"pass", "inconclusive"}


def test_quiescence_does_not_excuse_what_was_followed() -> None:
    """Of the three that are followed one is missing: silence shows it, and no doubt was needed."""
    assert outcome(CHAIN, "x! x! x! y! x! quiet") == "fail: missing"
    assert outcome(CHAIN, "x! x! x! y! x! x! quiet a? quiet") == "fail: missing"


def test_the_states_after_a_doubt_are_those_of_the_model() -> None:
    """No state is invented for what was not followed."""
    assert states(RESTLESS, DOUBT, "quiet") == {"s0"}


def test_a_doubt_that_stays_names_its_bounds() -> None:
    """Whoever reads it learns which field of the bench to change, and what its value is."""
    monitor = Monitor(Oracle(Model(RESTLESS), timing=Timing(0.1, latency=0.02)))
    monitor.lookahead.give_up()
    verdict = monitor.tell(Seen("z", "P", 0.0))
    assert verdict is not None
    assert verdict.outcome == "inconclusive"
    assert "within the latency (0.02 s)" in verdict.why
    assert "Limits.hypotheses=2,000" in verdict.why
