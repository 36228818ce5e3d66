"""Threads and tasks of a system in this process: if one dies of an exception, the system has ended.

Python prints such a death and goes on, so half of a system could be gone and still pass. A thread belongs to the system
if the system's code, or a thread of the system, has started it; the same holds for asyncio tasks. Others, such as those
of pytest or of a program around otf, are left alone.

A process ends in which Python itself no longer works. If code of a bench replaces `len`, asyncio finds nothing to do
and spins forever, as may any loop of otf; no time limit and no Ctrl-C ever takes effect. Only another thread sees that.
"""

from __future__ import annotations

import _thread
import asyncio
import gc
import os
import sys
import threading
import time
from asyncio import AbstractEventLoop
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar
from functools import wraps
from typing import Any, Final, ParamSpec, Protocol, Self, TypeVar

from otf.errors import INCONCLUSIVE

P = ParamSpec("P")
T = TypeVar("T")
_ATTRIBUTE: Final = "_otf_system"  # of a thread: the watch of the system that started it
_CALLBACK: Final = "ctypes callback function"  # part of what unraisable errors say, which changes with Python


class ThreadWatch:
    """Reports when a thread or task of the system dies while the watch is open.

    Calls `died` with the exception, in the dying thread. The code of the system runs in `call`.

    >>> from threading import Thread
    >>> errors = []
    >>> with ThreadWatch(errors.append) as watch:
    ...     thread = watch.call(Thread, target=lambda: 1 / 0)
    ...     watch.call(thread.start)
    ...     thread.join()
    >>> errors
    [ZeroDivisionError('division by zero')]
    """

    def __init__(self, died: Callable[[BaseException], object]) -> None:
        self.died = died

    def __enter__(self) -> Self:
        """Start watching for deaths."""
        _HOOKS.enter(self)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop watching: from now on Python reports deaths itself."""
        _HOOKS.leave(self)

    @contextmanager
    def running(self) -> Generator[None]:
        """Count the threads started in the body as the system's."""
        token = _RUNNING.set(self)
        try:
            yield
        finally:
            _RUNNING.reset(token)

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call code of the system and return its result."""
        token = _RUNNING.set(self)  # twice as fast as a context manager
        try:
            return function(*args, **kwargs)
        finally:
            _RUNNING.reset(token)


_RUNNING: Final = ContextVar[ThreadWatch | None]("running", default=None)


def _own() -> ThreadWatch | None:
    """Return the watch of the system whose code runs here; None if it is other code."""
    return _RUNNING.get() or getattr(threading.current_thread(), _ATTRIBUTE, None)


class _Hooks:
    """What Python calls when a thread or task dies, replaced while a watch is open."""

    def __init__(self) -> None:
        self._open = list[ThreadWatch]()
        self._lock = threading.Lock()
        self._replaced = list[tuple[Any, str, object, object]]()

    def enter(self, watch: ThreadWatch) -> None:
        with self._lock:
            if not self._open:
                self._replace()
            self._open.append(watch)

    def leave(self, watch: ThreadWatch) -> None:
        with self._lock:
            self._open.remove(watch)
            while not self._open and self._replaced:
                holder, name, ours, before = self._replaced.pop()
                if getattr(holder, name) is ours:  # otherwise someone has replaced it since, and may call it
                    setattr(holder, name, before)

    def _replace(self) -> None:
        start, task_died = threading.Thread.start, asyncio.BaseEventLoop.default_exception_handler
        thread_died, unraisable, start_raw = threading.excepthook, sys.unraisablehook, _thread.start_new_thread

        def starting(thread: threading.Thread) -> None:
            vars(thread)[_ATTRIBUTE] = _own()
            start(thread)

        def of_thread(died: Any) -> None:  # noqa: ANN401 -- the type has no public name
            if not self.told(died.exc_value, getattr(died.thread, _ATTRIBUTE, None)):
                thread_died(died)

        def starting_raw(function: Callable[..., object], *arguments: Any) -> int:  # noqa: ANN401 -- any thread's
            return start_raw(self._with_report(function, _own()), *arguments)

        def of_callback(died: Any) -> None:  # noqa: ANN401 -- as above
            # an exception in a destructor is not a death, and may be anyone's
            if not (_CALLBACK in str(died.err_msg) and self.told(died.exc_value, _own())):
                unraisable(died)

        def of_task(loop: asyncio.BaseEventLoop, context: dict[str, Any]) -> None:
            if not self.told(context.get("exception"), _of_task(context)):
                task_died(loop, context)

        self._put(threading.Thread, "start", starting)
        self._put(threading, "excepthook", of_thread)
        self._put(_thread, "start_new_thread", starting_raw)
        self._put(sys, "unraisablehook", of_callback)
        self._put(asyncio.BaseEventLoop, "default_exception_handler", of_task)

    def _with_report(self, function: Callable[..., object], watch: ThreadWatch | None) -> Callable[..., object]:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> object:  # noqa: ANN401 -- as above
            try:
                return function(*args, **kwargs)
            except BaseException as error:
                if self.told(error, watch):
                    return None
                raise

        return call

    def _put(self, holder: object, name: str, ours: object) -> None:
        self._replaced.append((holder, name, ours, getattr(holder, name)))
        setattr(holder, name, ours)

    def told(self, error: BaseException | None, watch: ThreadWatch | None) -> bool:
        """Report a death to its watch; return False if that is not open."""
        if error is None or watch is None or watch not in self._open:
            return False
        if not isinstance(error, SystemExit):  # sys.exit() ends a thread as a return does
            watch.died(error)
        return True


_HOOKS: Final = _Hooks()


def _of_task(context: dict[str, Any]) -> ThreadWatch | None:
    """Return the watch of the system that a task or callback belongs to: each runs in the context of its start."""
    for name in ("task", "handle", "future"):
        # before Python 3.12 a task does not reveal its context, but the collector knows what it refers to
        for each in gc.get_referents(context[name]) if name in context else ():
            if isinstance(each, Context):
                return each.get(_RUNNING) or _own()
    return _own()


LOOKS: Final = 12
"""Looks at a loop that was running, had a processor, and had not done what it was last asked; together 3 s."""
_BY: Final = "code of the bench, its model or its system changed what it needs; nothing can be judged"
NO_LOOP: Final = f"the event loop does nothing that it is asked: {_BY}"
NO_PYTHON: Final = f"len, range and the like do not work, or the recursion limit is below 200: {_BY}"
DEEP: Final = 200  # nested calls that otf and its event loop need; Python allows 1,000


class Waitable(Protocol):
    """What a watchdog waits for."""

    def wait(self, timeout: float, /) -> bool:
        """Wait up to `timeout` seconds; return whether it is over."""
        ...


class LoopCheck:
    """Waits like an event, and ends the process if this thread's event loop does nothing any more.

    >>> LoopCheck(threading.Event(), print).wait(0.01)
    False
    """

    def __init__(self, over: Waitable, tell: Callable[[str], object]) -> None:
        self._over, self._tell = over, tell
        self._loop, self._thread = _running(), threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self._thread)
        self._beats, self._missed, self._used = True, 0, 0.0

    def wait(self, seconds: float) -> bool:
        """Return whether it is over."""
        if self._over.wait(seconds):
            return True
        if not sound():
            self._end(NO_PYTHON)
        if self._loop is not None:
            self._look(self._loop)
        return False

    def _look(self, loop: AbstractEventLoop) -> None:
        # A busy machine may leave the loop without a processor for seconds while this thread has one. A broken loop,
        # however, spins at each look.
        before, self._used = self._used, time.clock_gettime(self._clock)
        if self._beats or not in_loop(self._thread):
            # a model or system at work for long keeps the loop from its turn, but breaks nothing
            self._missed = 0
        elif self._used > before:
            self._missed += 1
        self._beats = False
        with suppress(RuntimeError):  # it was closed
            loop.call_soon_threadsafe(self._beat)
        if self._missed >= LOOKS:
            self._end(NO_LOOP)

    def _end(self, why: str) -> None:
        self._tell(why)
        os._exit(INCONCLUSIVE)

    def _beat(self) -> None:
        self._beats = True


def _running() -> AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def sound() -> bool:
    """Return whether the functions that every loop needs still give the right results, whatever replaces them.

    >>> sound()
    True
    """
    with suppress(Exception):
        if sys.getrecursionlimit() < DEEP:
            return False
        counts = len((1, 2)), max(1, 2), min(2, 3), sum((1, 1)), [*range(2)][1] + 1, sorted((2, 1))[1]
        one = next(iter((1,)))
        return set(counts) == {2} and isinstance(one, int)  # pyright: ignore[reportUnnecessaryIsInstance] -- it may be another one
    return False


def in_loop(thread: int) -> bool:
    """Return whether a thread is in the event loop itself, not in something that it calls."""
    frame = sys._current_frames().get(thread)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] -- Python offers no other way
    return frame is not None and frame.f_globals.get("__name__") in _LOOP


_LOOP: Final = {"selectors", "asyncio.base_events", "asyncio.selector_events"}
