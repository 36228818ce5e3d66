"""Turns any library that calls back from its own threads into a port, by functions to open, send and close."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from otf.adapter import Port
from otf.adapter.mailbox import HELD, PATIENCE, Mailbox, open_thread
from otf.framing import LARGEST
from otf.values.arguments import checked

T = TypeVar("T")


@checked
def from_thread(  # noqa: PLR0913 -- three functions, and three bounds with defaults
    open: Callable[[Mailbox], T],  # noqa: A002 -- what it does
    send: Callable[[T, bytes], object],
    close: Callable[[T], object],
    *,
    held: int = HELD,
    largest: int = LARGEST,
    patience: float = PATIENCE,
) -> Port:
    """Return the port of a library that works with threads or callbacks; otf calls `open` for each path.

    `open` gets a `Mailbox`. Callbacks of the library call the mailbox's `put(data)` for each frame, `end(reason)` if
    the system has ended the port, and `fail(reason)` if the library itself has failed. otf passes the result of `open`
    to `send`, with a frame, and to `close`, which ends the threads. otf calls `open`, `send` and `close` in threads of
    their own, where each may block for `patience` seconds. The mailbox contains at most `held` frames that otf has not
    read yet. Opening the port raises ContactError.

    >>> import queue, threading
    >>> def serve(work, mailbox):
    ...     while (data := work.get()) is not None:
    ...         mailbox.put(b"echo " + data)
    >>> def start(mailbox):
    ...     work = queue.SimpleQueue()
    ...     thread = threading.Thread(target=serve, args=(work, mailbox))
    ...     thread.start()
    ...     return work, thread
    >>> def stop(library):
    ...     library[0].put(None)
    ...     library[1].join()
    >>> from_thread(start, lambda library, data: library[0].put(data), stop).kind
    'thread'
    """
    opened = partial(open_thread, open, send, close, held=held, largest=largest, patience=patience)
    return Port(opened, "thread")
