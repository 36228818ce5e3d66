"""`otf shrink`: the shortest trace with the same failure."""

import re
import runpy
from pathlib import Path

import pytest

from tests.cli.command import failed, machine, otf, recorded

FROM = ("--bench", "machine.py:make")
TIRED = {
    "[Coin(5), Coin(10)": "[Coin(0), Coin(10)",
    "    paid = 0\n": "    paid, served = 0, []\n",
    "paid -= 10\n": "paid -= 10\n        served.append(1)\n",
    "None if broken": "None if broken and len(served) > 2",
}


@pytest.fixture
def trace(folder: Path) -> Path:
    """A long trace of a machine whose third coffee does not come."""
    machine(folder, TIRED)
    broken = ("--set", "broken=true", "--mode", "strict", "--seed", 2, "--traces", 1, "--no-shrink")
    otf("run", "machine.py:make", *broken, "--out", "out")
    return folder / "out" / "path-0001.jsonl"


def test_the_shortest_trace_lies_beside_the_original(trace: Path) -> None:
    """Three coffees take six steps: they are found, shown, and written beside the original."""
    done = otf("shrink", trace, *FROM)
    assert done.status == 1
    steps = recorded(trace)[-1]["steps"]
    assert f"{steps} -> 6 steps, by " in done.out
    assert done.out.endswith(f"trace: {trace.with_suffix('.shrunk.jsonl')}\n")
    assert "     6  Button()        ->  nothing more   <== here\n" in done.out
    assert recorded(trace.with_suffix(".shrunk.jsonl"))[-1]["steps"] == 6


def test_the_document_tells_what_it_took(trace: Path) -> None:
    """With --json: the trace, its steps, and what it took."""
    data = otf("shrink", trace, *FROM, "--json").data
    assert data.keys() >= {"trace", "steps", "transitions", "resets", "rate"}
    assert (data["steps"], data["rate"], data["minimal"]) == (6, 1.0, True)


def test_a_budget_ends_the_search(trace: Path) -> None:
    """With a small budget the shortest so far is the result, and that is said."""
    done = otf("shrink", trace, *FROM, "--budget", 1)
    assert "the search was stopped early, since the budget of " in done.out
    assert "was used up: fewer steps may be enough" in done.out
    assert otf("shrink", trace, *FROM, "--budget", 0).status == 2


def test_the_result_can_go_elsewhere(folder: Path, trace: Path) -> None:
    """With --out the result goes to that folder; a trace from standard input has a name there."""
    assert otf("shrink", trace, *FROM, "--out", "short", "--json").data["trace"] == "short/path-0001.shrunk.jsonl"
    done = otf("shrink", "-", *FROM, "--json", stdin=trace.read_bytes())
    assert done.data["trace"] == "stdin.shrunk.jsonl"
    (folder / "file").touch()
    assert "the trace cannot be written (Not a directory)" in failed("shrink", trace, *FROM, "--out", "file/below")


def test_a_failure_that_does_not_come_back(trace: Path) -> None:
    """A repaired system no longer fails: status 3, the original, and a rate of 0."""
    done = otf("shrink", trace, *FROM, "--set", "broken=false")
    assert done.status == 3
    assert re.search(r"the failure did not recur in \d+ runs of the same inputs: it depends on chance", done.out)
    assert otf("shrink", trace, *FROM, "--set", "broken=false", "--json").data["rate"] == 0.0


def test_a_trace_that_passes(folder: Path) -> None:
    """Without a failure there is nothing to shrink: status 0."""
    machine(folder)
    otf("run", "machine.py:make", "--traces", 1, "--out", "out")
    done = otf("shrink", "out/path-0001.jsonl", *FROM)
    nothing = "out/path-0001.jsonl: there is no failure in it to shrink, so nothing was sent to the system\n"
    assert (done.status, done.out[: len(nothing)]) == (0, nothing)
    assert "\njudged again: PASS" in done.out
    assert otf("shrink", "out/path-0001.jsonl", *FROM, "--json").data["transitions"] == 0


def test_the_result_as_a_program(folder: Path, trace: Path) -> None:
    """Beside the trace lies a test that fails as long as the failure is there, without a campaign."""
    done = otf("shrink", trace, *FROM)
    program = trace.with_name("path_0001_shrunk.py")
    assert f"as a test: pytest {program}\n" in done.out
    (test,) = [each for name, each in runpy.run_path(str(program)).items() if name.startswith("test_")]
    with pytest.raises(AssertionError, match="nothing more   <== here"):
        test()
    program.write_text(program.read_text(encoding="utf-8").replace("broken=True", "broken=False"), encoding="utf-8")
    (mended,) = [each for name, each in runpy.run_path(str(program)).items() if name.startswith("test_")]
    mended()
    assert otf("shrink", trace, *FROM, "--json").data["program"] == str(program)
    assert [path.name for path in folder.glob("out/*.py")] == ["path_0001_shrunk.py"]


def test_the_result_as_a_table_with_states(trace: Path) -> None:
    """Each step is told with the states of the model before and after it."""
    lines = otf("shrink", trace, *FROM).out.splitlines()
    assert "{0} Coin(cents=10) -> nothing {10}" in lines
    assert "Button() -> Coffee() {0}" in lines
    assert "Button() -> nothing more {}" in lines


def test_all_three_budgets(trace: Path) -> None:
    """Transitions, starts and seconds are bounded, and several copies may run at a time."""
    for option in (("--budget", 30), ("--resets", 2), ("--seconds", 0)):
        data = otf("shrink", trace, *FROM, *option, "--json").data
        assert (data["minimal"], data["rate"]) == (False, 1.0)
    assert otf("shrink", trace, *FROM, "--jobs", 3, "--json").data["steps"] == 6
