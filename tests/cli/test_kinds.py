"""Kinds of failure over several workers: the groups of one process, none lost and none doubled."""

from __future__ import annotations

from pathlib import Path

import pytest

from otf.models.conference.entity import FAULTS
from tests.cli.command import otf

pytestmark = [pytest.mark.real, pytest.mark.slow]
KINDS = 1000
BENCH = """
from dataclasses import make_dataclass

from otf.adapter import Bench
from otf.spec import Spec, goto

KINDS = 1000
INPUTS = [make_dataclass(f"Ask{number}", [], frozen=True) for number in range(KINDS)]
ANSWERS = [make_dataclass(f"Answer{number}", [], frozen=True) for number in range(KINDS)]
for kind in (*INPUTS, *ANSWERS):
    kind.__module__ = __name__
    globals()[kind.__name__] = kind


def step(state, inp):
    yield goto(state, ANSWERS[INPUTS.index(type(inp))]())


def make():
    return Bench.in_process(Spec(step, 0, [kind() for kind in INPUTS]), lambda: lambda inp: [])
"""


def test_a_thousand_kinds(folder: Path) -> None:
    """A system that answers nothing to a thousand inputs fails in exactly a thousand ways, over four lanes."""
    (folder / "kinds.py").write_text(BENCH, encoding="utf-8")
    call = ("kinds.py:make", "--seed", 1, "--traces", 3000, "--steps", 1, "--no-saved", "--no-shrink", "--json")
    found = otf("run", *call, "--strategy", "least-input", "--processes", 2, "--jobs", 2, "--out", "out").data
    assert len(found["failures"]) == KINDS
    assert sum(each["count"] for each in found["failures"]) == found["paths"] == 3000
    assert len({each["signature"] for each in found["failures"]}) == KINDS


@pytest.mark.parametrize("fault", [*FAULTS])
def test_the_faults_of_the_conference(folder: Path, fault: str) -> None:
    """Over four workers each fault has the groups that one process finds with four jobs."""
    assert folder.exists()
    call = ("conference", "--set", f"fault={fault}", "--seed", 5, "--traces", 8, "--no-saved", "--no-shrink", "--json")
    one = otf("run", *call, "--jobs", 4, "--out", "one").data
    four = otf("run", *call, "--processes", 4, "--out", "four").data
    assert _groups(four) == _groups(one)
    assert four["paths"] == one["paths"] == 8


def _groups(data: dict[str, list[dict[str, object]]]) -> dict[object, object]:
    return {each["signature"]: each["count"] for each in data["failures"]}
