"""Paths of several lengths: their lengths add up, double, and the longest takes half of what there is."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.campaign import Campaign, Settings
from otf.campaign.settings import UNLIMITED, length
from otf.models.coffee import bench


def plan(traces: int, steps: int = 50) -> list[int]:
    """Return the lengths of the paths of a campaign."""
    settings = Settings(out=Path("out"), traces=traces, steps=steps, mixed=True)
    return [length(settings, number, late=False) for number in range(1, traces + 1)]


@given(st.integers(1, 300), st.integers(10, 100))
def test_the_lengths_add_up(traces: int, steps: int) -> None:
    """A campaign of mixed lengths has as many inputs as one of equal lengths."""
    assert sum(plan(traces, steps)) == traces * steps


@given(st.integers(3, 300))
def test_the_longest_takes_half(traces: int) -> None:
    """The last path has half of all inputs; the others are of four lengths, each about twice the one before."""
    *others, last = plan(traces)
    assert last == traces * 50 // 2
    shortest = min(others)
    assert {round(each / shortest).bit_length() for each in others} <= {1, 2, 3, 4}


def test_equal_lengths_stay_equal() -> None:
    """Where the user gives a length, all paths have it."""
    settings = Settings(out=Path("out"), steps=7)
    assert {length(settings, number, late=late) for number in range(1, 11) for late in (False, True)} == {7}


def test_in_a_time_a_path_that_begins_in_its_second_half_lasts_to_the_end() -> None:
    """Where only time bounds the campaign, nobody knows how many inputs that is."""
    settings = Settings(out=Path("out"), traces=UNLIMITED, time=60.0, mixed=True)
    assert [length(settings, number, late=False) for number in range(1, 9)] == [20, 40, 20, 80, 20, 40, 20, 160]
    assert length(settings, 3, late=True) == UNLIMITED


@pytest.mark.real
def test_the_summary_has_the_longest_path(tmp_path: Path) -> None:
    """Its inputs, and how long the system was up."""
    summary = anyio.run(Campaign(bench(), Settings(out=tmp_path / "out", traces=4, steps=10, mixed=True)).run)
    assert (summary.steps, summary.longest) == (40, 20)
    assert summary.uptime > 0
