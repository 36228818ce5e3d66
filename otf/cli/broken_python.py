"""What code of a bench did to Python itself, where a command ends with an error that nobody expected.

Such code runs in the process of the tester, and can take away what everything needs: a function of `os`, a module, a
descriptor of the event loop. Then the error that follows is no defect of otf, and says nothing about the system.
"""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Iterator
from types import ModuleType
from typing import Final

from otf.core.model_calls import ENGINE

_NAMES: Final = ("builtins", "os", "time", "json", "threading", "signal", "socket", "select", "asyncio", "gc")
_BEFORE: Final[dict[str, tuple[ModuleType, dict[str, object]]]] = {}
_LIMIT: Final = sys.getrecursionlimit()
_LOOP: Final = f"{ENGINE}cli/signals.py", "_run"  # where the event loop begins and ends


def note_python() -> None:
    """Note what Python is, once, before any code of a bench runs."""
    if _BEFORE:
        return
    found = ((name, sys.modules.get(name)) for name in _NAMES)
    _BEFORE.update({name: (module, {**vars(module)}) for name, module in found if module is not None})


def broken_by(error: BaseException) -> str:
    """Return what code of a bench broke, if an error comes from that; else nothing."""
    return ", ".join(_changes()) or _descriptor(error) or _loop(error)


def _changes() -> Iterator[str]:
    for name, (module, before) in _BEFORE.items():
        if name not in sys.modules:
            yield f"the module {name}"
        yield from (f"{name}.{each}" for each, value in before.items() if vars(module).get(each) is not value)
    if sys.getrecursionlimit() < _LIMIT:
        yield f"the recursion limit ({sys.getrecursionlimit()})"


def _descriptor(error: BaseException | None) -> str:
    while error is not None:
        if isinstance(error, OSError) and error.errno == errno.EBADF:
            return "a descriptor that the event loop or otf had open"
        error = error.__cause__ or error.__context__
    return ""


def _loop(error: BaseException) -> str:
    """Return that the event loop ended or could not be closed: no code of otf was at work in it then."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [(frame.filename, frame.name) for frame in frames if frame.filename.startswith(ENGINE)]
    return "the event loop" if own and own[-1] == _LOOP and frames[-1].filename != _LOOP[0] else ""
