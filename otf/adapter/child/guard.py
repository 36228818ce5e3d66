"""Around child processes: a guard that kills them if the tester is killed, and stopped processes (Linux)."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

from otf.adapter.observed_rest.orphans import ended, started

_SHELL: Final = "/bin/sh"
_SCRIPT: Final = 'read -r _ || kill -s KILL -- "-$0"'


class Guard:
    """Waits beside a process and its group until the tester has gone, then kills them; `dismiss` ends it.

    The kernel closes a pipe of the tester however it ends, so nothing of it has to be alive. The kernel's own signal at
    the death of a parent (PDEATHSIG) will not do. It comes when the thread ends that started the process, does not
    reach grandchildren, and must be requested between fork and exec, where a program with threads may hang.
    """

    def __init__(self, group: int) -> None:
        self._guard: subprocess.Popen[bytes] | None = None
        with suppress(OSError):  # without a shell, a child ends by itself when its input ends, or not at all
            self._guard = subprocess.Popen(  # noqa: S603 -- our own script, and a number
                [_SHELL, "-c", _SCRIPT, str(group)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            started(self._guard.pid, helper=True)

    def dismiss(self) -> None:
        """End the guard without killing anything. May be called again."""
        guard, self._guard = self._guard, None
        if guard is not None and guard.stdin is not None:
            # killed before its pipe is closed, which it would mistake for the end of the tester
            guard.kill()
            guard.wait()
            guard.stdin.close()
            ended(guard.pid)


PROC: Final = Path("/proc")
_STOPPED: Final = {b"T": "by SIGSTOP or Ctrl-Z", b"t": "by a debugger"}


def halted(pid: int) -> str:
    """Return that a process is stopped, and what to do about it; "" if it runs, or if that is unknown."""
    try:
        # called at each silence, and three times as fast as with a path object
        stat = os.open(f"{PROC}/{pid}/stat", os.O_RDONLY)
        try:
            # the name of the program comes before the state, in brackets, and may contain brackets itself
            state = os.read(stat, 512).rpartition(b")")[2].split()[0]
        finally:
            os.close(stat)
    except (OSError, IndexError):
        return ""
    how = _STOPPED.get(state)
    return f"the process {pid} is stopped {how}; let it go on with `kill -CONT {pid}`" if how else ""
