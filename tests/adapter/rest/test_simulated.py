"""The law of rests in simulation: an answer that sleeps for less than the quiescence time comes before the rest."""

from __future__ import annotations

import pytest

from tests.adapter.rest.simulated import missed


def test_no_answer_is_missed() -> None:
    """Threads, workers, timers, and computing for longer than the quiescence time, on a busy machine."""
    assert [seed for seed in range(400) if missed(seed)] == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_no_answer_of_many_is_missed(part: int) -> None:
    """200,000 inputs in all."""
    assert [seed for seed in range(part * 4000, part * 4000 + 4000) if missed(seed)] == []


def test_without_time_outs_answers_are_missed() -> None:
    """The simulation is no place where everything is found."""
    assert sum(missed(seed, timed=False) for seed in range(60)) > 20


def test_without_the_second_reading_answers_are_missed() -> None:
    """A thread that was woken after it was read, and has not answered when the ports are looked at."""
    assert sum(missed(seed, twice=False) for seed in range(2000)) > 0
