"""The mutants of the model in the report of a campaign."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from otf.report import PathSummary, github, page
from otf.report.mutants import FILE, MOST, ReportedMutant, ReportedMutation, mutants_section, read_mutation
from tests.cli.command import otf
from tests.report.runs import HOSTILE, gathered

MUTANTS = (
    ReportedMutant("the last output is not sent", "lamp.py:6", "Press() in 0", "killed", path=("Press()",)),
    ReportedMutant("it comes too late", "lamp.py:9", "in 1", "open", "not reached", "no path came there", ("a",) * 20),
    ReportedMutant("it comes too early", "lamp.py:9", "in 1", "equivalent", "allowed by the model"),
)
TRIED = ReportedMutation("lamp", "eager", 12, interrupted=True, unserved=("a colour",), mutants=MUTANTS)


def test_the_result_in_words() -> None:
    """Three counts, of how many, and the reasons of those that are open."""
    assert list(TRIED.lines()) == [
        "mutants: 1 killed, 1 equivalent, 1 open (3 of 12 possible, eager mode, interrupted)",
        "open mutants: 1 not reached",
    ]
    broken = ReportedMutation("lamp", "strict", 1, mutants=(ReportedMutant("", "", "", "broken"),))
    assert list(broken.lines()) == ["mutants: 0 killed, 0 equivalent, 0 open, 1 broken (1, strict mode)"]
    failing = ReportedMutation("lamp", "eager", 0, control="wrong")
    assert list(failing.lines()) == ["mutants: none was tried, since the model itself fails on its own bench (wrong)"]
    assert "<table>" not in mutants_section(failing)


def test_the_section_of_the_page() -> None:
    """Open mutants come first, long paths are cut; a report without mutants has no such section."""
    made = gathered(PathSummary(1, "path-0001.jsonl", "pass", 50, 0.5))
    assert 'href="#mutants"' not in page(made)
    made.mutation = TRIED
    said = page(made)
    assert 'href="#mutants"' in said
    assert (
        said.index("it comes too late") < said.index("it comes too early") < said.index("the last output is not sent")
    )
    assert f"{'; '.join('a' * 12)} …<" in said
    assert "Not tried: no output was found for &#x27;a colour&#x27;." in said
    assert "mutants: 1 killed, 1 equivalent, 1 open" in github(made)


def test_texts_are_escaped_and_long_tables_cut() -> None:
    """Nothing of the file runs, and a browser gets 2,000 rows at most."""
    hostile = ReportedMutant(HOSTILE, HOSTILE, HOSTILE, "open", HOSTILE, HOSTILE, (HOSTILE,))
    said = mutants_section(ReportedMutation("x", "eager", 9, unserved=(HOSTILE,), mutants=(hostile,) * (MOST + 1)))
    assert "<script>" not in said
    assert "The first 2,000 of 2,001 are listed." in said


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[" * 100_000, b'{"model": "x", "mode": "eager", "possible": "1"}', b"\xff"]
)
def test_a_file_that_is_none_is_noted(tmp_path: Path, data: bytes) -> None:
    """The report goes on without it."""
    notes = dict[str, None]()
    assert read_mutation(tmp_path, notes) is None
    assert not notes
    (tmp_path / FILE).write_bytes(data)
    assert read_mutation(tmp_path, notes) is None
    assert [note.startswith("mutants.json is not a result of `otf mutants`") for note in notes] == [True]


def test_from_the_command_to_the_report(tmp_path: Path) -> None:
    """`otf mutants --out` puts the fates beside the traces, and `otf report` shows them in all its forms."""
    assert otf("run", "coffee", "--traces", 1, "--steps", 5, "--out", tmp_path / "d").status == 0
    assert otf("report", tmp_path / "d", "--json").data["mutants"] is None
    assert otf("mutants", "coffee", "--model", "--most", 4, "--out", tmp_path / "d").status == 0
    assert msgspec.json.decode((tmp_path / "d" / FILE).read_bytes())["counts"]["killed"] == 4
    assert otf("report", tmp_path / "d", "--json").data["mutants"] == {
        "killed": 4, "equivalent": 0, "open": 0, "broken": 0
    }  # fmt: skip
    assert "mutants: 4 killed, 0 equivalent, 0 open (4 of 10 possible, eager mode)" in otf("report", tmp_path / "d").out
    assert 'href="#mutants"' in (tmp_path / "d" / "report.html").read_text()
