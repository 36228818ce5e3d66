"""Code of a bench or a model that would end the program: that is told as what it is, and is no verdict.

`sys.exit(0)` in a codec, passed on, would end `otf run` as if everything had passed; a CancelledError would end one job
of several without a word. Only the user's own interruption passes.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from typing import cast

import anyio

from otf.errors import USERS_OWN, ModelError


@contextmanager
def blaming() -> Generator[None]:
    """Turn what would end the program into a ModelError that says where it was raised."""
    try:
        yield
    except Exception:
        raise
    except BaseException as error:
        if is_interruption(error):
            raise
        raise blamed(error) from error


def blamed(error: BaseException) -> ModelError:
    """Return what is said of code that would end the program."""
    return ModelError(f"{where(error)}: {said(error)}: code of the bench or its model would have ended the program")


def is_interruption(error: BaseException) -> bool:
    """Return whether the work is to end because somebody outside it wants that."""
    if isinstance(error, (*USERS_OWN, GeneratorExit)):
        return True
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return any(map(is_interruption, group.exceptions))
    return isinstance(error, anyio.get_cancelled_exc_class()) and _cancelled()


def where(error: BaseException) -> str:
    """Return the file and the line where an error was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else "somewhere"


def said(error: BaseException) -> str:
    """Return an error as one line.

    >>> said(SystemExit(0)), said(asyncio.CancelledError())
    ('SystemExit: 0', 'CancelledError')
    """
    name, text = type(error).__name__, str(error)
    return f"{name}: {text}" if text else name


def _cancelled() -> bool:
    """Return whether this task was cancelled: anybody may raise what says so."""
    if anyio.current_effective_deadline() == -float("inf"):
        return True
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return True  # trio's, which only trio can make
    return task is None or task.cancelling() > 0
