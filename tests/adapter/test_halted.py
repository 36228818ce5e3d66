"""A process that is stopped is known to be: by its own line, and by a unix socket that it listens at."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from otf.adapter import child
from otf.adapters.process import open_process
from otf.adapters.unix import open_unix
from tests.adapters.harness import SECONDS, python

pytestmark = [pytest.mark.anyio, pytest.mark.real]

SLEEPS = python("import time; print('ready', flush=True); time.sleep(1000)")


async def test_a_child_that_is_stopped() -> None:
    """It says so as long as it is stopped, with what to do, and no more when it goes on or has ended."""
    async with open_process(SLEEPS) as line:
        assert line.lost() == ""
        os.kill(line.pid, signal.SIGSTOP)
        says = f"the process {line.pid} is stopped by SIGSTOP or Ctrl-Z; let it go on with `kill -CONT {line.pid}`"
        await until(lambda: line.lost() == says)
        os.kill(line.pid, signal.SIGCONT)
        await until(lambda: line.lost() == "")
        os.kill(line.pid, signal.SIGKILL)
        await until(lambda: bool(line.receive()))
        assert line.lost() == ""


@pytest.mark.skipif(sys.platform != "linux", reason="who listens at a unix socket is asked of Linux")
async def test_a_server_on_a_unix_socket_that_is_stopped(tmp_path: Path) -> None:
    """It is known by the number of its process, though nobody here has started it."""
    path = str(tmp_path / "s")
    listens = f"import socket, time; s = socket.socket(socket.AF_UNIX); s.bind({path!r}); s.listen()"
    serves = python(f"{listens}; print('ready', flush=True); time.sleep(1000)")
    async with open_process(serves) as server, open_unix(path) as line:
        assert (line.pid, line.lost()) == (server.pid, "")
        os.kill(server.pid, signal.SIGSTOP)
        await until(lambda: "is stopped by SIGSTOP" in line.lost())


def test_a_name_with_brackets_and_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state stands behind the last bracket; of a process that is not there nothing is said."""
    monkeypatch.setattr(child, "PROC", tmp_path)
    for pid, stat in {1: b"1 (a) T (b) S 0", 2: b"2 (c) t 0", 3: b""}.items():
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_bytes(stat)
    found = [child.halted(pid) for pid in (1, 2, 3, 4)]
    assert [each.partition(";")[0] for each in found] == ["", "the process 2 is stopped by a debugger", "", ""]


async def until(come: Callable[[], bool]) -> None:
    """Wait until it has come about."""
    with anyio.fail_after(SECONDS):
        while not come():  # noqa: ASYNC110 -- nothing tells when a signal has worked
            await anyio.sleep(0.001)
