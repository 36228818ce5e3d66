"""Orphans of a system: processes whose parent has ended. The kernel gives them to the tester, if it asks for them."""

from __future__ import annotations

import os
from contextlib import suppress

from otf.adapter.rest.kernel import children
from otf.adapter.rest.started import OURS


class Orphans:
    """The children of the tester that it did not start by itself: orphans of systems, and what a bench has started.

    Orphans are reaped; what a bench has started may be waited for by the code that started it.
    """

    def __init__(self) -> None:
        pid = os.getpid()
        # the kernel gives orphans to the first thread that lives, and that one lives longest
        self._children = os.open(f"/proc/{pid}/task/{pid}/children", os.O_RDONLY | os.O_CLOEXEC)
        self._before = self.now()

    def now(self) -> set[int]:
        """Return those that are there."""
        return set(children(self._children)) - OURS

    def reap(self, pid: int) -> None:
        """Take an orphan away that has ended."""
        with suppress(ChildProcessError, ProcessLookupError):
            # what was started by this process is in its session, or leads one of its own
            if pid not in self._before or os.getsid(pid) not in {os.getsid(0), pid}:
                os.waitpid(pid, os.WNOHANG)

    def close(self) -> None:
        """Close its file."""
        os.close(self._children)
