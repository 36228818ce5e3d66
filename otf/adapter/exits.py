"""Code that is not of otf: a bench, a model, a driver, a name service. It may try to end the program, or never return.

`sys.exit(0)` in a codec, passed on, would end `otf run` as if everything had passed; a CancelledError would end one job
of several without a word. Such errors are reported and are no verdict; only the user's own interruption passes.

Calls that may never return run in daemon threads, bounded in time. The interpreter waits for the threads of anyio's
pool when it ends: one that is stuck in a driver would keep it from ending for ever.
"""

from __future__ import annotations

import asyncio
import socket
import traceback
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import Final, TypeVar, cast

import anyio

from otf.core.calls import own_frames
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
    """Return the error for code that would end the program."""
    message = f"{where(error)}: {said(error)}: code of the bench or its model would have ended the program"
    return ModelError(message + own_frames(error))


def is_interruption(error: BaseException) -> bool:
    """Return whether the user, or a task that was cancelled, wants the work to end."""
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
    """Return whether this task was cancelled: any code may raise the exception for it."""
    if anyio.current_effective_deadline() == -float("inf"):
        return True
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return True  # trio's, which only trio can make
    return task is None or task.cancelling() > 0


GRACE: Final = 0.2
"""Seconds for which a call is waited for after its result is no longer wanted."""

T = TypeVar("T")


def answer(call: Callable[[], T], seconds: float) -> T:
    """Return the result of a call; the thread waits for it. Raises its error, or TimeoutError after `seconds`."""
    future = Future[T]()
    _start(call, future, lambda: None)
    return future.result(seconds)


async def answered(call: Callable[[], T], seconds: float, undo: Callable[[T], object] | None = None) -> T:
    """Return the result of a call, while other tasks go on. Raises its error, or TimeoutError after `seconds`.

    When that time is over, or this is cancelled, the call is abandoned; `undo` gets its late result.
    """
    future = Future[T]()
    near, far = socket.socketpair()
    try:
        _start(call, future, far.close)  # our end becomes readable by that
        with anyio.fail_after(seconds):
            await anyio.wait_readable(near)
        return future.result()
    except BaseException:
        # most calls are about to return, and then nothing is left behind
        with anyio.CancelScope(shield=True), anyio.move_on_after(GRACE):
            await anyio.wait_readable(near)
        if undo is not None:
            future.add_done_callback(partial(_undone, undo))
        raise
    finally:
        near.close()


def _start(call: Callable[[], T], future: Future[T], done: Callable[[], object]) -> None:
    context = copy_context()

    def work() -> None:
        try:
            future.set_result(context.run(call))
        except BaseException as error:  # noqa: BLE001 -- whatever it is, it belongs to who waits for it
            future.set_exception(error)
        done()

    Thread(target=work, daemon=True).start()


def _undone(undo: Callable[[T], object], future: Future[T]) -> None:
    with suppress(Exception):
        undo(future.result())
