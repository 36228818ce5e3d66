"""Code of a bench that would end the program: it is reported as an error, and never as a pass."""

import subprocess
import sys
from pathlib import Path

import pytest

from otf.cli.app import call
from tests.cli.command import otf

BENCH = """
import asyncio
import sys
from dataclasses import dataclass

from otf import Bench, Spec, goto
from otf.adapter import Life
from otf.adapters import inprocess


@dataclass(frozen=True)
class Go: ...


@dataclass(frozen=True)
class Gone: ...


class Strange(BaseException): ...


RAISES = {
    "exit": lambda: sys.exit(0),
    "strange": lambda: (_ for _ in ()).throw(Strange("boo")),
    "cancelled": lambda: (_ for _ in ()).throw(asyncio.CancelledError()),
}
HERE = ["", "", 0]


def here(place):
    if place == HERE[0]:
        HERE[2] += 1
        if HERE[2] > (0 if place == "port" else 2):  # the port of an input is asked once
            RAISES[HERE[1]]()


def step(state, inp):
    here("step")
    yield goto(state + 1, Gone())


def inputs(state):
    here("inputs")
    return [Go()]


class Codec:
    types = (Go, Gone)

    def port(self, value):
        here("port")
        return "p"

    def encode(self, value):
        here("encode")
        return b"go"

    def decode(self, port, data):
        here("decode")
        return Gone()


def take(data):
    here("system")
    return [b"gone"]


def lazily(data):
    here("system")
    yield b"gone"


def make():
    here("make")
    return take


def act(inp):
    here("act")
    return [Gone()]


def made():
    here("made")
    return act


class Departs:
    says = "known"

    def shows(self, failure):
        here("departure")
        return False


def hook():
    here("hook")


async def waiting():
    here("hook")


def bench(place: str = "", how: str = "exit", kind: str = ""):
    HERE[:] = [place, how, 0]
    spec = Spec(step, 0, inputs)
    if place in {"act", "made"}:
        return Bench(spec, system=made, types=(Gone,))
    life = Life(health=waiting if kind == "async" else hook)
    port = inprocess((lambda: lazily) if kind == "lazy" else make)
    return Bench(spec, ports={"p": port}, codec=Codec(), quiescence=0.0, latency=0.0, busy=0.0, life=life)
"""


@pytest.fixture(autouse=True)
def exits(folder: Path) -> None:
    """Write the bench."""
    (folder / "exits.py").write_text(BENCH, encoding="utf-8")


HOW = [("exit", "SystemExit"), ("strange", "Strange: boo"), ("cancelled", "CancelledError")]
FEW = ("--traces", 5, "--steps", 5, "--seed", 1, "--out", "out", "--no-saved")


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("how", "name"), HOW)
@pytest.mark.parametrize("place", ["step", "inputs", "port", "encode", "decode"])
def test_a_model_or_a_codec(place: str, how: str, name: str, jobs: int) -> None:
    """Of a model and a codec it is an error of the model: status 2, and where it was raised."""
    done = otf("run", "exits.py", *FEW, "--set", f"place={place}", "--set", f"how={how}", "--jobs", jobs)
    assert done.status == 2
    assert name in done.err


@pytest.mark.parametrize(("how", "name"), HOW)
@pytest.mark.parametrize(("place", "kind"), [("system", ""), ("system", "lazy"), ("act", "")])
def test_a_system(place: str, kind: str, how: str, name: str) -> None:
    """Of a system under test it is its end, and the model did not expect one."""
    sets = ("--set", f"place={place}", "--set", f"how={how}", "--set", f"kind={kind}")
    done = otf("run", "exits.py", *FEW, *sets, "--json")
    assert done.status == 1
    (failure,) = done.data["failures"]
    assert failure["signature"].startswith("ended: ")
    assert f"raised {name}" in Path(failure["trace"]).read_text(encoding="utf-8")


@pytest.mark.parametrize(("how", "name"), HOW)
@pytest.mark.parametrize(("place", "kind"), [("hook", ""), ("hook", "async"), ("make", "")])
def test_what_starts_a_system(place: str, kind: str, how: str, name: str) -> None:
    """Of a hook, and of what makes a system, it is trouble with the start: status 3."""
    done = otf("run", "exits.py", *FEW, "--set", f"place={place}", "--set", f"how={how}", "--set", f"kind={kind}")
    assert done.status == 3
    assert name in done.out


@pytest.mark.parametrize("command", ["explore", "check", "step", "suite"])
def test_a_model_that_is_looked_at(command: str) -> None:
    """Where only the model is looked at, it is not a success either."""
    done = otf(command, "exits.py", "--set", "place=step", stdin=b"Go\n" * 5)
    assert done.status in {2, 3}
    assert "SystemExit" in done.err


def test_a_broken_pipe_of_the_bench_is_no_page_of_help_without_a_reader(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A strategy that raises it ends the run with an error, not with status 0."""
    lines = "class Own:\n    def choose(self, view):\n        raise BrokenPipeError(32, 'gone')\n"
    (folder / "own.py").write_text(lines, encoding="utf-8")
    assert call(["run", "coffee", "--strategy", "own.py:Own", "--traces", "1"]) == 2
    assert "BrokenPipeError: [Errno 32] gone" in capsys.readouterr().err


@pytest.mark.real
def test_a_failure_that_was_told_stays_one() -> None:
    """A system that ends the command after a failure was told does not make it undecided."""
    program = "import os; from otf.supervisor import failed, supervise; supervise('it'); failed(); os._exit(0)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "it was ended from inside with status 0" in done.stderr
    assert "its status was to be 1" in done.stderr
    assert done.returncode == 1
