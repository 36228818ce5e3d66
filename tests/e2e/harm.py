"""Harm done to a system at some moment of a run, by a thread that knows nothing of the tester's waiting."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event as Flag
from threading import Timer
from typing import Final

from otf.trace.events import Event

NEVER: Final = float("inf")
LOOK: Final = 0.0002  # seconds between two looks at whether it has worked,
LONGEST: Final = 1.0  # and for how long one looks
SIGNALS: Final = {"kill": signal.SIGKILL, "segv": signal.SIGSEGV, "stop": signal.SIGSTOP, "none": 0}


@dataclass
class Harm:
    """What is done to a process so many seconds after an event of its run, or `at_once`: before it has begun.

    `how` is `kill`, `segv`, `stop`, or the way in which the process cuts its wire when it gets SIGUSR1. By the clock of
    this machine `struck` is when that was done, with `before` events told, and `felt` when the process was seen to be
    dead, stopped or cut off; both are never where that did not happen.
    """

    how: str = "none"
    after: int = 0
    delay: float = 0.0
    at_once: bool = False
    struck: float = NEVER
    before: int = 0
    felt: float = NEVER
    events: list[Event] = field(default_factory=list[Event])
    moments: list[float] = field(default_factory=list[float])
    _timer: Timer | None = None

    @property
    def cut(self) -> str:
        """How the process is to cut its wire if it is told to."""
        return "close" if self.how in SIGNALS else self.how

    def told(self, event: Event) -> None:
        """Take an event of the run, with the moment at which it was told."""
        self.events.append(event)
        self.moments.append(time.monotonic())
        if len(self.events) == self.after and self._timer is not None:
            self._timer.start()

    @contextmanager
    def awaiting(self, pid: int, sign: Path) -> Generator[None]:
        """Be ready to strike a process that is there now; the file `sign` says that it has cut its wire."""
        # a descriptor: the number of a process might be somebody else's by the time it is used
        process, over = os.pidfd_open(pid), Flag()
        self._timer = Timer(self.delay, self._strike, (process, pid, sign, over))
        try:
            if self.at_once:
                self._strike(process, pid, sign, over)
            yield
        finally:
            self._timer.cancel()
            over.set()
            if self._timer.ident is not None:
                self._timer.join()
            os.close(process)

    def _strike(self, process: int, pid: int, sign: Path, over: Flag) -> None:
        struck, before = time.monotonic(), len(self.events)
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(process, SIGNALS.get(self.how, signal.SIGUSR1))
            self.struck, self.before = struck, before
            while not self._works(process, pid, sign):
                if over.wait(LOOK) or time.monotonic() > struck + LONGEST:
                    return
            self.felt = time.monotonic()

    def _works(self, process: int, pid: int, sign: Path) -> bool:
        match self.how:
            case "kill" | "segv":
                return bool(select.select([process], [], [], 0)[0])
            case "stop":
                state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
                return state == "T"
            case _:
                return sign.exists()
