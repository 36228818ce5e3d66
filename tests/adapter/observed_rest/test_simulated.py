"""The law of rests in simulation: an answer that sleeps for less than the quiescence time comes before the rest."""

from __future__ import annotations

import pytest

from tests.adapter.observed_rest.simulated import compared, missed

BELOW = (0.5, 1.5, 5, 9)  # quiescence times after which an answer comes that is waited for …
ABOVE = 15  # … and one that is given up
# with thirteen runs for each seed, 200,000 in all; in pieces, since a test may take two minutes
SEEDS = [range(8), *(pytest.param(range(at, at + 1026), marks=pytest.mark.slow) for at in range(8, 15_398, 1026))]


def test_no_answer_is_missed() -> None:
    """Threads, workers, timers, and computing for longer than the quiescence time, on a busy machine."""
    assert [seed for seed in range(400) if missed(seed)] == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_no_answer_of_many_is_missed(part: int) -> None:
    """200,000 runs in all, of five inputs each."""
    assert [seed for seed in range(part * 20_000, part * 20_000 + 20_000) if missed(seed)] == []


def test_without_time_outs_answers_are_missed() -> None:
    """The simulation is no place where everything is found."""
    assert sum(missed(seed, timed=False) for seed in range(60)) > 20


def test_without_the_second_reading_answers_are_missed() -> None:
    """A thread that was woken after it was read, and has not answered when the ports are looked at."""
    assert sum(missed(seed, twice=False) for seed in range(2000)) > 0


@pytest.mark.parametrize("seeds", SEEDS)
def test_a_busy_machine_changes_no_verdict(seeds: range) -> None:
    """By rests on a busy machine a system passes or fails as by the clock on an idle one: one answer, none or two."""
    for seed in seeds:
        assert [compared(seed, asleep) for asleep in BELOW] == [(False, False)] * len(BELOW)
        assert compared(seed, ABOVE) == (True, True)
        assert [compared(seed, asleep, answers=each) for asleep in BELOW for each in (0, 2)] == [(True, True)] * 8


def test_an_answer_close_to_the_bound_is_waited_for_at_times() -> None:
    """After eleven times as long as silence lasts, the clock has given up; a rest that was disturbed may wait on."""
    found = [compared(seed, 11) for seed in range(40)]
    assert set(found) == {(True, True), (True, False)}
    assert found.count((True, False)) < 20
