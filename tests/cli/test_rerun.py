"""`otf rerun`: the inputs of a trace, driven again."""

from pathlib import Path

import pytest

from tests.cli.command import failed, machine, otf, recorded

FROM = ("--bench", "machine.py:make")


def test_a_failure_is_there_again(folder: Path, trace: Path) -> None:
    """The same inputs on a fresh system fail again: status 1, the whole run as a table, and the new trace."""
    done = otf("rerun", trace, *FROM, "--out", "again")
    assert done.status == 1
    assert "     1  Coin(cents=10)  ->  none\n     2  Button()        ->  nothing more   <== here\n" in done.out
    assert done.out.endswith("trace: again/rerun-0001.jsonl\n")
    values = [[line.get("value") for line in recorded(file)] for file in (trace, folder / "again" / "rerun-0001.jsonl")]
    assert values[0] == values[1]


def test_a_repaired_system_passes(trace: Path) -> None:
    """With another parameter the same inputs pass: status 0; the trace goes to a folder of its own."""
    data = otf("rerun", trace, *FROM, "--set", "broken=false", "--json").data
    assert (data["verdict"], data["steps"], data["signature"]) == ("pass", 2, None)
    assert data["trace"].startswith("otf-runs/rerun-")


def test_the_document_of_a_failure(trace: Path) -> None:
    """With --json the failure is named by its signature."""
    data = otf("rerun", trace, *FROM, "--json").data
    assert data["signature"] == "missing: int --Button--> expected Coffee, seen silence"


def test_no_contact(folder: Path, trace: Path) -> None:
    """Where the system cannot be started the status is 3, and the message says why."""
    machine(folder, {"inprocess(lambda: machine(broken))": "inprocess(None)"})
    done = otf("rerun", trace, *FROM, "--json")
    assert (done.status, done.data["verdict"]) == (3, "error")
    assert "cannot be made" in done.err


def test_a_folder_that_cannot_be_written(folder: Path, trace: Path) -> None:
    """A folder below a file is told, and nothing is driven."""
    (folder / "file").touch()
    assert "the folder cannot be written (Not a directory)" in failed("rerun", trace, *FROM, "--out", "file/below")


@pytest.mark.parametrize("command", ["rerun", "shrink"])
def test_a_program_is_not_started_because_a_trace_names_it(folder: Path, command: str) -> None:
    """A trace may come from a stranger: what it names is started only if the user says so too."""
    otf("run", "conference", "--traces", 1, "--steps", 1, "--seed", 1, "--set", "entity=nowhere", "--out", "out")
    told = failed(command, folder / "out" / "path-0001.jsonl")
    assert "the trace was recorded with entity='nowhere', which a trace may not choose" in told
    assert "--set entity=…" in told
    assert otf("replay", folder / "out" / "path-0001.jsonl", "--set", "entity=").status == 0


def test_a_program_that_the_user_names_is_started(folder: Path) -> None:
    """Named again by the user, the program is started; that it is not there is no contact."""
    otf("run", "conference", "--traces", 1, "--steps", 1, "--seed", 1, "--set", "entity=nowhere", "--out", "out")
    done = otf("rerun", folder / "out" / "path-0001.jsonl", "--set", "entity=nowhere else")
    assert done.status == 3
    assert "cannot start `nowhere else --id 1" in done.err
