"""Runs third-party code (a bench, a model, a driver, a name service), which may end the program or never return.

`sys.exit(0)` in a codec would otherwise end `otf run` as if everything had passed. A CancelledError would silently end
one of several jobs. Such errors are reported and give no verdict; only the user's own interruption passes.

Calls that may never return run in daemon threads with a time limit. anyio's own threads would not do: the interpreter
waits for them when it ends, and so would hang with one that is stuck in a driver.

A watchdog thread reports a model that hangs: after one second it says which function is running, and on what. It cannot
report code that blocks all threads, as a single call into a C library may.
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

from otf.adapter.threads import LoopCheck, Waitable
from otf.core.model_calls import CURRENT, ModelCall
from otf.errors import INCONCLUSIVE, USERS_OWN, ModelError, OtfError
from otf.values import show
from otf.values.raised import advised, describe, is_own, is_users, meant, own_frames, own_line


@contextmanager
def blaming() -> Generator[None]:
    """Turn an exception that would end the program into a ModelError that says where it was raised."""
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
    """Raise the first otf error of a task group: all fail for the same reason, and a group would hide its advice."""
    try:
        yield
    except* OtfError as group:
        raise group.exceptions[0] from None


def blamed(error: BaseException) -> ModelError:
    """Return the ModelError for an exception that would end the program."""
    message = f"{where(error)}: {describe(error)}: code of the bench or its model would have ended the program"
    return ModelError(message + own_frames(error))


def is_interruption(error: BaseException) -> bool:
    """Return whether the error means that the user, or whoever cancelled this task, wants the work to end."""
    if isinstance(error, (*USERS_OWN, GeneratorExit)):
        return True
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return any(map(is_interruption, group.exceptions))
    return isinstance(error, anyio.get_cancelled_exc_class()) and _cancelled()


def where(error: BaseException) -> str:
    """Return the user's file and line that an error is about; the last line if the user's code has no part in it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if is_own(each.filename)] or frames
    return f"{own[-1].filename}, line {own[-1].lineno}" if own else "somewhere"


def at(error: BaseException) -> str:
    """Return the user's file and line of an error to begin a text with; "" if the user's code has no part in it."""
    return f"{where(error)}: " if own_line(error) else ""


def located(error: BaseException) -> str:
    """Return an error as one line, with the file and the line if the user's code raised it."""
    return f"{describe(error)} ({where(error)})" if is_users(error) else describe(error)


def stumbled(port: str, data: bytes, error: Exception) -> str:
    """Return why bytes decide nothing: the codec raised an exception other than CodecError for them."""
    what = f"{data[:SHOWN].hex(' ')}{' …' * (len(data) > SHOWN)}"
    raised = f"the codec raised for the bytes {what} on the port {port!r}: {at(error)}{advised(error, meant(error))}"
    advice = "mend it, or let `decode` raise CodecError for bytes that are not a message"
    return f"{raised}{'' if raised.endswith('?') else ';'} the mistake may be the codec's: {advice}"


def _cancelled() -> bool:
    """Return whether this task was really cancelled: any code may raise the exception."""
    if anyio.current_effective_deadline() == -float("inf"):
        return True
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return True  # trio: only trio itself can raise its exception
    return task is None or task.cancelling() > 0


GRACE: Final = 0.2
"""Seconds to wait for a call whose result is no longer wanted."""

SHOWN: Final = 32  # bytes

T = TypeVar("T")


def answer(call: Callable[[], T], seconds: float) -> T:
    """Call a function in another thread and return its result. Raises its error, or TimeoutError after `seconds`."""
    future = Future[T]()
    _start(call, future, lambda: None)
    return future.result(seconds)


async def answered(call: Callable[[], T], seconds: float, undo: Callable[[T], object] | None = None) -> T:
    """Call a function in another thread while other tasks run. Raises its error, or TimeoutError after `seconds`.

    If time is up or this task is cancelled, the call is abandoned; `undo` gets its late result.
    """
    future = Future[T]()
    near, far = socket.socketpair()
    try:
        _start(call, future, far.close)  # that makes our end readable
        with anyio.fail_after(seconds):
            await anyio.wait_readable(near)
        return future.result()
    except BaseException:
        # most calls are about to return; waiting briefly leaves nothing behind
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
        except BaseException as error:  # noqa: BLE001 -- whatever it is, the caller gets it
            future.set_exception(error)
        done()

    start_thread(work)


def _undone(undo: Callable[[T], object], future: Future[T]) -> None:
    with suppress(Exception):
        undo(future.result())


PATIENCE: Final = 1.0  # seconds
BEGINNING: Final = 10.0  # seconds within which a thread starts, even on the busiest machine
LOOKS: Final = 4  # per PATIENCE
_INTERRUPTIONS: Final = 3  # one a second
_LATE: Final = 8  # looks in a row between which the clock did not advance
_ONE: Final = threading.Lock()  # two watchdogs would report everything twice
_TOLD: Final = frozenset(10**power * LOOKS for power in range(6))  # after 1 s, 10 s, 100 s …

Tell = Callable[[str], object]


def warn(text: str) -> None:
    """Report on standard error, if there is one."""
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison] -- it is None where it was closed
        sys.stderr.write(f"otf: {text}\n")
        sys.stderr.flush()


def start_thread(work: Callable[[], object]) -> threading.Event:
    """Run `work` in a daemon thread; return an event that is set when it has ended.

    Raises RuntimeError, as Python does, if no thread can be started. `Thread.start` would wait forever for a thread
    that had no memory to begin.

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
    """Within a `with` statement, call `tell` from another thread if a call of the model takes long."""
    if not _ONE.acquire(blocking=False):
        yield
        return
    over = threading.Event()
    # a process that cannot start threads does without: the watchdog decides nothing
    with suppress(RuntimeError):
        # Thread.start would wait forever for a thread that had no memory to begin
        start_new_thread(watch, (LoopCheck(ClockCheck(over, tell), tell), tell, patience))
    try:
        yield
    finally:
        over.set()
        _ONE.release()


class ClockCheck:
    """Waits for an event, and interrupts the program if the clock that ends all waits stands still.

    >>> never = threading.Event()
    >>> ClockCheck(never, print).wait(0.01)
    False
    """

    def __init__(self, over: Waitable, tell: Tell) -> None:
        self._over, self._tell = over, tell
        self._then, self._late = time.monotonic(), 0

    def wait(self, seconds: float) -> bool:
        """Wait; return whether the event is set. If the clock stands still, interrupt the program as Ctrl-C would."""
        if self._over.wait(seconds):
            return True
        gone = time.monotonic() - self._then
        self._then += gone
        # after the clock went back once, every deadline lies far in the future
        self._late = self._late + 1 if self._late >= _LATE or 0 <= gone < seconds / 2 else _LATE * (gone < 0)
        if self._late >= _LATE:
            self._interrupt()
        return False

    def _interrupt(self) -> None:
        if self._late == _LATE:
            self._tell("the clock of this machine (CLOCK_MONOTONIC) stands still or goes back: nothing can be judged")
        if self._late == _LATE + _INTERRUPTIONS:  # while the clock stands still, no time limit ends anything either
            os._exit(INCONCLUSIVE)
        os.kill(os.getpid(), signal.SIGINT)
        with suppress(OSError):
            select.select([], [], [], 1.0)  # the kernel counts this one, whatever the clock says


def watch(over: Waitable, tell: Tell, patience: float) -> None:
    """Look four times per `patience` seconds at which call of the model is running, until it is over."""
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
