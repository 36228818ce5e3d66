"""A race of two HTTP clients: found and shrunk by a campaign that asks for nothing, and driven again often enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from otf.errors import UsageError
from otf.models.tickets import bench
from otf.trace.events import Sent
from otf.trace.reading import TraceReader
from otf.trace.tagged import Registry
from tests.cli.command import otf

RACE = ("--set", "fault=race")


@pytest.mark.real
def test_a_race_is_found_by_default_and_shrunk(tmp_path: Path) -> None:
    """Both clients buy the last ticket at once: three inputs, and the trace knows how often they fail."""
    # a busy machine meets it rarely
    many = ("--traces", 200, "--stop-first")
    done = otf("run", "tickets", *RACE, *many, "--seed", 1, "--no-saved", "--out", tmp_path / "out")
    assert done.status == 1
    (trace,) = (tmp_path / "out").glob("*.shrunk.jsonl")
    with trace.open("rb") as file:
        reader = TraceReader(file, "trace")
        events = [each.event for each in reader.events(Registry(bench().known_types))]
    head, steps = reader.header, sum(isinstance(each, Sent) for each in events)
    assert (head.burst, steps, head.rate > 0.5, head.runs >= 4) == (2, 3, True, True)
    for words in (
        "sent at once with the next input; the system takes them in any order",
        "  steps 2 and 3, in flight together:  HttpRequest(method='POST', target='/buy') on ",
        "if taken as    2, 3",
        "if taken as    3, 2",
        "in no order of these inputs does the model allow all outputs that were seen",
    ):
        assert words in done.out
    again = otf("rerun", trace, "--out", tmp_path / "again")
    assert again.status == 1
    repaired = otf("rerun", trace, "--set", "fault=none", "--out", tmp_path / "repaired")
    assert repaired.status == 0
    assert "fixed, with 95 % confidence: " in repaired.out


@pytest.mark.real
def test_the_office_sells_each_ticket_once(tmp_path: Path) -> None:
    """With the lock no order of what is sent at once gives what is not allowed; what was in flight is said."""
    done = otf("run", "tickets", "--burst", 3, "--traces", 5, "--steps", 40, "--no-saved", "--out", tmp_path / "out")
    assert done.status == 0
    assert "; in flight together: at most 3 inputs" in done.out


def test_another_fault() -> None:
    """The error names those that there are."""
    with pytest.raises(UsageError, match="it has race"):
        bench(fault="x")
