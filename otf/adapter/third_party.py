"""Third-party code: a bench, a model, a driver, a name service. It may try to end the program, or never return.

`sys.exit(0)` in a codec, passed on, would end `otf run` as if everything had passed; a CancelledError would end one job
of several without a word. Such errors are reported and are no verdict; only the user's own interruption passes.

Calls that may never return run in daemon threads, bounded in time. The interpreter waits for the threads of anyio's
pool when it ends: one that is stuck in a driver would keep it from ending for ever.

Reports a model that hangs: after a second, which of its functions is at work, and on what.

A thread looks at the question that the model is working on. It cannot report code that keeps all threads from
running, as one call of a C library may.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
import sys
import threading
import time
import traceback
from _thread import start_new_thread
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import partial
from typing import Final, TypeVar, cast

import anyio

from otf.adapter.loop_check import LoopCheck, Waitable
from otf.core.model_calls import CURRENT, ModelCall, own_frames
from otf.errors import INCONCLUSIVE, USERS_OWN, ModelError, OtfError
from otf.values import as_text, show


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


@contextmanager
def ungrouped() -> Generator[None]:
    """Let one error of otf out of a group of tasks: all fail for the same reason, and a group would hide its advice."""
    try:
        yield
    except* OtfError as group:
        raise group.exceptions[0] from None


def blamed(error: BaseException) -> ModelError:
    """Return the error for code that would end the program."""
    message = f"{where(error)}: {describe(error)}: code of the bench or its model would have ended the program"
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


def describe(error: BaseException) -> str:
    """Return an error as one line.

    >>> describe(SystemExit(0)), describe(asyncio.CancelledError())
    ('SystemExit: 0', 'CancelledError')
    """
    name, text = type(error).__name__, as_text(error)
    return f"{name}: {text}" if text else name


def stumbled(port: str, data: bytes, error: Exception) -> str:
    """Return why nothing is decided by bytes on which a codec raised an exception that does not mean "no message"."""
    at = f"{where(error)}: " if own_frames(error) else ""
    what = f"{data[:SHOWN].hex(' ')}{' …' * (len(data) > SHOWN)}"
    return (
        f"the codec raised for the bytes {what} on the port {port!r}: {at}{describe(error)}; the mistake may be the "
        "codec's: mend it, or let `decode` raise CodecError for bytes that are no message"
    )


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

SHOWN: Final = 32  # bytes

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

    start_thread(work)


def _undone(undo: Callable[[T], object], future: Future[T]) -> None:
    with suppress(Exception):
        undo(future.result())


PATIENCE: Final = 1.0  # seconds
BEGINNING: Final = 10.0  # seconds in which a thread begins, on the busiest machine
LOOKS: Final = 4  # in that time
_INTERRUPTIONS: Final = 3  # one a second
_LATE: Final = 8  # looks in a row between which the clock did not go on
_ONE: Final = threading.Lock()  # two that watch the same would report everything twice
_TOLD: Final = frozenset(10**power * LOOKS for power in range(6))  # after a second, after ten, a hundred …

Tell = Callable[[str], object]


def warn(text: str) -> None:
    """Report on standard error, if there is one."""
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison] -- it is None where it was closed
        sys.stderr.write(f"otf: {text}\n")
        sys.stderr.flush()


def start_thread(work: Callable[[], object]) -> threading.Event:
    """Do `work` in a thread, which ends with the process; return what is set once the work has ended.

    Raises RuntimeError, as Python does, if no thread can be had. Thread.start would wait for ever for a thread that had
    no memory to begin.

    >>> start_thread(lambda: None).wait()
    True
    """
    begun, over = threading.Event(), threading.Event()

    def run() -> None:
        begun.set()
        try:
            work()
        finally:
            over.set()

    start_new_thread(run, ())
    if not begun.wait(BEGINNING):
        raise RuntimeError("can't start new thread")
    return over


@contextmanager
def watched(tell: Tell = warn, patience: float = PATIENCE) -> Generator[None]:
    """Watch the model while the context is open; `tell` is called from another thread."""
    if not _ONE.acquire(blocking=False):
        yield
        return
    over = threading.Event()
    # a process that may start no thread goes without: the watchdog decides nothing
    with suppress(RuntimeError):
        # Thread.start would wait for ever for a thread that had no memory to begin
        start_new_thread(watch, (LoopCheck(ClockCheck(over, tell), tell), tell, patience))
    try:
        yield
    finally:
        over.set()
        _ONE.release()


class ClockCheck:
    """Waits as an event does, and interrupts the program where the clock by which all waits end does not go on.

    >>> never = threading.Event()
    >>> ClockCheck(never, print).wait(0.01)
    False
    """

    def __init__(self, over: Waitable, tell: Tell) -> None:
        self._over, self._tell = over, tell
        self._then, self._late = time.monotonic(), 0

    def wait(self, seconds: float) -> bool:
        """Return whether it is over; as a user would, interrupt a program that waits for a moment that never comes."""
        if self._over.wait(seconds):
            return True
        gone = time.monotonic() - self._then
        self._then += gone
        # a clock that went back once has moved all moments that are waited for into the distance
        self._late = self._late + 1 if self._late >= _LATE or 0 <= gone < seconds / 2 else _LATE * (gone < 0)
        if self._late >= _LATE:
            self._interrupt()
        return False

    def _interrupt(self) -> None:
        if self._late == _LATE:
            self._tell("the clock of this machine (CLOCK_MONOTONIC) stands still or goes back: nothing can be judged")
        if (
            self._late == _LATE + _INTERRUPTIONS
        ):  # where the clock stands still, no bounded end of anything comes either
            os._exit(INCONCLUSIVE)
        os.kill(os.getpid(), signal.SIGINT)
        with suppress(OSError):
            select.select([], [], [], 1.0)  # the kernel counts this one, whatever the clock says


def watch(over: Waitable, tell: Tell, patience: float) -> None:
    """Look at what the model is asked, four times in `patience` seconds, until it is over."""
    seen, looks = CURRENT.now, 0
    while not over.wait(patience / LOOKS):
        now = CURRENT.now
        looks = looks + 1 if now is not None and now is seen else 0
        seen = now
        if now is not None and looks in _TOLD:
            tell(
                f"the model has been at work for {looks / LOOKS * patience:g} s: {_text(now)}; Ctrl-C breaks out of it"
            )


def _text(question: ModelCall) -> str:
    function, arguments = question
    return f"{function}({', '.join(map(show, arguments))})"
