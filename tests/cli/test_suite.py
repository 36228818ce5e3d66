"""`otf suite`: stated, written, read and run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import otf


def test_it_is_stated_before_it_runs(tmp_path: Path) -> None:
    """Size, steps and guarantee, then the verdict of the paths."""
    done = otf("suite", "coffee", "--out", tmp_path)
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("coffee: 7 paths, 35 steps by the method chain, of 3 states and 9 transitions")
    assert lines[1] == "completed: 5 unspecified inputs are expected to be ignored"
    assert lines[2].startswith("passed for every implementation with at most 3 states")
    assert lines[3].startswith("PASS: every answer is one that the model allows (7 paths, 35 steps")


@pytest.mark.parametrize("fault", ["dry", "free", "full"])
def test_every_fault_is_found(tmp_path: Path, fault: str) -> None:
    """A complete suite has no chance to miss one."""
    done = otf("suite", "coffee", "--set", f"fault={fault}", "--out", tmp_path, "--json")
    assert (done.status, done.data["verdict"]) == (1, "fail")
    assert done.data["failures"]


def test_a_dry_run_sends_nothing(tmp_path: Path) -> None:
    """Only the statement."""
    data = otf("suite", "coffee", "--method", "tour", "--dry", "--json", "--out", tmp_path).data
    assert (data["paths"], data["steps"], data["ignores"]) == (1, 4, False)
    assert not list(tmp_path.iterdir())


def test_a_suite_is_written_and_run_later(tmp_path: Path) -> None:
    """The file holds the inputs; the run is the same."""
    file = tmp_path / "suite.json"
    assert otf("suite", "coffee", "--method", "hsi", "--extra", "1", "--write", file).status == 0
    data = json.loads(file.read_text(encoding="utf-8"))
    assert len(data["inputs"]) == data["paths"]
    done = otf("suite", "coffee", "--read", file, "--out", tmp_path / "run")
    assert done.status == 0
    assert "at most 4 states" in done.out
    assert otf("suite", "coffee", "--read", file, "--set", "fault=free", "--out", tmp_path / "free").status == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[", "it is no suite as --write writes them"),
        ('{"inputs": []}', "it is no suite"),
        ('{"ignores": false, "method": "x", "says": "", "inputs": [[{"type": "Tea"}]]}', "the type 'Tea' is not known"),
        ('{"ignores": false, "method": "x", "says": "", "inputs": []}', "the suite has no inputs"),
    ],
)
def test_a_file_that_is_no_suite_is_told(tmp_path: Path, content: str, said: str) -> None:
    """It comes from anywhere: only inputs of the bench come out of it."""
    file = tmp_path / "suite.json"
    file.write_text(content, encoding="utf-8")
    assert said in otf("suite", "coffee", "--read", file).err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("coffee", "--method", "spi"), "did you mean spy"),
        (("coffee", "--extra", "1"), "chain takes no states beyond those of the model"),
        (("coffee", "--write", "/nowhere/suite.json", "--dry"), "--write /nowhere/suite.json"),
        (("otf.models.coffees:C1", "--dry"), "c1 is nondeterministic: in 10 there are several transitions on Button"),
    ],
)
def test_what_cannot_be_done_is_told(arguments: tuple[str, ...], said: str) -> None:
    """One message, and status 2."""
    done = otf("suite", *arguments)
    assert done.status == 2
    assert said in done.err


def test_a_model_alone_has_no_system() -> None:
    """It can be stated, and not run."""
    assert otf("suite", "otf.models.coffees:C2", "--dry").status == 0
    done = otf("suite", "otf.models.coffees:C2")
    assert (done.status, "C2" in done.err) == (2, True)
