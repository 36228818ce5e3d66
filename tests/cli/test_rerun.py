"""`otf rerun`: the inputs of a trace, driven again."""

import json
from pathlib import Path

import pytest

from tests.cli.command import failed, machine, otf, recorded, rewrite

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
    machine(folder, {"inprocess(lambda: machine(broken))": "inprocess(lambda: [][0])"})
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
    again = otf("replay", folder / "out" / "path-0001.jsonl", "--set", "entity=")
    assert (again.status, "it has no input, and no output was seen" in again.out) == (3, True)


def test_a_program_that_the_user_names_is_started(folder: Path) -> None:
    """Named again by the user, the program is started; that it is not there is no contact."""
    otf("run", "conference", "--traces", 1, "--steps", 1, "--seed", 1, "--out", "out")
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
    assert "\n0 runs passed; 7 in a row are needed for 99 % confidence, if it failed in 50 % of all runs" in shown


def test_the_rate_comes_from_shrinking(folder: Path) -> None:
    """Beside the journal of its campaign a trace has the rate that shrinking measured, a shrunk one with more runs."""
    otf("run", "coffee", "--set", "fault=free", "--seed", 1, "--traces", 1, "--mode", "strict", "--out", "out")
    trace = folder / "out" / "path-0001.shrunk.jsonl"
    done = otf("rerun", trace, "--set", "fault=none", "--confidence", 0.9)
    assert "fixed, with 90 % confidence: " in done.out
    assert "as often as when it failed in 4 of 4 runs" in done.out
    data = otf("rerun", folder / "out" / "path-0001.jsonl", "--confidence", 0.5, "--json").data
    assert (data["verdict"], data["passed"], data["needed"]) == ("fail", 0, 11)


def by_chance(trace: Path, **more: object) -> Path:
    """Write a trace that says more in its header."""
    first, rest = trace.read_text(encoding="utf-8").split("\n", 1)
    other = trace.with_name("chance.jsonl")
    other.write_text(json.dumps(json.loads(first) | more) + "\n" + rest, encoding="utf-8")
    return other


def test_a_failure_by_chance_is_driven_until_that_is_known(trace: Path) -> None:
    """A trace that says that 16 of 20 runs fail needs no option: one run that passes is not a repair, five are."""
    done = otf("rerun", by_chance(trace, rate=0.8, runs=20), *FROM, "--set", "broken=false", "--out", "again")
    assert done.status == 0
    assert "fixed, with 95 % confidence: 5 runs passed" in done.out
    assert "as often as when it failed in 16 of 20 runs" in done.out
    data = otf("rerun", by_chance(trace, rate=0.8, runs=20), *FROM, "--json").data
    assert (data["verdict"], data["passed"], data["needed"]) == ("fail", 0, 5)


@pytest.mark.parametrize("more", [{"rate": 0.01, "runs": 100}, {"burst": 2, "rate": 0.0, "runs": 0}])
def test_runs_that_are_too_few_show_no_repair(trace: Path, more: dict[str, object]) -> None:
    """A rare failure, or a burst that was never measured: after a hundred runs it is said what that is worth."""
    done = otf("rerun", by_chance(trace, **more), *FROM, "--set", "broken=false", "--out", "again")
    assert done.status == 3
    assert "100 runs passed; " in done.out
    assert "in a row are needed for 95 % confidence" in done.out


@pytest.mark.parametrize(
    "more", [{"rate": 2.0, "runs": 20}, {"rate": 0.5, "runs": -1}, {"rate": -1.0, "runs": 1 << 60}]
)
def test_a_rate_that_is_none(trace: Path, more: dict[str, object]) -> None:
    """What a stranger's trace claims is not believed blindly: it counts as not measured."""
    done = otf("rerun", by_chance(trace, **more), *FROM, "--set", "broken=false", "--out", "again")
    assert (done.status, "confidence" in done.out) == (0, False)


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


def test_a_rate_that_was_never_measured(trace: Path) -> None:
    """Where neither the trace nor the journal of its campaign knows a rate, it is asked for, and nothing is driven."""
    alone = by_chance(trace, rate=0.0, runs=0)
    text = failed("rerun", alone, *FROM, "--confidence", 0.9)
    assert "how often it fails was not measured; give it: --rate 0.5 for every second run" in text


@pytest.mark.parametrize("left", [1, 3], ids=["its header alone", "an output of a system that is silent now"])
def test_a_run_in_which_nothing_happened_is_no_pass(folder: Path, trace: Path, left: int) -> None:
    """Neither an input was sent nor an output seen: nothing was tested."""
    lines = [line for line in recorded(trace) if line["event"] in {"start", "quiet", "end"}][:left]
    rewrite(folder / "cut.jsonl", lines)
    done = otf("rerun", "cut.jsonl", "--bench", "machine.py:make", "--json")
    assert (done.status, done.data["verdict"], done.data["steps"]) == (3, "inconclusive", 0)
    assert "nothing was tested" in done.data["why"]
