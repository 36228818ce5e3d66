"""The hold on a folder of traces: it belongs to one run, so that none overwrites the traces of another."""

from __future__ import annotations

import fcntl
import os
import re
import time
from pathlib import Path
from typing import Final

from otf.errors import UsageError
from otf.runner.writer import writing

GOING: Final = 0.4
"""Seconds in which a run that was killed goes: its work ends a moment after the command that was killed."""
BUSY: Final = "another run is writing its traces there"
_TRACES: Final = re.compile(r"(path|saved)-.*\.jsonl")


def claimed(out: Path, name: str, *, joins: bool) -> int:
    """Create a file in a folder and lock it; return its descriptor.

    The folder may hold other files, but no traces of a run, and no other run may be writing to it; with `joins` only
    the second is checked. The lock ends with the descriptor, and so with the process. Raises UsageError.
    """
    file, flags = out / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    with writing(out, "the folder", "choose another with --out"):
        out.mkdir(parents=True, exist_ok=True)
        left = [] if joins else sorted(each.name for each in out.iterdir() if _TRACES.fullmatch(each.name))
        if left:
            whose = _whose(file) if file.exists() else ""
            raise _taken(out, BUSY if whose == BUSY else f"it holds the traces of another run ({left[0]})")
        try:
            descriptor = os.open(file, flags | (0 if joins else os.O_EXCL), 0o666)
        except FileExistsError:
            raise _taken(out, _whose(file)) from None
    if not _held(descriptor):
        os.close(descriptor)
        raise _taken(out, BUSY)
    return descriptor


def _taken(out: Path, why: str) -> UsageError:
    # what a run writes to now must not be removed
    advice = "choose another folder with --out, or " + ("wait until it ends" if why == BUSY else "remove this one")
    return UsageError(f"{out}: {why}; {advice}")


def _whose(file: Path) -> str:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return f"there is a {file.name} already"
    try:
        return f"it holds the log of another run ({file.name})" if _held(descriptor) else BUSY
    finally:
        os.close(descriptor)


def _held(descriptor: int) -> bool:
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
