"""Calls of code that is not ours and may never return: bounded in time, and none keeps anybody from ending.

They run in daemon threads. Those of anyio's pool are waited for when the interpreter ends: one that is stuck in a
driver would keep it from ending for ever.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import Final, TypeVar

import anyio

GRACE: Final = 0.2
"""Seconds for which a call is waited for that nobody wants any more."""

T = TypeVar("T")


def answer(call: Callable[[], T], seconds: float) -> T:
    """Return what a call returns; the thread waits for it. Raises what it raises; TimeoutError after `seconds`."""
    future = Future[T]()
    _start(call, future, lambda: None)
    return future.result(seconds)


async def answered(call: Callable[[], T], seconds: float, undo: Callable[[T], object] | None = None) -> T:
    """Return what a call returns, while others go on. Raises what it raises; TimeoutError after `seconds`.

    When that time is over, or this is cancelled, the call is left behind; `undo` gets what it returns after that.
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
