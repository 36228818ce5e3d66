"""Finds out from its files whether a program that handles SIGALRM can arm the timer that sends it.

A handler does not prove that a timer is armed, and the kernel does not let one process see another's interval timers.
`setitimer`, `alarm` or `ualarm` arm one. A dynamically linked program names these in its file or in that of a library,
a Go program in its function table. Go's runtime handles every signal but never arms this timer. Three kinds of programs
go undetected: those that make the system call without these functions, find them by name at run time, or later load a
library that uses them.
"""

from __future__ import annotations

import mmap
import os
import re
from functools import lru_cache
from typing import Final

_CALLS: Final = (b"etitimer\0", b"larm\0")  # the ends of their names: a linker may store `alarm` as the end of `ualarm`
_OF_GO: Final = b"runtime.s"  # Go's own function, for the timer of computing time, which wakes nothing
_GO: Final = b"\xff Go buildinf:"
_CODE: Final = re.compile(r"^\S+ ..x. \S+ \S+ \d+ +(/.*)$", re.MULTILINE)
_LIBRARY: Final = re.compile(r"/(?:libc[.-]|libpthread[.-]|ld-(?:linux|musl|\d))")
"""The files of the C library itself, which defines these functions for the others."""


def arming(pid: int) -> str:
    """Return the file by which a process may arm an interval timer, "" if none can."""
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as maps:  # noqa: PTH123 -- no file of a disk
            files = dict.fromkeys(_CODE.findall(maps.read()))
    except OSError:
        return "which cannot be read"
    own = [each for each in files if not _LIBRARY.search(each)]
    linked = len(own) < len(files)
    return next((each for each in own if _may_arm(each, linked=linked)), "") if own else "which has no file"


def _may_arm(file: str, *, linked: bool) -> bool:
    try:
        told = os.stat(file)  # noqa: PTH116 -- the name may be no text
    except OSError:
        return True
    return _names_a_call(file, (told.st_dev, told.st_ino, told.st_mtime_ns), linked=linked)


@lru_cache
def _names_a_call(file: str, _version: tuple[int, ...], *, linked: bool) -> bool:
    try:
        with open(file, "rb") as program, mmap.mmap(program.fileno(), 0, access=mmap.ACCESS_READ) as content:  # noqa: PTH123 -- the same
            # a statically linked program does not show what it calls, unless Go built it
            return any(_found(content, each) for each in _CALLS) or not (linked or content.find(_GO) >= 0)
    except (OSError, ValueError):
        return True


def _found(content: mmap.mmap, name: bytes) -> bool:
    at = content.find(name)
    while at >= 0 and content[max(0, at - len(_OF_GO)) : at] == _OF_GO:
        at = content.find(name, at + 1)
    return at >= 0
