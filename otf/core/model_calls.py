"""Calls of the model's functions: the one that runs now, and the model's own lines in the traceback of an error."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import partial
from inspect import unwrap
from os import sep
from pathlib import Path
from typing import Any, Final, TypeAlias

ModelCall: TypeAlias = tuple[str, tuple[object, ...]]
"""The name of a model function, and its arguments."""

ENGINE: Final = str(Path(__file__).parents[1]) + sep
MODELS: Final = f"{ENGINE}models{sep}"
SHOWN: Final = 8  # the innermost lines: infinite recursion has a thousand


class CurrentCall:
    """Holds the call that runs now, None between calls. Each call is an object of its own.

    A watchdog in another thread reads it to report a model that hangs. `seconds` is the total time of all calls on
    `clock`. The core has no clock of its own; the default always reads 0.
    """

    def __init__(self) -> None:
        self.now: ModelCall | None = None
        self.clock: Callable[[], float] = float
        self.seconds: float = 0.0


CURRENT: Final = CurrentCall()


def own_frames(error: BaseException, function: Callable[..., Any] | None = None) -> str:
    """Return where in the model an error was raised, as lines to append to its message; "" if unknown.

    Leaves out frames of otf itself. If there are no others, the model returned something wrong: then the lines say
    where its `function` is defined.
    """
    frames = [each for each in traceback.walk_tb(error.__traceback__) if _is_own(each[0].f_code.co_filename)]
    lines = "".join(traceback.StackSummary.extract(iter(frames[-SHOWN:])).format()).rstrip()
    left = f"\n  … {len(frames) - SHOWN} more frames" if len(frames) > SHOWN else ""
    return f"{left}\n{lines}" if lines else _definition(function)


def _definition(function: Callable[..., Any] | None) -> str:
    while isinstance(function, partial):
        function = function.func
    code = getattr(unwrap(function), "__code__", None) if function is not None else None
    if code is None or not _is_own(code.co_filename):
        return ""
    return f'\n  File "{code.co_filename}", line {code.co_firstlineno}, in {code.co_name}'


def _is_own(file: str) -> bool:
    return not file.startswith(ENGINE) or file.startswith(MODELS)
