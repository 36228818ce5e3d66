"""`otf suite`: described, written, read and run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
def test_every_mutant_is_found(tmp_path: Path, fault: str) -> None:
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
    done = otf("suite", "coffee", "--method", "hsi", "--extra", "1", "--write", file, "--json")
    data = json.loads(file.read_text(encoding="utf-8"))
    assert (len(data["inputs"]), data["method"], data["extra"]) == (done.data["paths"], "hsi", 1)
    done = otf("suite", "coffee", "--read", file, "--out", tmp_path / "run")
    assert done.status == 0
    assert "at most 4 states" in done.out
    assert otf("suite", "coffee", "--read", file, "--set", "fault=free", "--out", tmp_path / "free").status == 1


def _written(folder: Path, **changes: Any) -> Path:  # noqa: ANN401 -- JSON
    """A file of a suite in which something was changed."""
    file = folder / "suite.json"
    assert otf("suite", "coffee", "--write", file).status == 0
    file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), **changes}), encoding="utf-8")
    return file


def test_a_suite_that_lost_paths_promises_nothing(tmp_path: Path) -> None:
    """One path is left: a faulty system passes it, and is not said to be right."""
    file = _written(tmp_path)
    left = json.loads(file.read_text(encoding="utf-8"))["inputs"][:1]
    file = _written(tmp_path, inputs=left, guarantee="passed for every implementation", says="passed for every one")
    done = otf("suite", "coffee", "--read", file, "--set", "fault=free", "--out", tmp_path / "run")
    assert done.status == 0
    assert "for every" not in done.out
    assert "6 of the 7 paths that the method chain generates from this model are not in the file" in done.out


def test_a_suite_with_more_paths_promises_the_same(tmp_path: Path) -> None:
    """Paths may be longer, and there may be others."""
    file = _written(tmp_path)
    inputs = json.loads(file.read_text(encoding="utf-8"))["inputs"]
    file = _written(tmp_path, inputs=[[*path, *inputs[0]] for path in inputs])
    assert "passed for every implementation with at most 3" in otf("suite", "coffee", "--read", file, "--dry").out


def test_another_method_than_the_file_says_promises_nothing(tmp_path: Path) -> None:
    """The paths of `chain` are called those of `hsi` for more states: some are missing. An unknown one is told."""
    file = _written(tmp_path, method="hsi", extra=2)
    assert "are not in the file: a pass guarantees" in otf("suite", "coffee", "--read", file, "--dry").out
    file = _written(tmp_path, method="hsy")
    assert (
        "what a pass guarantees is unknown: there is no method 'hsy'"
        in otf("suite", "coffee", "--read", file, "--dry").out
    )


def test_another_model_and_other_parameters_are_told(tmp_path: Path) -> None:
    """The suite runs all the same, with what it is worth by the model as it is."""
    file = _written(tmp_path, fingerprint="0-0")
    data = otf("suite", "coffee", "--read", file, "--set", "fault=dry", "--dry", "--json").data
    assert data["notes"][:2] == [
        "the parameters have changed since the suite was written: fault is 'dry' and was 'none'",
        "the model has changed since the suite was written; the current model judges",
    ]
    assert data["guarantee"].startswith("passed for every implementation with at most 3 states")
    same = otf("suite", "coffee", "--read", _written(tmp_path), "--set", "L=0.1", "--dry", "--json").data
    assert same["notes"] == ["completed: 5 unspecified inputs are expected to be ignored"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"inputs": [[{"type": "Tea"}]]}, "the type 'Tea' is not known"),
        ({"inputs": []}, "the suite has no inputs"),
        ({"inputs": None}, "it is not a suite that --write has written"),
        ({"parameters": []}, "it is not a suite that --write has written"),
    ],
)
def test_a_file_that_was_changed_is_told(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    """The file may come from anyone: only inputs of the bench are read from it."""
    assert said in otf("suite", "coffee", "--read", _written(tmp_path, **changes)).err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[", "it is not a suite that --write has written"),
        ('{"inputs": []}', "it is not a suite"),
        ("[]", "it is not a suite"),
    ],
)
def test_a_file_that_is_no_suite_is_told(tmp_path: Path, content: str, said: str) -> None:
    """The file may come from anyone: only inputs of the bench are read from it."""
    file = tmp_path / "suite.json"
    file.write_text(content, encoding="utf-8")
    assert said in otf("suite", "coffee", "--read", file).err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("coffee", "--method", "spi"), "did you mean spy"),
        (("coffee", "--extra", "1"), "chain takes no states beyond those of the model"),
        (("coffee", "--write", "/nowhere/suite.json", "--dry"), "--write /nowhere/suite.json"),
        (("coffee", "--write", "a.json", "--read", "b.json"), "leave one of them out"),
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
