"""A line to a library that calls back from its own threads: a mailbox, and the functions open, send and close."""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from math import inf
from threading import Lock
from typing import Final, TypeVar

import anyio

from otf.adapter.line import NEVER, Arrival, Ending, LineLost, Trouble
from otf.adapter.observed_rest.place import Place
from otf.adapter.third_party import answer, answered
from otf.adapter.waiting import clock
from otf.errors import USERS_OWN, CodecError, ContactError
from otf.framing import LARGEST, Frame
from otf.framing.frame import too_long
from otf.values.raised import describe

HELD: Final = 10_000
PATIENCE: Final = 10.0
_BATCH: Final = 256

T = TypeVar("T")


class Mailbox:
    """Takes what a library received; its methods may be called from any thread, even after the end.

    >>> mailbox = Mailbox()
    >>> mailbox.put(b"hello")
    >>> mailbox.end("stopped")
    >>> [type(each).__name__ for each in mailbox.take(10)]
    ['Frame', 'Ending']
    >>> mailbox.close()
    """

    def __init__(self, held: int = HELD, largest: int = LARGEST) -> None:
        self._held, self._largest = held, largest
        self._lock = Lock()
        self._arrived = deque[Arrival]()
        self._is_rung = self._is_over = False
        self._near, self._far = socket.socketpair()
        self.descriptor: int = self._near.fileno()
        self.dropped: int = 0
        self.stirred: float = NEVER
        self.doubt: Callable[[], str] = lambda: ""
        """Says why a failure now may be the tester's own fault; asked before the system is blamed."""
        self.overdue: Callable[[], float] = lambda: inf
        """Returns since when the tester has been late after the last call, by `time.monotonic`: windows are widened."""

    def put(self, data: bytes | bytearray | memoryview, trouble: str = "", *, received: float | None = None) -> None:
        """Hand over one frame. If too many wait to be read, it is dropped and counted, and the run has no verdict.

        `trouble` says in a few words why the bytes are not a frame, which makes them an undecodable output. `received`
        is when it came, by `time.monotonic`, if that is known better than the time of this call.
        """
        if not isinstance(data, bytes | bytearray | memoryview):  # pyright: ignore[reportUnnecessaryIsInstance] -- users
            # libraries swallow what their callbacks raise, and the system would look silent
            self.fail(f"put({data!r}): a frame is bytes")
            raise TypeError(f"put({data!r}): a frame is bytes")
        raw = bytes(data)
        fits = len(raw) <= self._largest
        if not fits:
            raw, trouble = raw[: self._largest], trouble or too_long(self._largest)
        # the library's thread may have waited for this interpreter for an unknown time
        at, doubt = (time.monotonic(), inf) if received is None else (received, 0.0)
        self._add(Frame(raw, trouble, at, doubt))
        self.stirred = NEVER  # only now: otherwise the system would look silent in between

    def stir(self) -> None:
        """Report that part of a frame has arrived: the system is not silent until `put` hands over the whole."""
        self.stirred = time.monotonic()

    def end(self, reason: str) -> None:
        """Report that the system ended the port; nothing follows."""
        self._add(Ending(reason))

    def fail(self, reason: str) -> None:
        """Report that the library or the machine failed, not the system; nothing follows."""
        self._add(Trouble(reason))

    def take(self, most: int) -> list[Arrival]:
        """Return up to `most` arrivals. The descriptor stays readable while there are more."""
        with self._lock:
            found = [self._arrived.popleft() for _ in range(min(most, len(self._arrived)))]
            if self._is_rung and not self._arrived:
                self._near.recv(1)
                self._is_rung = False
            return found

    def close(self) -> None:
        """Accept nothing more, and close the sockets."""
        with self._lock:
            self._is_over = True
            self._near.close()
            self._far.close()

    def _add(self, arrival: Arrival) -> None:
        is_frame = isinstance(arrival, Frame)
        with self._lock:
            if self._is_over:
                return
            if is_frame and len(self._arrived) >= self._held:
                self.dropped += 1
                return
            self._is_over = not is_frame
            self._arrived.append(arrival)
            if not self._is_rung:  # one byte at a time, so that the socket is never full
                self._far.send(b"!")
                self._is_rung = True


class ThreadLine:
    """A line to a library with threads or callbacks, created by `open_thread`."""

    def __init__(
        self, mailbox: Mailbox, send: Callable[[bytes], object], patience: float, *, threads: bool = False
    ) -> None:
        self._mailbox, self._send, self._patience, self._threads = mailbox, send, patience, threads
        self._clock = clock()
        self._gone = self._failure = ""

    def descriptors(self) -> tuple[int, ...]:
        """Return the descriptor of a socket that is readable while there are frames; none after the end."""
        return () if self._gone else (self._mailbox.descriptor,)

    def arm(self, wake: Callable[[], None]) -> None:
        """Do nothing: the descriptor is enough."""

    async def send(self, data: bytes) -> None:
        """Send one frame, in a thread, since the library may block.

        Raises LineLost if that fails or takes too long, CodecError if `send` raises it.
        """
        if self._gone or self._failure:
            raise LineLost(self._gone or self._failure)
        try:
            await answered(partial(_reported, partial(self._send, data)), self._patience)
        except TimeoutError as error:
            raise self._failed(f"the library did not send for {self._patience:g} s") from error
        except _Raised as error:
            raise self._failed(f"the library raised {error} when it sent") from error

    def receive(self) -> list[Arrival]:
        """Return up to 256 arrivals, and finally the ending."""
        if self._gone:
            return []
        ago = self._clock() - time.monotonic()
        arrived = [_moved(each, ago) for each in self._mailbox.take(_BATCH)]
        if arrived and isinstance(arrived[-1], Ending | Trouble):
            self._gone = arrived[-1].reason
        return arrived

    def lost(self) -> str:
        """Return how many frames were dropped because otf did not read them in time."""
        if dropped := self._mailbox.dropped:
            return f"{dropped} frames arrived faster than they were read, and were dropped"
        return ""

    def overdue(self) -> float:
        """Return since when the library has been late with what it sends by its own clock, or `inf`."""
        return self._mailbox.overdue()

    def doubt(self) -> str:
        """Return why a failure now may be the fault of the library."""
        return self._mailbox.doubt()

    def stirred(self) -> float:
        """Return when the last part of an unfinished frame arrived."""
        # the library's threads know only the machine's clock, and trio's has a different zero
        at = self._mailbox.stirred
        return at if at == NEVER else self._clock() - (time.monotonic() - at)

    def place(self) -> Place:
        """Return that the library's other end is unknown, and so are its threads in this process."""
        hidden = "a library of this process carries its bytes, and its other end is not known"
        return Place(hidden=hidden, threads=self._threads)

    def remarks(self) -> list[str]:
        """Return nothing: a library reports what it has to say by itself."""
        return []

    def _failed(self, reason: str) -> LineLost:
        # a failing library is not an output of the system: the run is inconclusive
        self._failure = reason
        self._mailbox.fail(reason)
        return LineLost(reason)


def _moved(arrival: Arrival, seconds: float) -> Arrival:
    """Return an arrival with its time shifted to another clock."""
    if not isinstance(arrival, Frame) or arrival.received is None:
        return arrival
    return replace(arrival, received=arrival.received + seconds)


@asynccontextmanager
async def open_thread(  # noqa: PLR0913 -- those of `from_thread`
    open: Callable[[Mailbox], T],  # noqa: A002 -- the same
    send: Callable[[T, bytes], object],
    close: Callable[[T], object],
    *,
    held: int = HELD,
    largest: int = LARGEST,
    patience: float = PATIENCE,
    name: str = "",
    threads: bool = False,
) -> AsyncGenerator[ThreadLine, None]:
    """Open a line to a library; `threads`: the system also runs in threads of this process.

    Raises ContactError, with the port's `name`, if it cannot be opened or closed.
    """
    shown = name or f"the library of a port, {open!r},"
    mailbox = Mailbox(held, largest)
    try:
        # a library that opens after this was cancelled is closed here, within bounded time
        undo = partial(_undone, close, patience)
        library = await _called(shown, "open", partial(open, mailbox), patience, undo)
        try:
            yield ThreadLine(mailbox, partial(send, library), patience, threads=threads)
        except BaseException:
            with suppress(ContactError):  # the first error is the one that counts
                await _closed(shown, partial(close, library), patience)
            raise
        await _closed(shown, partial(close, library), patience)
    finally:
        anyio.notify_closing(mailbox.descriptor)
        mailbox.close()


class _Raised(Exception):  # noqa: N818 -- it says what was raised
    """The library raised an error of any kind, which might be mistaken for one of the event loop."""


def _reported(call: Callable[[], T]) -> T:
    try:
        return call()
    except (*USERS_OWN, CodecError):
        raise
    except BaseException as error:
        raise _Raised(describe(error)) from error


def _undone(close: Callable[[T], object], patience: float, library: T) -> None:
    answer(partial(close, library), patience)


async def _closed(name: str, call: Callable[[], object], patience: float) -> None:
    with anyio.CancelScope(shield=True):
        await _called(name, "close", call, patience)


async def _called(
    name: str, what: str, call: Callable[[], T], patience: float, undo: Callable[[T], object] | None = None
) -> T:
    try:
        return await answered(partial(_reported, call), patience, undo)
    except TimeoutError as error:
        raise ContactError(f"{name} did not {what} within {patience:g} s") from error
    except _Raised as error:
        raise ContactError(f"{name} did not {what}: it raised {error}") from error
