"""Mutants of the shipped models: none of the small ones is open, and few of the others."""

from __future__ import annotations

import pytest

from benchmarks.mutation import measured
from otf.mutation import HuntBudget


@pytest.mark.parametrize(("name", "most"), [("coffee", 20), ("conference", 8), ("supply", 8)])
def test_no_mutant_of_a_small_model_is_open(name: str, most: int) -> None:
    """Each is killed, or proved to conform; the model itself passes on its own bench."""
    row = measured(name, most, HuntBudget(), 60.0)
    assert (row["open"], row["broken"], row["control"], row["unserved"]) == (0, 0, None, [])
    assert row["killed"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["conference", "session_device", "tftp", "websocket"])
def test_few_mutants_of_a_shipped_model_are_open(name: str) -> None:
    """After five minutes of virtual time each: at most 5 %."""
    row = measured(name, 100, HuntBudget(), 600.0)
    assert row["control"] is None
    assert row["open"] <= 0.05 * row["tried"]
