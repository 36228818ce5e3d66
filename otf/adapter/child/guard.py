"""A guard beside a child process: if the tester is killed, what it has started ends with it."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from typing import Final

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

    def dismiss(self) -> None:
        """End it, and do nothing. May be called again."""
        guard, self._guard = self._guard, None
        if guard is not None and guard.stdin is not None:
            # killed before its pipe is closed, which it would take for the end of the tester
            guard.kill()
            guard.wait()
            guard.stdin.close()
