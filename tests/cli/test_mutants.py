"""`otf mutants`: whether the tester finds every mutant of a bench."""

from pathlib import Path

import pytest

from tests.cli.command import failed, machine, otf, recorded
from tests.cli.test_truth import BENCHES

HIDDEN = """

def faulty(fault: str = "none"):
    kinds = {"dry": "no coffee", "shy": "none that could be seen"}
    if fault == "gone":
        raise RuntimeError("no such machine")
    system = inprocess(lambda: machine(fault == "dry"), port="slot")
    ports = {"slot": inprocess(lambda: [][0], port="slot") if fault == "lost" else system}
    return Bench(spec, ports=ports, codec=codec, quiescence=0.0, latency=0.0, busy=0.0, mutants=kinds | MORE)


MORE = {}
"""


def test_every_mutant_is_found() -> None:
    """For the shipped coffee machine: status 0, a line for each mutant, and their number."""
    done = otf("mutants", "coffee", "--out", "out")
    lines = done.out.splitlines()
    assert done.status == 0
    assert [line.split()[0] for line in lines[:-1]] == ["dry", "free", "full"]
    assert all("found after" in line and "shrunk to" in line for line in lines[:-1])
    assert lines[-1] == "3 of 3 mutants found; traces: out/"


def test_the_document_lists_the_mutants() -> None:
    """With --json: for each mutant whether, after how many steps and in how short a trace it was found."""
    rows = otf("mutants", "coffee", "--fault", "dry", "--fault", "free", "--json").data
    assert [row["fault"] for row in rows] == ["dry", "free"]
    assert all(row.keys() == {"fault", "found", "steps", "shrunk", "trace"} for row in rows)
    assert all(recorded(Path(row["trace"]))[-1]["steps"] == row["shrunk"] for row in rows)


def test_a_mutant_that_is_not_found(folder: Path) -> None:
    """A mutant that cannot be distinguished uses the whole budget: status 1, and it is named."""
    machine(folder, more=HIDDEN)
    done = otf("mutants", "machine.py:faulty", "--budget", 30, "--out", "out")
    assert done.status == 1
    assert "shy  NOT found in 30 steps" in done.out
    assert done.out.endswith("1 of 2 mutants found; traces: out/\n")
    hidden = otf("mutants", "machine.py:faulty", "--budget", 30, "--fault", "shy", "--json").data
    assert hidden == [{"fault": "shy", "found": False, "steps": 30, "shrunk": None, "trace": None}]


def test_paths_that_were_not_decided(folder: Path) -> None:
    """A mutant that was not found on inconclusive paths is undecided: their number and their reasons are printed."""
    more = '\n\ndef unclear(fault: str = "none"):\n    return replace(vague(), mutants={"shy": "none to see"})\n'
    (folder / "benches.py").write_text(BENCHES + more, encoding="utf-8")
    call = ("mutants", "benches.py:unclear", "--budget", 30)
    done = otf(*call, "--out", "out")
    assert done.status == 3
    assert "shy  NOT found in " in done.out
    assert "inconclusive (1 path): more than 5 explanations" in done.out
    [row] = otf(*call, "--json").data
    assert [each["count"] for each in row["inconclusive"]] == [1]


def test_no_contact_ends_it(folder: Path) -> None:
    """A system that cannot be started ends the list with status 3; earlier results are printed."""
    machine(folder, {"MORE = {}": "MORE = {'lost': 'no machine', 'never': 'not reached'}"}, more=HIDDEN)
    done = otf("mutants", "machine.py:faulty", "--budget", 30)
    assert done.status == 3
    assert "dry  found" in done.out
    assert "lost stopped: the function behind port 'slot' cannot be made" in done.out
    assert "1 of 4 mutants found; not tried to the end: lost, never; traces: " in done.out
    rows = otf("mutants", "machine.py:faulty", "--budget", 30, "--json").data
    assert [row["fault"] for row in rows] == ["dry", "shy", "lost"]
    assert "cannot be made" in rows[-1]["trouble"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("coffee", "--fault", "wet"), "--fault wet: coffee ships dry, free, full"),
        (
            ("coffee", "--out", "machine.py/below"),
            "machine.py/below/dry: the folder cannot be written (Not a directory)",
        ),
        (("machine.py", "--fault", "dry"), "machine.py ships no mutants; without --fault its model is mutated"),
        (("coffee", "--operator", "swop"), "--operator swop: did you mean swap? choose among drop, double, field"),
        (("coffee", "--model", "--mode", "lazy"), "--mode lazy: choose one of eager, strict"),
        (("conference", "--set", "entity=x"), "fault= is for the reference entity only"),
        (("machine.py:faulty", "--fault", "gone"), "line 62: RuntimeError: no such machine"),
    ],
)
def test_what_cannot_be_done(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    """Unknown mutants, benches that ship none, and folders that cannot be written are errors."""
    machine(folder, {"MORE = {}": "MORE = {'gone': 'x'}"}, more=HIDDEN)
    assert message in failed("mutants", *arguments)


def test_a_document_in_spite_of_an_error(folder: Path) -> None:
    """An error in the middle is a document as well."""
    machine(folder, {"MORE = {}": "MORE = {'gone': 'x'}"}, more=HIDDEN)
    done = otf("mutants", "machine.py:faulty", "--budget", 30, "--json")
    assert (done.status, done.data["verdict"]) == (2, "error")


def test_several_copies_of_a_mutant_at_a_time() -> None:
    """The paths are others, and the shortest trace is the same."""
    one, four = (otf("mutants", "coffee", "--jobs", jobs, "--json", "--out", f"out-{jobs}").data for jobs in (1, 4))
    assert [(row["fault"], row["found"], row["shrunk"]) for row in one] == [
        (row["fault"], row["found"], row["shrunk"]) for row in four
    ]
