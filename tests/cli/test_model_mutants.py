"""`otf mutants` of a model: it is mutated and served as the system."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import failed, machine, otf

MODELS = '''
"""Models without a bench."""
from otf.spec import Spec, Where, goto

def bright(level, key):
    yield goto(0 if key == "off" else 1, Where(lambda said: isinstance(said, int), says="some brightness"))

def stuck(state, inp):
    if False: yield goto(state)

def raising(state, inp):
    if state > 3: raise RuntimeError("too many")
    yield goto(state, "ok")

def choosing(state, inp):
    yield goto(state, Where(lambda said: False, says="nothing at all"))

lamp = Spec(bright, 0, ["on", "off"], name="lamp")
none = Spec(stuck, 0, [], name="none")
raises = Spec(raising, 0, ["go"], name="raises")
unserved = Spec(choosing, 0, ["go"], name="unserved")
one = Spec(lambda state, inp: [goto(state, "yes" if inp == "a" else "no")], 0, ["a", "b"], name="one")
'''


@pytest.fixture
def models(folder: Path) -> Path:
    """A file of models."""
    (folder / "models.py").write_text(MODELS)
    return folder


def test_a_bench_without_mutants_has_its_model_mutated(folder: Path) -> None:
    """The machine in a file: most are killed, none is open, and nothing of the real machine is started."""
    machine(folder)
    done = otf("mutants", "machine.py:make", "--budget", 500, "--most", 12)
    assert done.status == 0, done.said
    assert ", 0 open" in done.out
    assert "5 rules of the model; 500 inputs or 300 s of virtual time each; eager mode" in done.out


def test_the_reason_of_a_hole_is_printed(models: Path) -> None:
    """A model that accepts any number: the mutant conforms, and the model's own words say why."""
    assert models.is_dir()
    done = otf("mutants", "models.py:lamp", "--budget", 200, "--operator", "field")
    assert done.status == 0
    assert "equivalent, allowed by the model: the model accepts any such output: some brightness" in done.out
    assert "(models.py:6)" in done.out


def test_an_open_mutant_has_a_reason_and_a_path() -> None:
    """Three inputs are too few: status 1, and inputs that show it."""
    done = otf("mutants", "coffee", "--model", "--budget", 1)
    assert done.status == 1
    assert "OPEN  " in done.out
    assert "not reached: no path came to its rule; these inputs lead there" in done.out
    rows = otf("mutants", "coffee", "--model", "--budget", 1, "--json").data
    assert rows["verdict"] == "fail"
    assert all(each["path"] for each in rows["mutants"] if each["fate"] == "open")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("models.py:none", "none: no input was enabled, and nothing is spontaneous: there is nothing to mutate"),
        ("models.py:nothing", "there is no bench 'nothing' in it"),
    ],
)
def test_what_cannot_be_mutated(models: Path, name: str, message: str) -> None:
    """A model without inputs, and one that is not there."""
    assert models.is_dir()
    assert message in failed("mutants", name)


def test_a_model_that_raises_in_states_of_mutants_only(models: Path) -> None:
    """Such mutants count for nothing."""
    assert models.is_dir()
    done = otf("mutants", "models.py:raises", "--budget", 100, "--json")
    assert done.status == 0
    assert done.data["counts"]["open"] == 0


def test_an_output_without_an_example_is_listed(models: Path) -> None:
    """Nothing satisfies the model: its input is not tried, and there is nothing else."""
    assert models.is_dir()
    assert "there is nothing to mutate" in failed("mutants", "models.py:unserved")


def test_the_time_to_spend_is_written_as_elsewhere(models: Path) -> None:
    """A thousandth of a millisecond leaves no mutant; five minutes are `5m`; no time is none to spend."""
    assert models.is_dir()
    done = otf("mutants", "models.py:one", "--spend", "0.000001s", "--json")
    assert (done.status, done.data["mutants"]) == (0, [])
    assert otf("mutants", "models.py:one", "--spend", "5m", "--most", 1, "--json").data["mutants"]
    assert "in seconds, minutes or hours" in failed("mutants", "models.py:one", "--spend", "0")
