"""The quiescence time is learnt from replies, and never becomes shorter than the stated bounds allow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.core import Timing
from otf.core.belief import Ledger
from otf.core.pacing import Strict
from otf.core.timing import ENOUGH, FIRST, MANY, Learnt
from otf.trace.events import Quiet, Sent
from tests.core.scripts import machine
from tests.core.test_session import answer, sent, session, silent, waits

ECHO = machine("s0 -a/x-> s0")


def test_stated_times_learn_nothing() -> None:
    """Whatever is heard, a quiescence time that was stated stays."""
    timing = Timing(quiescence=1.0)
    for _ in range(1000):
        timing.learn(0.001)
    assert timing.quiescence == 1.0


def test_nothing_is_learnt_from_a_few_replies() -> None:
    """The first replies say nothing yet of slow ones."""
    timing = Learnt(quiescence=1.0, latency=0.0, busy=0.0)
    for _ in range(ENOUGH - 1):
        timing.learn(0.001)
    assert timing.quiescence == 1.0
    timing.learn(0.001)
    assert timing.quiescence == pytest.approx(MANY * 0.001)


def test_slow_replies_count() -> None:
    """Two in a hundred that take ten times as long decide."""
    timing = Learnt(quiescence=1.0, latency=0.0, busy=0.0)
    for number in range(10 * ENOUGH):
        timing.learn(0.01 if number % 50 == 0 else 0.001)
    assert timing.quiescence == pytest.approx(MANY * 0.01)


def test_what_is_learnt_is_never_shorter_than_the_bounds() -> None:
    """An output may be on its way for 2L + R, however fast most of them are."""
    timing = Learnt(quiescence=1.0, latency=0.25, busy=0.5)
    for _ in range(ENOUGH):
        timing.learn(0.000001)
    assert timing.quiescence == 1.0 == timing.round_trip(1)


def test_old_replies_are_forgotten() -> None:
    """A system that has become faster is soon waited for less long."""
    timing = Learnt(quiescence=1.0, latency=0.0, busy=0.0)
    for reply in [0.1] * ENOUGH + [0.001] * 2000:
        timing.learn(reply)
    assert timing.quiescence == pytest.approx(MANY * 0.001)


def test_a_rest_lasts_as_answers_that_came_out_of_one() -> None:
    """One that is slow needs no longer rests, one that slept before an answer does; none is longer than silence."""
    timing = Learnt(quiescence=FIRST, latency=0.01, busy=0.01)
    for _ in range(ENOUGH):
        timing.learn(1.0)
    assert timing.quiescence == MANY
    assert timing.rest(timing.quiescence, 1) == FIRST
    assert timing.rest(timing.quiescence, 20) == timing.round_trip(20)
    timing.slept(0.5)
    timing.slept(0.25)
    assert timing.rest(timing.quiescence, 1) == MANY * 0.5
    assert timing.rest(1.0, 1) == 1.0


def test_a_run_learns_from_its_steps() -> None:
    """After so many replies of an eighth of a second the run waits for silence for a second, and no longer for ten."""
    timing = Learnt(quiescence=10.0, latency=0.0, busy=0.0)
    run = session(ECHO, "a" * (ENOUGH + 1), Strict(timing))
    for number in range(ENOUGH):
        sent(run, 100.0 * number)
        answer(run, "x", 100.0 * number + 0.125)
        assert silent(run) == Quiet(100.0 * number + 10.125)
    sent(run, 5000.0)
    answer(run, "x", 5000.125)
    assert waits(run.command()) == 5001.125


@given(st.floats(0, 1e6), st.floats(0, 1), st.floats(0, 1))
def test_an_input_that_arrives_at_the_last_moment_is_not_taken_before(at: float, latency: float, busy: float) -> None:
    """Its bound is a sum of what delays it; with R added and taken away again, it would be rounded to less."""
    timing = Timing(latency=latency, busy=busy)
    ledger = Ledger().then(Sent("a", "A", at), timing)
    assert ledger.taken_by == at + latency
    assert ledger.then(Sent("a", "A", at), timing).taken_by == at + latency + busy
