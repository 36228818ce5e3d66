"""What a run and its replay need does not need the tools: a copy of otf without them goes on as before."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def tools() -> list[str]:
    """Return the modules that the engine may not import."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    return next(each["forbidden_modules"] for each in settings["contracts"] if each["id"] == "engine")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a copy of otf without its tools."""
    copy = tmp_path_factory.mktemp("engine")
    for name in ("otf", "adapters", "models"):
        # with its bytecode, where there is some: otherwise each of ten commands compiles the copy anew
        shutil.copytree(ROOT / name, copy / name, symlinks=True)
    for module in [*tools(), "otf.cli.tools", "otf.cli.model_server"]:
        place = copy.joinpath(*module.split("."))
        shutil.rmtree(place) if place.is_dir() else place.with_suffix(".py").unlink()
    return copy


def otf(folder: Path, *arguments: str, status: int = 0) -> str:
    """Run a command of the copy, and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", "otf", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, input="")
    assert done.returncode == status, done.stderr
    return done.stdout


@pytest.mark.real
def test_without_the_tools_everything_else_goes_on(engine: Path) -> None:
    """Where every tool was deleted: list, step, run, show, replay, rerun, shrink, workers, --until and --resume."""
    assert "conference" in otf(engine, "list")
    assert "Coin" in otf(engine, "step", "coffee")
    assert "visited: 3 of 3 states" in otf(engine, "run", "coffee", "--seed", "1", "--until", "states", "--out", "good")
    otf(engine, "run", "coffee", "--traces", "4", "--processes", "2", "--seed", "1", "--out", "two")
    otf(engine, "run", "conference", "--set", "fault=O7", "--traces", "2", "--seed", "1", "--out", "bad", status=1)
    otf(engine, "run", "--resume", "bad", status=1)
    trace = str(next((engine / "bad").glob("path-*.strict.jsonl")).relative_to(engine))
    assert "did not come" in otf(engine, "show", trace)
    assert "FAIL (missing)" in otf(engine, "replay", trace, status=1)
    assert "FAIL (missing)" in otf(engine, "rerun", trace, status=1)
    assert "shrunk" in otf(engine, "shrink", trace, status=1)
