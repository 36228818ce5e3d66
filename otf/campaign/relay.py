"""The part of a cluster on its workers: it starts otf's own worker program there, and relays lines.

The program is the one that `--processes` starts, so a hanging model or a dying driver ends that process and not the
cluster's. It writes its traces to its own folder on that machine; those that count travel with the answer.
"""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
import threading
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from queue import Queue
from tempfile import mkdtemp
from typing import Final, NamedTuple

import msgspec

IDLE: Final = 60.0
"""Seconds without work after which a worker program ends, since a killed coordinator cannot say that it is over."""
ENDING: Final = 5.0  # seconds for it to end by itself

Files = dict[str, bytes]


class JobAnswer(NamedTuple):
    """The answer of a worker program, empty if it has ended, and the files that it wrote."""

    line: bytes
    files: Files


class _Job(msgspec.Struct):
    job: int


class Relay:
    """A worker program, its folder, and the jobs it was asked to do.

    >>> echo = "import sys; sys.stdin.readline(); print(sys.stdin.readline(), end='')"
    >>> relay = Relay(("-c", echo), b'{"out": ""}')
    >>> relay.ask(7, b'{"job": 7}', {}, ()).line
    b'{"job": 7}'
    >>> relay.ask(8, b'{"job": 8}', {}, ()).line  # it has ended
    b''
    >>> relay.end()
    """

    def __init__(self, command: tuple[str, ...], greeting: bytes) -> None:
        self.folder = Path(mkdtemp(prefix="otf-worker-"))
        self._waiting: dict[int, Future[bytes]] = {}
        self._lock = threading.Lock()
        self._dead = False
        self._idle: threading.Timer | None = None
        self._process = subprocess.Popen(  # noqa: S603 -- otf's own worker, by the running Python
            (sys.executable, *command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        # one thread writes lines: a program that does not read would block any lock held during the write
        self._lines = Queue[bytes]()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._write, self._read)]
        for thread in self._threads:
            thread.start()
        self._lines.put(self._greeting(greeting))

    def _greeting(self, greeting: bytes) -> bytes:
        # this process may be killed: then only the program can remove its folder
        return msgspec.json.encode({**msgspec.json.decode(greeting), "out": str(self.folder), "removes": True})

    @property
    def ended(self) -> bool:
        """Return whether the program has ended."""
        return self._dead

    def ask(self, job: int, line: bytes, files: Files, wanted: tuple[str, ...]) -> JobAnswer:
        """Have the program do something with these files in its folder; return its answer, with the files `wanted`.

        It returns, and removes, every file of the folder whose name begins with one of `wanted`.
        """
        with self._lock:
            if self._idle is not None:
                self._idle.cancel()
            done = Future[bytes]()
            if self._dead:
                return JobAnswer(b"", {})
            for name, text in files.items():
                (self.folder / Path(name).name).write_bytes(text)
            self._waiting[job] = done
            # under the lock, so that a stop can only come after it
            self._lines.put(line)
        answer = done.result()
        self._rest()
        return JobAnswer(answer, self._take_files(wanted) if answer else {})

    def stop(self, job: int, line: bytes) -> None:
        """Tell the program to stop its current work; it answers soon."""
        with self._lock:
            if job in self._waiting:
                self._lines.put(line)

    def wait(self) -> None:
        """Wait until the program has ended and its folder is removed."""
        self._process.wait()
        if self._idle is not None:
            self._idle.join()

    def end(self) -> None:
        """End the program and remove its folder."""
        self._lines.put(b"")
        try:
            self._process.wait(ENDING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(ENDING)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _take_files(self, wanted: tuple[str, ...]) -> Files:
        taken: Files = {}
        for file in sorted(self.folder.iterdir()):
            if wanted and file.name.startswith(wanted):
                taken[file.name] = file.read_bytes()
                file.unlink()
        return taken

    def _rest(self) -> None:
        with self._lock:
            if not self._waiting:
                self._idle = threading.Timer(IDLE, self.end)
                self._idle.daemon = True
                self._idle.start()

    def _write(self) -> None:
        assert self._process.stdin is not None  # noqa: S101 -- it was opened with a pipe
        # if it has ended, the reader notices
        with suppress(OSError), self._process.stdin as program:
            while line := self._lines.get():
                with suppress(OSError):
                    program.write(line + b"\n")
                    program.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 -- as above
        # after a line that is not one of its answers, the next one may be cut in the middle
        with suppress(msgspec.DecodeError), self._process.stdout as program:
            for line in program:
                try:
                    job = msgspec.json.decode(line, type=_Job).job
                except msgspec.MsgspecError:
                    # printed between the answers; if it ended this thread, those who ask would wait for ever
                    continue
                with self._lock:
                    done = self._waiting.pop(job, None)
                if done is not None:
                    done.set_result(line.rstrip(b"\n"))
        self._process.kill()
        with self._lock:
            self._dead = True
            left, self._waiting = self._waiting, {}
        for done in left.values():
            done.set_result(b"")


_RELAYS: Final[dict[str, Relay]] = {}
_STARTING: Final = threading.Lock()


def relayed(  # noqa: PLR0913, PLR0917 -- what a cluster sends to a worker
    campaign: str,
    command: tuple[str, ...],
    greeting: bytes,
    job: int,
    line: bytes,
    files: Files,
    wanted: tuple[str, ...],
) -> JobAnswer:
    """Give a campaign's worker program on this machine something to do; start it if necessary."""
    with _STARTING:
        relay = _RELAYS.get(campaign)
        if relay is None or relay.ended:
            if relay is None and not _RELAYS:
                atexit.register(_end_all)
            if relay is not None:
                relay.end()
            relay = _RELAYS[campaign] = Relay(command, greeting)
    return relay.ask(job, line, files, wanted)


def stop_relayed(campaign: str, job: int, line: bytes) -> None:
    """Have a campaign's worker program stop a job, if it runs on this machine."""
    relay = _RELAYS.get(campaign)
    if relay is not None:
        relay.stop(job, line)


def end_relay(campaign: str) -> None:
    """End a campaign's worker program on this machine, if there is one."""
    with _STARTING:
        relay = _RELAYS.pop(campaign, None)
    if relay is not None:
        relay.end()


def _end_all() -> None:
    for campaign in [*_RELAYS]:
        end_relay(campaign)
