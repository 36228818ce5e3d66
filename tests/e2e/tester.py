"""The command line in a process of its own, as a user starts it, to be interrupted."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.cli.command import Result
from tests.e2e.entities import SECONDS

# the first word of the process says that it has come to the code of otf: what is before that is Python's own start
START = "import otf.cli, otf.cli.signals as s; {more}print('up', flush=True); otf.cli.main()"


@dataclass
class Tester:
    """A tester that runs."""

    process: subprocess.Popen[str]
    pipe: int

    def told(self) -> None:
        """Wait until an entity has called `tell` once more: the moment has come."""
        word = b""
        while not word.endswith(b"\n"):
            assert readable(self.pipe), "the moment did not come"
            word += os.read(self.pipe, 1)

    def lives(self, seconds: float) -> bool:
        """Let it run for so long, if it does not end before."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.returncode is None

    def ends(self, *signals: signal.Signals, status: int | None = None) -> Result:
        """Send signals; wait for its end, which is without a traceback."""
        for number in signals:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=SECONDS)
        assert "Traceback" not in err
        assert "Exception ignored" not in err
        assert status is None or self.process.returncode == status, (self.process.returncode, out, err)
        return Result(self.process.returncode, out, err)


@contextmanager
def started(folder: Path, *arguments: object, more: str = "") -> Generator[Tester]:
    """Start the command line; it is there once it has come to its own code. Entities `tell` through a pipe."""
    pipe = _pipe(folder / "told")
    words = [sys.executable, "-c", START.format(more=more), *map(str, arguments)]
    open_pipe = subprocess.PIPE
    # a group of its own: where the one of pytest has no terminal any more, the kernel halts nothing in it (SIGTSTP)
    with subprocess.Popen(
        words, text=True, cwd=folder, stdin=open_pipe, stdout=open_pipe, stderr=open_pipe, process_group=0
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "up\n"
            yield Tester(process, pipe)
        finally:
            process.kill()
            os.close(pipe)


def _pipe(name: Path) -> int:
    if not name.exists():
        os.mkfifo(name)
    # for writing too: otherwise it would be at its end whenever no entity has it open
    return os.open(name, os.O_RDWR | os.O_NONBLOCK)


def readable(descriptor: int) -> bool:
    """Wait until something can be read, if that is not long."""
    return bool(select.select([descriptor], [], [], SECONDS)[0])
