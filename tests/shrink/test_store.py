"""Shrinking where data is stored: 250 inputs, ids that never come again, and timers."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.shrink_store import CLOSE, failing, shrink
from benchmarks.store import StoreState, inputs, reply
from benchmarks.store_mutants import MUTANTS, bench
from otf.campaign import Settings


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["stale", "expiries", "swapped"])
def test_a_fault_of_a_store_is_shrunk_to_the_fewest_inputs(tmp_path: Path, fault: str) -> None:
    """The result has at most one input more than a failing path needs, and one copy or two find the same."""
    tested = bench(fault=fault)
    settings = Settings(out=tmp_path / "out", traces=10, steps=200)
    path = failing(tested, settings)
    assert path is not None
    one, two = (shrink(tested, settings, path, jobs) for jobs in (1, 2))
    assert one.steps <= MUTANTS[fault].optimum + CLOSE
    assert one.events == two.events
    assert (one.minimal, one.ended) == (True, "")


def test_the_store_has_250_inputs_and_ids_that_do_not_recur() -> None:
    """Each value that is stored has an id of its own; about 250 inputs are enabled in each state."""
    state, draw = StoreState(), random.Random(1)
    for _ in range(100):
        enabled = [*inputs(state)]
        assert 200 <= len(enabled) <= 260
        before = state.unique
        state, answer = reply(state, draw.choice(enabled))
        assert answer.word != "stored" or answer.unique == before + 1
