"""`otf run --calibrate`: which times fit a system."""

import re
import sys
from pathlib import Path

import pytest

from otf.campaign.run import calibrate
from tests.cli.command import machine, otf

SLOW = {'else b"coffee"': 'else (0.02, b"coffee")'}
ROOMY = ("--set", "quiescence=0.05")


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure with less patience than a user wants."""
    monkeypatch.setattr(sys.modules[calibrate.__module__], "GENEROUS", 0.06)


def test_times_that_fit(folder: Path) -> None:
    """A machine that takes 20 ms for a coffee: the times are printed as options, with a margin."""
    machine(folder, SLOW)
    done = otf("run", "machine.py", "--calibrate", "--steps", 6, "--traces", 1, "--seed", 1, *ROOMY)
    lines = done.out.splitlines()
    assert done.status == 0
    assert re.match(r"answers to \d+ inputs?; time until the last output:", lines[0])
    assert lines[-1].startswith("  --quiescence ")
    assert " --set L=0.0" in lines[-1]


def test_times_as_a_document(folder: Path) -> None:
    """With --json the figures are seconds: no reply took less than 20 ms."""
    machine(folder, SLOW)
    data = otf("run", "machine.py", "--calibrate", "--steps", 6, "--traces", 1, "--seed", 1, *ROOMY, "--json").data
    assert data["verdict"] == "pass"
    assert data["longest"] >= data["median"] >= 0.02
    assert data["quiescence"] > data["longest"]


def test_nothing_to_measure(folder: Path) -> None:
    """A system that does not answer cannot be measured; that it should have answered is a failure."""
    machine(folder)
    done = otf(
        "run", "machine.py:make", "--set", "broken=true", "--calibrate", "--steps", 2, "--traces", 1, "--seed", 1
    )
    assert done.status == 1
    assert "the system failed, and its path was measured" in done.out
    assert done.out.endswith("there was no output, so nothing could be measured\n")


def test_no_contact(folder: Path) -> None:
    """If the system cannot be started, the message says so: status 3."""
    machine(folder, {"inprocess(lambda: machine(broken))": "inprocess(lambda: [][0])"})
    done = otf("run", "machine.py", "--calibrate")
    assert done.status == 3
    assert "otf: stopped: the function cannot be made" in done.err
