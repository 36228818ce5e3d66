"""`otf check`: what is true of a model, and which of it decides the exit status."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command import failed, otf

MODEL = """
from otf import Spec, goto

def step(level, inp):
    if level < 3:
        yield goto(level + 1)
    elif inp == "down":
        yield goto(0, "splash")

def low(level):
    return level < 3

def finite(level):
    return level < 10

number = 7
spec = Spec(step, initial=0, inputs=["up", "down"])
"""

TIMERS = """
from otf import Spec, goto, start, stop

def step(state, inp):
    yield goto("on", timers=[start("t", 1, 2)]) if inp == "a" else goto("aside", timers=[stop("t")] * careful)

def emits(state):
    if state == "on":
        yield goto("off", "x", after="t")

careful = CAREFUL
spec = Spec(step, initial="off", inputs=["a", "b"], emits=emits)
"""

LOTS = """
from itertools import count
from otf import Spec, goto

numbers = count()

def step(state, inp):
    yield goto(state, next(numbers))

spec = Spec(step, initial=0, inputs=["roll"])
"""


def written(folder: Path) -> str:
    """Write the model; return the place of its spec."""
    (folder / "tank.py").write_text(MODEL, encoding="utf-8")
    return f"{folder / 'tank.py'}:spec"


def test_all_laws_are_told_and_an_open_model_is_no_failure() -> None:
    """A model need not say everything: only a dead end would be status 1."""
    done = otf("check", "coffee")
    assert (done.status, done.err) == (0, "")
    assert [line.split(": ")[:2] for line in done.out.splitlines()[1::2]] == [
        ["deterministic", "proven"],
        ["output-deterministic", "proven"],
        ["total", "no"],
        ["input-enabled", "no"],
        ["minimal", "proven"],
        ["no dead end", "proven"],
    ]


def test_a_law_that_must_hold() -> None:
    """Only the named law decides the status."""
    assert otf("check", "coffee", "--law", "deterministic", "--law", "minimal").status == 0
    done = otf("check", "coffee", "--law", "total")
    assert done.status == 1
    assert "total: refuted: Button() is not specified in 0\n      each state specifies every input " in done.out


def test_an_invariant_and_the_shortest_way_to_where_it_is_broken(tmp_path: Path) -> None:
    """A function of the user is checked in every reachable state."""
    spec = written(tmp_path)
    assert otf("check", spec, "--invariant", f"{tmp_path / 'tank.py'}:finite").status == 0
    done = otf("check", spec, "--invariant", f"{tmp_path / 'tank.py'}:low")
    assert done.status == 1
    assert done.out.splitlines()[-4:] == [
        "always low: refuted: not in 3",
        "    1  'up' / nothing",
        "    2  'up' / nothing",
        "    3  'up' / nothing",
    ]


def test_json_is_one_document(tmp_path: Path) -> None:
    """With all laws, and the way."""
    done = otf("check", written(tmp_path), "--json")
    laws = {law["law"]: law for law in done.data["laws"]}
    assert (done.data["name"], done.data["whole"]) == ("step", True)
    assert laws["total"]["verdict"] == "refuted"
    assert laws["total"]["way"] == ["'up' / nothing", "'up' / nothing", "'up' / nothing"]


def test_within_bounds_it_is_passed() -> None:
    """Not all states were seen, and that is said."""
    done = otf("check", "conference", "--limit", 10)
    assert "deterministic: passed: " in done.out
    assert "not all were seen" in done.out


def test_what_there_is_to_ask(tmp_path: Path) -> None:
    """The errors for an unknown law and for an invariant that is not a function list the possibilities."""
    assert "--law totl: did you mean total? choose among deterministic, " in failed("check", "coffee", "--law", "totl")
    spec = written(tmp_path)
    told = failed("check", spec, "--invariant", f"{tmp_path / 'tank.py'}:number")
    assert "this is not a function of a state" in told


def test_a_model_that_draws_lots_is_an_error(tmp_path: Path) -> None:
    """It is asked twice for all that was explored."""
    (tmp_path / "lots.py").write_text(LOTS, encoding="utf-8")
    done = otf("check", f"{tmp_path / 'lots.py'}:spec")
    assert (done.status, done.out) == (2, "")
    assert "step(0, 'roll') answered differently when it was asked again: first 1 -> 0; then" in done.err


def test_a_timer_that_is_lost_decides_the_status(tmp_path: Path) -> None:
    """It has to be stopped where nothing is said of it; of a model without named timers nothing is told."""
    for careful, status in ((0, 1), (1, 0)):
        (tmp_path / f"t{careful}.py").write_text(TIMERS.replace("CAREFUL", str(careful)), encoding="utf-8")
        done = otf("check", f"{tmp_path / f't{careful}.py'}:spec")
        assert done.status == status
        assert ("no lost timer: refuted: 't' may expire in 'aside'" in done.out) is bool(status)
        assert otf("check", f"{tmp_path / f't{careful}.py'}:spec", "--law", "no unknown timer").status == 0
    assert "timer" not in otf("check", "coffee").out


REQUIRED = """
from otf import Bench, Spec, goto
from otf.spec import Requirement, Requirements

def step(level, inp):
    yield goto(min(level + 1, 3))

def low(level):
    return level < 3

def tank():
    table = Requirements([Requirement("R1", "MUST", "The tank never runs over.")])
    return Bench.in_process(Spec(step, 0, ["up"]), lambda: lambda _: [], types=(str,), requirements=table)
"""


def test_a_broken_invariant_cites_its_requirement(tmp_path: Path) -> None:
    """The text has the requirement and its sentence, JSON the id; one that holds is named, and not as violated."""
    file = tmp_path / "tank.py"
    file.write_text(REQUIRED, encoding="utf-8")
    done = otf("check", f"{file}:tank", "--invariant", f"{file}:low=R1")
    assert done.status == 1
    assert "always low: refuted: not in 3 (violates R1)" in done.out
    assert done.out.endswith("violates: R1, MUST: The tank never runs over.\n")
    law = otf("check", f"{file}:tank", "--invariant", f"{file}:low=R1", "--json").data["laws"][-1]
    assert law["requirements"] == ["R1"]
    bare = otf("check", written(tmp_path), "--invariant", f"{tmp_path / 'tank.py'}:finite=R2")
    assert (bare.status, "(R2)" in bare.out, "violates" in bare.out) == (0, True, False)


PROPERTY = """
from otf.logic import always, implies, never, now, then
wet = never("splash")
falls = never(lambda step: step.input == "up" and step.outputs)
"""


def test_properties(tmp_path: Path) -> None:
    """A temporal property is proven for all runs of a model, or refuted with a shortest run, and the status is 1."""
    model = tmp_path / "level.py"
    model.write_text(MODEL + PROPERTY)
    proven = otf("check", f"{model}:spec", "--property", f"{model}:falls").out
    assert "property falls: proven: 4 states" in proven
    refuted = otf("check", f"{model}:spec", "--property", f"{model}:wet")
    assert refuted.status == 1
    assert "property wet: refuted" in refuted.out
    assert "4  'down' / 'splash'" in refuted.out
    wrong = failed("check", f"{model}:spec", "--property", f"{model}:number")
    assert "not a temporal property" in wrong
    assert "nothing of that name" in failed("check", f"{model}:spec", "--property", f"{model}:fals")
