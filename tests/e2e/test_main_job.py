"""The main job on the real thing: a conference entity behind pipes and UDP sockets."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Result, otf, recorded

pytestmark = pytest.mark.real

ROOMY = ("--set", "L=0.02", "--set", "R=0.02", "--quiescence", 0.03)


def run(*options: object) -> Result:
    """A campaign against the reference entity, with times for a busy machine."""
    return otf("run", "conference", *ROOMY, *options)


def test_a_correct_entity_passes(folder: Path) -> None:
    """The reference entity does what the model says; each trace passes again without it."""
    done = run("--traces", 2, "--steps", 30, "--seed", 1, "--out", "out")
    assert done.status == 0
    assert done.out.startswith("PASS: every answer is one that the model allows (2 paths, 60 steps, ")
    assert otf("replay", folder / "out").status == 0


def test_a_fault_from_the_run_to_the_repair(folder: Path) -> None:
    """A fault is found and shrunk; the shrunk trace fails on `replay` and `rerun`, and passes on a repaired entity."""
    data = run("--set", "fault=O9", "--seed", 1, "--stop-first", "--out", "out", "--json").data
    trace = folder / data["failures"][0]["shrunk"]["trace"]
    assert data["failures"][0]["signature"] == "missing: Conf --DataPDUin--> expected JoinPDUout, seen silence"
    assert data["failures"][0]["shrunk"]["steps"] == 2
    assert otf("replay", trace).status == 1
    assert otf("rerun", trace).status == 1
    assert otf("rerun", trace, "--set", "fault=none").status == 0


def test_mutants_over_the_wire() -> None:
    """Faults are found over real pipes and sockets, each in a trace of one step, which fails offline as well."""
    rows = otf("mutants", "conference", "--fault", "O1", "--fault", "O2", *ROOMY[:4], "--json").data
    assert [(row["fault"], row["found"], row["shrunk"]) for row in rows] == [("O1", True, 1), ("O2", True, 1)]
    assert otf("replay", *[row["trace"] for row in rows]).status == 1


def steps(trace: Path) -> Iterator[tuple[Any, list[tuple[str, str]]]]:
    """The inputs of a trace, each with its outputs; those on different ports have no order among each other."""
    outputs: list[tuple[str, str]] = []
    for line in recorded(trace):
        if line["event"] == "sent":
            outputs = []
            yield line["value"], outputs
        elif line["event"] == "seen":
            outputs.append((line["port"], str(line["value"])))
            outputs.sort()


@pytest.mark.parametrize("mode", ["strict", "eager"])
def test_the_same_seed_twice(folder: Path, mode: str) -> None:
    """One seed gives the same inputs, and a deterministic entity the same outputs to them."""
    options = ("--seed", 42, "--traces", 2, "--steps", 25, "--mode", mode)
    assert {run(*options, "--out", out).status for out in ("one", "two")} == {0}
    for name in ("path-0001.jsonl", "path-0002.jsonl"):
        one, two = (list(steps(folder / out / name)) for out in ("one", "two"))
        assert len(one) == 25
        assert one == two
