"""Beside a child process: a guard that kills it if the tester is killed, and whether a process is stopped."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

from otf.adapter.rest.started import ended, started

_SHELL: Final = "/bin/sh"
_SCRIPT: Final = 'read -r _ || kill -s KILL -- "-$0"'


class Guard:
    """Waits beside a process and its group until the tester has gone, and kills them then; `dismiss` ends it.

    The kernel closes a pipe of the tester's however that ends, so that nothing of it has to be alive. A signal of the
    kernel's own at the death of a parent (PDEATHSIG) would come at the end of the thread that started the process,
    would not reach what that has started in turn, and is to be asked for between fork and exec, where a program with
    threads may hang.
    """

    def __init__(self, group: int) -> None:
        self._guard: subprocess.Popen[bytes] | None = None
        with suppress(OSError):  # there is no shell: a child then ends by itself when its input ends, or not
            self._guard = subprocess.Popen(  # noqa: S603 -- our own script, and a number
                [_SHELL, "-c", _SCRIPT, str(group)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            started(self._guard.pid, helper=True)

    def dismiss(self) -> None:
        """End it, and do nothing. May be called again."""
        guard, self._guard = self._guard, None
        if guard is not None and guard.stdin is not None:
            # killed before its pipe is closed, which it would take for the end of the tester
            guard.kill()
            guard.wait()
            guard.stdin.close()
            ended(guard.pid)


PROC: Final = Path("/proc")
_STOPPED: Final = {b"T": "by SIGSTOP or Ctrl-Z", b"t": "by a debugger"}


def halted(pid: int) -> str:
    """Return that a process is stopped, and what to do about it; empty where it runs, or where that cannot be known."""
    try:
        # asked at each silence, and three times as fast as with a path object
        stat = os.open(f"{PROC}/{pid}/stat", os.O_RDONLY)
        try:
            # the name of the program stands before the state, in brackets, and may have brackets itself
            state = os.read(stat, 512).rpartition(b")")[2].split()[0]
        finally:
            os.close(stat)
    except (OSError, IndexError):
        return ""
    how = _STOPPED.get(state)
    return f"the process {pid} is stopped {how}; let it go on with `kill -CONT {pid}`" if how else ""
