"""What becomes of systems that conform where an assumption of the promise does not hold: docs/topics-promise.md."""

from __future__ import annotations

import pytest

from benchmarks.assumptions import BREACHES, verdicts
from benchmarks.campaigns import TESTERS

PATHS, SEED = 40, 1
STRICT_FORGIVES = ("inputs that come while it is busy are lost", "inputs are taken before others are answered")


@pytest.mark.parametrize("name", [name for name in BREACHES if name != "none"])
def test_where_an_assumption_is_broken_there_are_false_alarms(name: str) -> None:
    """Each assumption is needed: some mode fails systems that do nothing wrong but break it."""
    assert any(verdicts(name, mode, PATHS, SEED)["fail"] for mode in TESTERS)


@pytest.mark.parametrize("mode", TESTERS)
def test_where_all_hold_there_are_none(mode: str) -> None:
    """The same worlds without a breach: what fails above fails for that reason alone."""
    assert verdicts("none", mode, PATHS, SEED)["fail"] == 0


@pytest.mark.parametrize("name", STRICT_FORGIVES)
def test_with_one_input_in_flight_it_does_not_matter_how_several_are_taken(name: str) -> None:
    """Strict mode never sends while the system is busy."""
    assert verdicts(name, "strict", PATHS, SEED)["fail"] == 0
