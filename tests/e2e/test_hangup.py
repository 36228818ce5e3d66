"""The end of a terminal ends a run like SIGTERM, and nothing outlives a tester that was killed."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal

from otf.adapter.child import Child, Guard
from otf.adapters.process import open_process
from tests.adapters.harness import Baseline, python
from tests.cli.command import recorded
from tests.e2e.entities import entity, gone
from tests.e2e.tester import started

pytestmark = pytest.mark.real

DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nstart()\n"
QUIET = ("--quiescence", 60, "--silence", "timed", "--out", "out")


def test_the_terminal_has_gone(folder: Path) -> None:
    """SIGHUP interrupts a run: 129, a whole trace, and no entity is left."""
    program = entity(folder, "start()\ntell('asked')\nsilent()")
    with started(folder, "run", "conference", "--set", f"entity={program}", *QUIET, "--json") as running:
        running.told()
        done = running.ends(signal.SIGHUP, status=129)
    assert (done.data["verdict"], done.data["interrupted"]) == ("inconclusive", True)
    assert recorded(folder / "out" / "path-0001.jsonl")[-1]["why"] == "interrupted"
    assert gone(folder)


def test_nobody_is_to_care_that_the_terminal_has_gone(folder: Path) -> None:
    """Where it was ignored at the start, as nohup has it, a run goes on."""
    program, before = entity(folder, "start()\ntell('asked')\nsilent()"), signal.getsignal(signal.SIGHUP)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # whoever is started inherits that
    try:
        with started(folder, "run", "conference", "--set", f"entity={program}", *QUIET) as running:
            running.told()
            running.process.send_signal(signal.SIGHUP)
            assert running.lives(0.3)
            running.ends(signal.SIGTERM, status=143)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert gone(folder)


@pytest.mark.parametrize("more", ["", "os.fork()\n", "os.fork() or os.closerange(0, 100)\n"])
def test_who_hears_nothing_ends_with_a_tester_that_was_killed(folder: Path, more: str) -> None:
    """An entity that neither reads nor heeds SIGTERM is killed with the tester, and what it has started is."""
    program = entity(folder, f"{DEAF}tell('asked')\n{more}time.sleep(600)")
    with started(folder, "run", "conference", "--set", f"entity={program}", *QUIET) as running:
        running.told()
        running.ends(signal.SIGKILL, status=-signal.SIGKILL)
    assert gone(folder)


def test_a_child_outlives_the_thread_that_started_it() -> None:
    """It is the tester's, and not the thread's: a death with the thread would be taken for a failure of the system."""
    made: list[Child] = []
    thread = threading.Thread(target=lambda: made.append(Child(python("import time; time.sleep(1000)"))))
    thread.start()
    thread.join()
    [child] = made
    assert not os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    child.signal(signal.SIGKILL)
    child.close()


async def come_and_go() -> None:
    """Start a process, and stop it."""
    async with open_process(python("print('ready', flush=True); input()")):
        pass


def test_a_guard_goes_with_its_child() -> None:
    """Nothing is left of it, and it has killed nobody."""
    before = Baseline()
    with start_blocking_portal() as portal:
        portal.call(come_and_go)
    assert not before.lasting_leaks()
    guard = Guard(os.getpid())
    guard.dismiss()
    guard.dismiss()
    assert not before.lasting_leaks()


def test_without_a_shell_there_is_no_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child is started all the same."""
    monkeypatch.setattr("otf.adapter.child._SHELL", "/nowhere/sh")
    with start_blocking_portal() as portal:
        portal.call(come_and_go)
