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


def test_a_repair_is_shown_by_enough_runs(trace: Path) -> None:
    """With --confidence a system is driven until the rate leaves no other reason; the text says what that assumes."""
    done = otf("rerun", trace, *FROM, "--set", "broken=false", "--confidence", 0.99, "--rate", 0.5, "--out", "again")
    assert done.status == 0
    assert done.out.endswith(
        "trace: again/rerun-0007.jsonl\nfixed, with 99 % confidence: 7 runs passed. "
        "Assumed: unrepaired, it fails in 50 % of all runs, independently each time\n"
    )


def test_a_failure_ends_the_runs_that_are_to_show_a_repair(trace: Path) -> None:
    """The verdict is that of the run which failed, whatever passed before."""
    done = otf("rerun", trace, *FROM, "--confidence", 0.99, "--rate", 0.5, "--json")
    assert (done.status, done.data["verdict"], done.data["passed"], done.data["needed"]) == (1, "fail", 0, 7)
    shown = otf("rerun", trace, *FROM, "--confidence", 0.99, "--rate", 0.5).out
    assert shown.endswith("0 runs passed before; 7 in a row are needed for 99 % confidence\n")


def test_the_rate_comes_from_shrinking(folder: Path) -> None:
    """Beside the journal of its campaign a trace has the rate that shrinking measured, a shrunk one with more runs."""
    otf("run", "coffee", "--set", "fault=free", "--seed", 1, "--traces", 1, "--mode", "strict", "--out", "out")
    trace = folder / "out" / "path-0001.shrunk.jsonl"
    done = otf("rerun", trace, "--set", "fault=none", "--confidence", 0.9)
    assert "fixed, with 90 % confidence: " in done.out
    assert "as often as when it failed in 4 of 4 runs" in done.out
    data = otf("rerun", folder / "out" / "path-0001.jsonl", "--confidence", 0.5, "--json").data
    assert (data["verdict"], data["passed"], data["needed"]) == ("fail", 0, 11)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--confidence", 1), "--confidence 1: write a share between 0 and 1"),
        (("--confidence", 0.9, "--rate", 0), "--rate 0: write a share between 0 and 1"),
    ],
)
def test_shares_that_mean_nothing(trace: Path, options: tuple[object, ...], text: str) -> None:
    """A share that is none is refused before anything is driven."""
    assert text in failed("rerun", trace, *FROM, *options)


def test_a_rate_that_was_never_measured(folder: Path, trace: Path) -> None:
    """Away from the journal of its campaign no rate is known: it is asked for, and nothing is driven."""
    alone = folder / "alone.jsonl"
    alone.write_bytes(trace.read_bytes())
    text = failed("rerun", alone, *FROM, "--confidence", 0.9)
    assert "how often it fails was not measured; give it: --rate 0.5 for every second run" in text
