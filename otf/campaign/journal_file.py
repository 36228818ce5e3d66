"""The file of a journal: one call writes each line, chained to the one before; it is on the disk a second later.

Its folder belongs to one campaign at a time.
"""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import time
from contextlib import suppress
from pathlib import Path
from threading import Event as Flag
from typing import Final

from otf.adapter.third_party import start_thread
from otf.errors import UsageError, WriteError
from otf.runner.writer import ADVICE, unwritten, writing
from otf.trace.reading import bounded
from otf.trace.record import LineChain

SAFE: Final = 1.0
"""Seconds until a line is on the disk: waiting for the disk at each line would cost 0.1 ms to 10 ms."""


class JournalFile:
    """The file of a journal; if it cannot be written, the campaign goes on, and `trouble` holds the first error."""

    def __init__(self, path: Path, file: int) -> None:
        self.trouble: WriteError | None = None
        self._path, self._file = path, file
        self.kept = 0
        self._chain = _chain_of(path)
        self._size = os.fstat(file).st_size
        self._written, self._ended = Flag(), Flag()
        # the disk may take longer than the system may take to answer: the event loop must not wait for it
        self._synced = start_thread(self._sync)

    def check_folder(self) -> None:
        """Raise WriteError if the folder was moved, removed or cut: another run may now have one of its name."""
        lost = self._folder_error()
        if lost is not None:
            raise lost

    def write(self, line: bytes) -> None:
        """Write a line; first end one torn by a kill or a full disk, so that no reader joins the two."""
        text, torn = self._chain.link(line), self._chain.torn
        try:
            written = text[: os.write(self._file, text)]
            self._size += len(written)
        except OSError as error:
            self.trouble = self.trouble or unwritten(self._path, error, "the log")
        else:
            for part in (written[:torn], written[torn:]):
                self._chain.take(part)
        self._written.set()

    def flush(self) -> None:
        """Do nothing: every line is written at once."""

    def close(self) -> None:
        """Wait until all lines are on the disk; note what has become of the journal and the traces."""
        self._ended.set()
        self._written.set()
        self._synced.wait()
        self.trouble = self.trouble or self._folder_error() or self._missing_traces()
        with suppress(OSError):  # the user's code closed it
            os.close(self._file)

    def _folder_error(self) -> WriteError | None:
        """Return an error if the log is not where it belongs: an unreadable campaign proves nothing."""
        with suppress(OSError):
            held = os.fstat(self._file)
            if os.path.samestat(self._path.stat(), held):
                if held.st_size >= self._size:
                    return None
                return WriteError(f"{self._path}: the log was cut while this run was writing to it; {ADVICE}")
        message = f"{self._path.parent}: the folder was moved or removed while this run was writing to it"
        return WriteError(f"{message}, or the bench changed the current folder; what was written is where it is now")

    def _missing_traces(self) -> WriteError | None:
        """Return an error if there are fewer traces than paths have left: the bench's code may have removed some."""
        with suppress(OSError), os.scandir(self._path.parent) as files:
            there = sum(each.name.endswith(".jsonl") and _begins(Path(each.path)) for each in files if each.is_file())
            if there <= self.kept:  # the journal is one more
                message = f"{self._path.parent}: of {self.kept} traces that this run wrote only {there - 1} are there"
                return WriteError(f"{message}: they were removed or emptied while it ran; {ADVICE}")
        return None

    def _sync(self) -> None:
        while not self._ended.is_set():
            self._written.wait()
            self._ended.wait(SAFE)
            self._written.clear()
            with suppress(OSError):  # a pipe, or a file system that cannot
                os.fsync(self._file)


def _chain_of(path: Path) -> LineChain:
    chain = LineChain()
    with suppress(OSError), path.open("rb") as file:
        for line in bounded(file):
            chain.take(line)
    return chain


def _begins(path: Path) -> bool:
    """Return whether a file begins like a trace; one emptied during writing begins with zeros."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(1) == b"{"
    return False


GOING: Final = 0.4
"""Seconds for a killed run to end: its work ends a moment after the killed command."""
BUSY: Final = "another run is writing its traces there"
_TRACES: Final = re.compile(r"(path|saved)-.*\.jsonl")


def claim(out: Path, name: str, *, joins: bool) -> int:
    """Create a file in a folder and lock it; return its descriptor.

    The folder may hold other files, but no traces of a run, and no other run may be writing to it; with `joins`, only
    the latter is checked. The lock ends with the descriptor, and so with the process. Raises UsageError.
    """
    file, flags = out / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    with writing(out, "the folder", "choose another with --out"):
        out.mkdir(parents=True, exist_ok=True)
        left = [] if joins else sorted(each.name for each in out.iterdir() if _TRACES.fullmatch(each.name))
        if left:
            whose, why = _whose(file) if file.exists() else "", f"it holds the traces of another run ({left[0]})"
            raise _taken_error(out, BUSY if whose == BUSY else why, continues=bool(whose))
        try:
            descriptor = os.open(file, flags | (0 if joins else os.O_EXCL), 0o666)
        except FileExistsError:
            raise _taken_error(out, _whose(file)) from None
    if not _lock(descriptor):
        os.close(descriptor)
        raise _taken_error(out, BUSY)
    return descriptor


def _taken_error(out: Path, why: str, *, continues: bool = False) -> UsageError:
    # a folder that a run is writing to must not be removed
    if why == BUSY:
        return UsageError(f"{out}: {why}; choose another folder with --out, or wait until it ends")
    this = shlex.quote(str(out))
    ways = f"`otf run --resume {this}` continues it, `otf run BENCH --into {this}` adds paths; or " if continues else ""
    return UsageError(f"{out}: {why}; {ways}choose another folder with --out, or remove this one")


def _whose(file: Path) -> str:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return f"there is a {file.name} already"
    try:
        return f"it holds the log of another run ({file.name})" if _lock(descriptor) else BUSY
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Lock a file for as long as it is open; return False if another process has locked it."""
    until = time.monotonic() + GOING
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() >= until:
                return False
            time.sleep(GOING / 20)
        else:
            return True
