"""The coffee machine: its spec, its faults, and its place on the command line."""

from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from otf import NonconformanceError, UsageError, run
from otf.cli.app import app
from otf.explore import explore
from otf.models import coffee
from otf.models.coffee import FAULTS, Button, Coin, Machine, bench

SHORTEST = {"dry": 2, "free": 3, "full": 3}
"""The fewest inputs that show each fault. Two coins of 5 cents are not shrunk to one of 10, so it may be one more."""


def test_the_spec_has_three_states() -> None:
    """0, 5 or 10 cents are in the machine; three coins can be inserted, and one button gives coffee."""
    graph = explore(coffee.coffee)
    assert sorted(place.value for place in graph.states if isinstance(place.value, int)) == [0, 5, 10]
    assert len(graph.states) == 3
    assert len(graph.transitions) == 4


def test_the_machine_speaks_lines() -> None:
    """Two coins of 5 cents buy one coffee; a coin too many falls through, and a button too early does nothing."""
    machine = Machine()
    script = [b"button", b"coin 5", b"coin 10", b"coin 5", b"button", b"button"]
    assert [machine.take(line) for line in script] == [None, None, None, None, b"coffee", None]


def test_what_is_not_understood_is_ignored() -> None:
    """A line of no known form changes nothing."""
    machine = Machine()
    assert [machine.take(line) for line in (b"coin 10", b"kick", b"", b"button")] == [None, None, None, b"coffee"]


def test_the_machine_conforms(tmp_path: Path) -> None:
    """The faultless machine passes, with inputs that the spec leaves open among those that it was given."""
    summary = run(bench(), out=tmp_path, traces=4, steps=100)
    assert (summary.verdict, summary.steps, summary.truncated) == ("pass", 400, 0)


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found_and_shrunk(fault: str, tmp_path: Path) -> None:
    """A machine with a fault fails, and the failure is shrunk to the few inputs that show it."""
    with pytest.raises(NonconformanceError) as caught:
        run(bench(fault=fault), out=tmp_path, stop_first=True)
    (shrunk,) = [group.shrunk for group in caught.value.summary.failures.values()]
    assert shrunk is not None
    assert shrunk.steps - SHORTEST[fault] in {0, 1}


def test_a_fault_that_does_not_exist_is_refused() -> None:
    """The error names the faults that there are."""
    with pytest.raises(UsageError, match="it has dry, free, full"):
        bench(fault="cold")


def test_the_codec_writes_what_the_machine_reads() -> None:
    """The words of the model are the lines of the machine."""
    assert [coffee.codec.encode(inp) for inp in (Coin(5), Button())] == [b"coin 5", b"button"]
    assert coffee.codec.decode("line", b"coffee") == coffee.Coffee()


def test_otf_list_shows_it() -> None:
    """The bench is among the shipped ones."""
    listed = CliRunner().invoke(app, ["list", "--json"])
    assert msgspec.json.decode(listed.stdout)["benches"]["coffee"].startswith("A coffee machine")


def test_otf_mutants_finds_all(tmp_path: Path) -> None:
    """`otf mutants coffee` finds each fault and ends with status 0."""
    result = CliRunner().invoke(app, ["mutants", "coffee", "--json", "--out", str(tmp_path)])
    rows = msgspec.json.decode(result.stdout)
    assert {row["fault"]: row["found"] for row in rows} == dict.fromkeys(SHORTEST, True)
    assert result.exit_code == 0


@pytest.mark.parametrize("line", [b"coin %", b"coin", b"coin -5", b"coin " + b"9" * 5_000, b"coin \xff", b""])
def test_the_machine_ignores_what_is_no_coin(line: bytes) -> None:
    """A line that is not a message changes nothing."""
    machine = Machine()
    assert machine.take(b"coin 5") is None
    assert machine.take(line) is None
    assert machine.take(b"coin 5") is None
    assert machine.take(b"button") == b"coffee"
