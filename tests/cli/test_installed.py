"""Other packages add benches and commands, by their entry points."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """\
'''A bench of another package.'''
from otf.models.coffee import bench as _coffee

def machine(*, cups: int = 3):
    return _coffee()

def brew(cups: int = 1) -> int:
    '''Brew some cups.'''
    from otf import UsageError
    if cups > 2:
        raise UsageError("too many cups")
    print("brewed", cups)
    return 3
"""
ENTRY_POINTS = """
[otf.benches]
kitchen = kitchen_bench:machine
broken = no_such_module
[otf.commands]
brew = kitchen_bench:brew
list = kitchen_bench:brew
lost = no_such_module:lost
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a folder with the package `kitchen` installed in it."""
    about = tmp_path / "kitchen-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: kitchen\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    (tmp_path / "kitchen_bench.py").write_text(CODE)
    return tmp_path


def otf(site: Path, *arguments: str) -> tuple[int, str]:
    """Run a command where the package is installed; return its status and what it says."""
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-m", "otf", *arguments]
    done = subprocess.run(
        command, cwd=site, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr


@pytest.mark.real
def test_a_bench_of_another_package_is_found_by_its_name(site: Path) -> None:
    """It runs, takes its parameters, and stands in the list; one that is broken is named and spoils nothing."""
    status, text = otf(site, "run", "kitchen", "--set", "cups=2", "--traces", "2", "--seed", "1", "--no-saved")
    assert (status, "PASS" in text) == (0, True), text
    status, text = otf(site, "list")
    assert status == 0
    assert "kitchen         A bench of another package." in text
    assert "cups=3 quiescence=" in text
    assert "no_such_module" in text
    status, text = otf(site, "run", "kitchn")
    assert (status, "did you mean kitchen?" in text) == (2, True), text


@pytest.mark.real
def test_a_command_of_another_package_is_one_of_otf(site: Path) -> None:
    """It stands in the help, has a page of its own, ends with its status, and its errors are messages."""
    assert "brew" in otf(site, "--help")[1]
    assert "Brew some cups." in otf(site, "brew", "--help")[1]
    assert otf(site, "brew", "--cups", "2") == (3, "brewed 2\n")
    assert otf(site, "brew", "--cups", "9") == (2, "otf: too many cups\n")
    status, text = otf(site, "lost")
    assert status == 2
    assert "the package kitchen cannot be imported: ModuleNotFoundError" in text
    status, text = otf(site, "brwe")
    assert "did you mean brew?" in text
    assert "brewed" not in otf(site, "list")[1]
