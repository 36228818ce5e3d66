"""pytest whose process is ended by a system in it has not passed, with workers and without."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.test_ended_inside import BENCH
from tests.plugin.session import PLUGIN, Session

pytestmark = pytest.mark.real

TESTS = """
import atexit
import threading
import ends

def test_before(): pass

def test_it(otf_run):
    otf_run(ends.bench, how={how!r}, place={place!r})
"""
SAYS = "pytest was ended from inside"


def end(folder: Path, how: str, *arguments: str, place: str = "system", more: str = "") -> tuple[int, str]:
    """Run the tests in a process of its own; return its status and what it said."""
    (folder / "ends.py").write_text(BENCH, encoding="utf-8")
    (folder / "test_ends.py").write_text(TESTS.format(how=how, place=place) + more, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", *PLUGIN, "-q", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("how", ["_exit", "fails", "exit of C", "exec", "timer", "parent after a fork"])
def test_a_system_that_ends_pytest(tmp_path: Path, how: str) -> None:
    """The status is 3, and a sentence names the test."""
    status, said = end(tmp_path, how)
    assert (status, SAYS in said, "(test_ends.py::test_it)" in said) == (3, True, True)


@pytest.mark.parametrize(("more", "status"), [("", 3), ("\n\ndef test_fails(): assert False\n", 1)])
def test_a_handler_at_the_exit(tmp_path: Path, more: str, status: int) -> None:
    """It turns no failure into a pass, and no pass stays one."""
    register = "\natexit.register(ends.ENDS['_exit'])\n"
    assert end(tmp_path, "hang", place="nowhere", more=register + more)[0] == status


@pytest.mark.parametrize(("more", "status"), [("", 0), ("\n\ndef test_fails(): assert False\n", 1)])
def test_who_ends_by_itself(tmp_path: Path, more: str, status: int) -> None:
    """The status is pytest's own, and so is all that it says."""
    done, said = end(tmp_path, "hang", "--junitxml=report.xml", place="nowhere", more=more)
    assert (done, SAYS in said, said.count("passed")) == (status, False, 1)
    assert 'name="test_it"' in (tmp_path / "report.xml").read_text(encoding="utf-8")


def test_threads_that_run_already(tmp_path: Path) -> None:
    """They are not lost: there `os._exit` does not give status 0."""
    more = "\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    status, said = end(tmp_path, "_exit", more=more)
    assert (status, SAYS in said) == (3, True)


def test_a_worker(tmp_path: Path) -> None:
    """pytest-xdist tells it."""
    status, said = end(tmp_path, "_exit", "-n", "2")
    assert (status, "crashed while running" in said) == (1, True)


def test_runs_that_programs_start(session: Session) -> None:
    """A program that calls pytest, as here, stays one process."""
    here = f"import os\n\ntest_it = coffee.bench()\n\ndef test_process(): assert os.getpid() == {os.getpid()}"
    assert session.of(here).counts == {"passed": 2}
