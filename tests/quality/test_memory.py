"""Memory stays flat: however long a campaign goes on, and however many states its model has.

`OTF_STEPS` is the number of steps on demand (`-m slow`, 10 million by default). `python -m benchmarks.memory` prints
what is resident on the way.
"""

from __future__ import annotations

import gc
import os
import sys

import pytest

from benchmarks.memory import NEVER_BACK, Go, never_back, paths, vending
from otf.core import model, pacing, timer_waits
from otf.core.memory import Memory

STEPS = int(os.environ.get("OTF_STEPS", "10000000"))
STRETCHES = 10  # what is remembered grows until it is forgotten as a whole: one look could fall anywhere


def most(go: Go, steps: int) -> int:
    """Return the most blocks of memory that were in use at the end of a tenth of so many steps."""
    found = 0
    for _ in range(STRETCHES):
        go(steps // STRETCHES)
        gc.collect()
        found = max(found, sys.getallocatedblocks())
    return found


@pytest.mark.slow
def test_walking_on_in_few_states_needs_no_memory() -> None:
    """After a hundred thousand steps through the vending machine, a hundred thousand more need no more."""
    go = vending()
    assert most(go, 100_000) * 1.1 > most(go, 100_000)


MODES = "strict", "eager"


@pytest.fixture
def _little_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remember a thousandth of what is remembered otherwise, so that it is full soon."""
    monkeypatch.setattr(Memory.__init__, "__defaults__", (200,))
    for part in (timer_waits, pacing):
        monkeypatch.setattr(part, "REMEMBERED", 200)
    monkeypatch.setattr(model, "LATELY", 200)


@pytest.mark.usefixtures("_little_is_remembered")
@pytest.mark.parametrize(
    "name", ["walk", *(pytest.param(name, marks=pytest.mark.slow) for name in ("strict", "eager"))]
)
def test_states_that_never_come_again_are_forgotten(name: str) -> None:
    """Whether in process or behind a line: what is remembered is bounded, and the rest goes."""
    go = never_back() if name == "walk" else paths(NEVER_BACK, name)
    gc.collect()
    before = sys.getallocatedblocks()
    assert (most(go, 1_000) - before) * 1.5 > most(go, 4_000) - before


@pytest.mark.slow
def test_ten_million_steps_need_no_more_than_the_first_million() -> None:
    """On demand."""
    go = vending()
    assert most(go, STEPS // 10) * 1.1 > most(go, STEPS * 9 // 10)
