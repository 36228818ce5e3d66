"""The search for published defects, on two versions of a machine that stand for a package."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from benchmarks.defects import blind
from benchmarks.defects.blind import Hunt
from benchmarks.defects.environments import MADE, running
from benchmarks.defects.published import Defect
from otf import Bench, Spec, goto
from otf.errors import ContactError
from otf.models.coffee import bench


def _hunt(folder: Path, bad: str, fixed: str, *violates: str, seconds: float = 0.5) -> Hunt:
    """Return the search in a machine whose version is the fault that it has."""
    for version in (bad, fixed):
        (folder / f"pypi-coffee-{version}").mkdir(exist_ok=True)
        (folder / f"pypi-coffee-{version}" / MADE).touch()
    defect = Defect(
        package="coffee",
        bad=bad,
        fixed=fixed,
        bench=lambda argv: bench(fault=Path(argv[0]).parents[1].name.removeprefix("pypi-coffee-")),
        server="coffee.py",
        advisory="GHSA-1",
        says="no coffee for two coins",
        violates=violates,
    )
    return Hunt(defect, folder, seconds=seconds, steps=10, learning=0.1, least=0.0)


def test_what_fails_on_the_bad_version_alone_is_the_defect(tmp_path: Path) -> None:
    """It is shrunk, and the fixed version passes the same run."""
    row = _hunt(tmp_path, "dry", "none", seconds=30.0).run()
    assert (row["found"], row["common"]) == (True, [])
    assert [each["shrunk"] for each in row["differences"]] == [2]


def test_what_fails_on_both_versions_is_not_the_defect(tmp_path: Path) -> None:
    """It is named as common to both, once or by the way in which it was seen, and the search goes on without it."""
    row = _hunt(tmp_path, "dry", "dry", seconds=2.0).run()
    assert (row["found"], row["differences"]) == (False, [])
    assert row["common"]


def test_a_difference_of_another_kind_is_not_the_defect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A defect that says what it violates is found only by a failure that cites it."""
    monkeypatch.setattr(blind, "monotonic", count(0, 10).__next__)  # time for one campaign, which ends by its failure
    row = _hunt(tmp_path, "dry", "none", "R1", seconds=25.0).run()
    assert row["found"] is False
    assert {each["is it"] for each in row["differences"]} == {False}


def _echo(argv: Sequence[str]) -> Bench:
    """Return the bench of an echo that answers nothing right to the letters in its version."""
    wrong = Path(argv[0]).parents[1].name.removeprefix("pypi-coffee-")
    spec = Spec(lambda state, inp: [goto(state, inp)], 0, ["a", "b", "c", "d"])

    def device() -> Callable[[str], list[str]]:
        return lambda inp: ["?" if inp in wrong else inp]

    return Bench.in_process(spec, device, types=(str,))


def test_failures_of_the_same_signature_do_not_hide_a_defect(tmp_path: Path) -> None:
    """Both versions are wrong in a way that looks like the defect; one input of it is enough to tell them apart."""
    hunt = _hunt(tmp_path, "abc", "ac", seconds=30.0)
    hunt.defect = replace(hunt.defect, bench=_echo)
    row = hunt.run()
    assert [each["failure"] for each in row["differences"]] == ["'b': '?'"]
    assert all(each.endswith("version)") for each in row["common"])


def test_one_server_serves_all_paths_if_the_defect_says_how_it_is_reached(tmp_path: Path) -> None:
    """It prints its port, and ends with the search; one that prints none is an error."""
    asked = list[str]()

    def at(address: str) -> Bench:
        asked.append(address)
        return bench()

    defect = replace(_hunt(tmp_path, "dry", "none").defect, at=at)
    says = "import time; print(7, flush=True); time.sleep(60)"
    with running(defect, [sys.executable, "-c", says]) as made:
        assert (made.name, asked) == ("coffee", ["127.0.0.1:7"])
    with pytest.raises(ContactError, match="did not print its port"), running(defect, [sys.executable, "-c", ""]):
        pass
