"""`otf suite` with adaptive tests: described, written, read and run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import failed, otf

BENCH = """
from otf.adapter import Bench
from otf.notations import table
from otf.simulate.system import acting

def machine(after, name="moody"):
    return table(
        [
            ("Idle", "Coin", [], "Paid"),
            ("Paid", "Button", ["tea"], "Idle"),
            ("Paid", "Button", ["sorry"], "Stuck"),
            ("Stuck", "Button", ["tea"], after),
            ("Idle", "Button", [], "Idle"),
        ],
        name=name,
    )

def bench(after="Idle", model="Idle"):
    return Bench(machine(model), system=acting(machine(after)))
"""
COUNTING = ("--method", "state-counting")


@pytest.fixture
def moody(tmp_path: Path) -> Path:
    """A machine that gives tea at once or at the second press, as it likes; `after` is a fault."""
    path = tmp_path / "moody.py"
    path.write_text(BENCH, encoding="utf-8")
    return path


def _written(moody: Path, **changes: Any) -> Path:  # noqa: ANN401 -- JSON
    """A file of a suite in which something was changed."""
    file = moody.with_suffix(".json")
    assert otf("suite", moody, *COUNTING, "--write", file).status == 0
    file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), **changes}), encoding="utf-8")
    return file


def test_a_system_that_chooses_is_stated_and_run(moody: Path, tmp_path: Path) -> None:
    """Size and guarantee, with the number of runs; then the verdict of all of them. A fault is found."""
    done = otf("suite", moody, *COUNTING, "--out", tmp_path / "right")
    lines = done.out.splitlines()
    assert done.status == 0
    assert lines[0] == "moody: 4 adaptive tests by the method state-counting, each run 20 times, of 3 states"
    assert "at most 3 states" in lines[2]
    assert "was seen when the test was run 20 times" in lines[2]
    assert lines[3].startswith("PASS: every answer is one that the model allows (80 paths")
    data = otf("suite", moody, *COUNTING, "--set", "after=Paid", "--out", tmp_path / "wrong", "--json").data
    assert (data["verdict"], data["paths"], data["runs"], data["ran"]) == ("fail", 80, 20, 80)


def test_a_fixed_list_names_the_methods_that_decide(moody: Path) -> None:
    """A method for fixed lists cannot follow a model that leaves a choice; the error names the adaptive methods."""
    assert "decide by the outputs (state-counting, adaptive-cover)" in failed("suite", moody)


def test_an_adaptive_suite_is_written_and_run_later(moody: Path, tmp_path: Path) -> None:
    """The file holds the decisions; with another number of runs the guarantee names that number."""
    file = _written(moody)
    assert json.loads(file.read_text(encoding="utf-8"))["states"] == ["'Idle'", "'Paid'", "'Stuck'"]
    data = otf("suite", moody, "--read", file, "--json", "--out", tmp_path / "right").data
    assert (data["verdict"], data["paths"], data["method"]) == ("pass", 80, "state-counting")
    data = otf("suite", moody, "--read", file, "--runs", "3", "--dry", "--json").data
    assert (data["paths"], "the test was run 3 times" in data["guarantee"]) == (12, True)
    done = otf("suite", moody, "--read", file, "--set", "after=Paid", "--out", tmp_path / "wrong")
    assert done.status == 1
    assert "the parameters have changed since the suite was written: after is 'Paid' and was 'Idle'" in done.out


def test_an_adaptive_suite_that_lost_tests_promises_nothing(moody: Path) -> None:
    """With one test left there is no guarantee; additional tests do not matter."""
    file = _written(moody, tests=[0])
    said = otf("suite", moody, "--read", file, "--dry").out
    assert "for every implementation" not in said
    assert "4 of the 4 paths that the method state-counting generates from this model are not in the file" in said
    tests = json.loads(_written(moody).read_text(encoding="utf-8"))["tests"]
    assert "at most 3 states" in otf("suite", moody, "--read", _written(moody, tests=[*tests, 0]), "--dry").out


def test_another_model_is_refused(moody: Path) -> None:
    """The states of another model have other numbers, so its decisions would be wrong."""
    said = failed("suite", moody, "--read", _written(moody), "--set", "model=Paid")
    assert "the model has changed since the suite was written; write it again" in said


CHANGES: list[dict[str, Any]] = [
    {"decisions": [[0, [[1, 0]]]]},
    {"decisions": [[2, []]], "tests": [0]},
    {"decisions": [[-1, []]], "tests": [0]},
    {"decisions": [[0, [["x", 0]]]]},
    {"decisions": [[0]]},
    {"decisions": None},
    {"tests": [99]},
    {"tests": [-1]},
    {"runs": "many"},
    {"parameters": []},
]


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_a_file_of_decisions_that_was_changed_is_told(moody: Path, changes: dict[str, Any]) -> None:
    """The file may come from anyone: endless tests and numbers without a decision are refused."""
    assert "it is not a suite that --write has written" in failed("suite", moody, "--read", _written(moody, **changes))


def test_a_file_that_is_nested_too_deep_is_no_suite(tmp_path: Path) -> None:
    """The error is a message, not a defect of otf."""
    file = tmp_path / "deep.json"
    file.write_text("[" * 200_000, encoding="utf-8")
    assert "it is not a suite that --write has written" in failed("suite", "coffee", "--read", file)


def test_only_adaptive_tests_are_run_several_times(moody: Path, tmp_path: Path) -> None:
    """`--runs` is refused for lists of inputs, new ones and those of a file."""
    file = tmp_path / "suite.json"
    assert otf("suite", "coffee", "--write", file).status == 0
    for arguments in (("--method", "hsi"), ("--read", file)):
        assert "only adaptive tests are run several times" in failed("suite", "coffee", *arguments, "--runs", "2")
    for arguments in (COUNTING, ("--read", _written(moody))):
        done = otf("suite", moody, *arguments, "--runs", "0")
        assert (done.status, "'--runs': 0 is not in the range x>=1" in done.err) == (2, True)
