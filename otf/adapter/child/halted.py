"""Whether a process of this machine is stopped: its silence says nothing about it then."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
_STOPPED: Final = {b"T": "by SIGSTOP or Ctrl-Z", b"t": "by a debugger"}


def halted(pid: int) -> str:
    """Return that a process is stopped, and what to do about it; empty where it runs, or where that cannot be known."""
    try:
        # the name of the program stands before the state, in brackets, and may have brackets itself
        state = (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()[0]
    except (OSError, IndexError):
        return ""
    how = _STOPPED.get(state)
    return f"the process {pid} is stopped {how}; let it go on with `kill -CONT {pid}`" if how else ""
