"""Every test of the command line runs in an empty folder of its own."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from otf.runner.lookout import Lookout
from tests.always import always
from tests.cli.command import machine, otf


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in an empty folder, and forget afterwards the modules that were loaded from there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # a pipe has this width, if it is set
    monkeypatch.setattr(sys, "path", sys.path.copy())
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        if str(tmp_path) in str(
            (sys.modules[name].__dict__.get("__file__"), sys.modules[name].__dict__.get("__path__"))
        ):
            del sys.modules[name]
    importlib.invalidate_caches()


@pytest.fixture
def trace(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trace of a failing path: 10 cents, the button, and no coffee; however busy this machine is."""
    monkeypatch.setattr(Lookout, "stalled", always(0.0))
    machine(folder)
    strict = ("--mode", "strict", "--seed", 1, "--traces", 1, "--out", "out")
    otf("run", "machine.py:make", "--set", "broken=true", *strict)
    return folder / "out" / "path-0001.shrunk.jsonl"
