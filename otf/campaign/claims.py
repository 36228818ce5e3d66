"""Folders of traces: each belongs to one run, so that no run overwrites or takes for its own what another has left."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from otf.errors import UsageError
from otf.runner.files import writing

_TRACES: Final = re.compile(r"(path|saved)-.*\.jsonl")


def claimed(out: Path, name: str, *, joins: bool) -> int:
    """Make the file of that name in a folder, and hold it; return its descriptor.

    The folder may hold other things, but no traces of a run, and no other run may be writing there; with `joins` only
    the latter counts. The hold ends with the descriptor, and so with the process. Raises UsageError.
    """
    file, flags = out / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    with writing(out, "the folder", "choose another with --out"):
        out.mkdir(parents=True, exist_ok=True)
        left = [] if joins else sorted(each.name for each in out.iterdir() if _TRACES.fullmatch(each.name))
        if left:
            raise _taken(out, f"it holds the traces of another run ({left[0]})")
        try:
            descriptor = os.open(file, flags | (0 if joins else os.O_EXCL), 0o666)
        except FileExistsError:
            raise _taken(out, _whose(file)) from None
    if not _held(descriptor):
        os.close(descriptor)
        raise _taken(out, BUSY)
    return descriptor


BUSY: Final = "another run is writing its traces there"


def _taken(out: Path, why: str) -> UsageError:
    return UsageError(f"{out}: {why}; choose another folder with --out, or remove this one")


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
    """Hold a file as long as it is open; return False where another process holds it."""
    try:
        import fcntl
    except ImportError:
        return True  # Windows has no such locks: there only what a run has left keeps others out
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
