"""What Ctrl-C, SIGTERM and closing the terminal (SIGHUP) do, from the first moment of a command to its last.

Only the process of the script `otf` installs the handlers; commands called from elsewhere leave signals alone. This
module imports nothing heavy at the top: the handlers must be in place before the slow imports.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Final, Generic, NamedTuple, TypeVar, cast

from otf.errors import Interruption
from otf.supervisor import decide, hear, reported, sign

T = TypeVar("T")
PATIENCE: Final = 0.4  # seconds in which the event loop must react; after that it hangs, probably in a model's code
REPORT: Final = 2.0  # seconds in which the result should be reported; after that a signal does not wait for it
AGAIN: Final = 2.0  # the same after the first reaction: what is stopping may be slow


class Stuck(Interruption):
    """Breaks out of code that hangs. It is not a KeyboardInterrupt: on that, asyncio drops all its clean-up."""


class Signals:
    """Keeps the number of the first signal, and acts according to the phase of the command.

    At first a signal ends the process at once, since there is nothing to clean up. Inside `stopping` it stops the work.
    After that it waits for the report of the result, but at most two seconds.
    """

    def __init__(self) -> None:
        self.number: int = 0
        self._act: Callable[[int], None] = _leave
        self._stop: Callable[[], object] = _nothing
        self._unanswered = False
        self._numbers = _endings()
        self._begun: float | None = None

    @property
    def spent(self) -> float:
        """Return the seconds since this process started; 0 if the command was called from elsewhere.

        A bound in seconds covers the whole command, and on a busy machine its imports take more than a second.
        """
        return 0.0 if self._begun is None else time.monotonic() - self._begun

    @property
    def installed(self) -> bool:
        """Return whether the handlers are installed."""
        return self._begun is not None

    def install(self) -> None:
        """Install the handlers."""
        # Python's own start, in CPU time: the process may be older than the command (`sh -c 'make; otf run …'`)
        self._begun = time.monotonic() - time.process_time()
        for number in self._numbers:
            signal.signal(number, self._ending)
        signal.signal(signal.SIGALRM, self._check)

    def finish(self) -> None:
        """Ignore signals from now on: the exit status is decided, and the interpreter must be able to shut down."""
        for number in self._numbers:
            signal.signal(number, signal.SIG_IGN)

    def handle(self, number: int, _frame: FrameType | None = None) -> None:
        """Handle a signal as the phase demands, and keep the number of the first."""
        self.number = self.number or number
        self._act(number)

    def _ending(self, number: int, frame: FrameType | None) -> None:
        # before any call: a second signal may interrupt this handler, and is handled before it goes on
        self.number = self.number or _first(number, frame)
        hear()
        # the process ends soon: collecting the garbage of a long run would take more than a second
        gc.disable()
        self.handle(number, frame)

    @contextmanager
    def stopping(self, stop: Callable[[], object]) -> Generator[None]:
        """Let a signal call `stop` inside this block; the event loop must then call `reached` soon."""
        self._act, self._stop = self._halt, stop
        try:
            if self.number:  # it came while the event loop was starting, before there was anything to stop
                self._halt(self.number)
            yield
        finally:
            self.reporting()
            self.reached()
            _alarm(0, 0)

    def reporting(self) -> None:
        """Note that reporting has begun: a signal can no longer change the result, but it ends a hanging report."""
        since = time.monotonic()

        def end(number: int) -> None:
            if time.monotonic() - since > REPORT:
                _leave(number)

        self._act = end

    def reached(self) -> None:
        """Note that the event loop is alive: it knows of the signal, and will end without help."""
        self._unanswered = False

    def _halt(self, _number: int) -> None:
        self._unanswered = True
        self._stop()
        _alarm(PATIENCE, AGAIN)

    def _check(self, _number: int, _frame: FrameType | None) -> None:
        if not self.number:  # an alarm of the user's own code, which ends nothing
            return
        # a model with an endless loop never returns to the event loop, so break out of its code
        if self._unanswered:
            raise Stuck
        self._unanswered = True
        self._stop()


def _first(number: int, frame: FrameType | None) -> int:
    """Return the signal of the outermost handler that was interrupted before it could note its own, else `number`."""
    while frame is not None:
        if frame.f_code.co_qualname == "Signals._ending":
            number = frame.f_locals["number"]
        frame = frame.f_back
    return number


def _endings() -> tuple[signal.Signals, ...]:
    """Return the signals that end a command; SIGHUP only if it is not already ignored (nohup)."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return (signal.SIGINT, signal.SIGTERM, *([] if ignored else [signal.SIGHUP]))


def _alarm(seconds: float, then: float) -> None:
    # repeated, since the next path may hang as well
    signal.setitimer(signal.ITIMER_REAL, seconds, then)


def _leave(number: int) -> None:
    if "--json" in sys.argv:
        # readers get a document however the command ends; what print has buffered is not written yet
        os.write(1, b'{"verdict": "inconclusive", "interrupted": true}\n')
        reported()
    else:
        with suppress(OSError):
            os.write(2, f"otf: ended by {signal.Signals(number).name} before a result was reported\n".encode())
    decide(128 + number)
    sign()
    os._exit(128 + number)


def _nothing() -> None:
    """Stop nothing: there is no work."""


SIGNALS: Final = Signals()


class Done(NamedTuple, Generic[T]):
    """What the work returned (None if interrupted), and the number of the signal that interrupted it."""

    value: T | None
    signal: int = 0

    def status(self, otherwise: int) -> int:
        """Return the exit status: 130 or 143 if the work was interrupted, else `otherwise`."""
        return 128 + self.signal if self.signal else otherwise


def interruptible(work: Callable[[], Awaitable[T]]) -> Done[T]:
    """Run `work` until it returns or a signal cancels it. It raises single exceptions, not groups."""
    if SIGNALS.number:  # it came while a result was being reported: start no more work
        return Done(None, SIGNALS.number)
    try:
        return _run(work)
    except Stuck:  # the event loop did not react to the signal
        return Done(None, SIGNALS.number)


def _run(work: Callable[[], Awaitable[T]]) -> Done[T]:
    import anyio  # imports the event loop

    try:
        # by name, since a signal handler may call asyncio's call_soon_threadsafe
        return anyio.run(_watched, work, backend="asyncio")
    except BaseExceptionGroup as group:
        error = _only(group)
        raise error from error.__cause__  # the cause has the frames of the model


async def _watched(work: Callable[[], Awaitable[T]]) -> Done[T]:
    import asyncio

    import anyio

    loop = asyncio.get_running_loop()
    with anyio.CancelScope() as scope:

        def stop() -> None:
            SIGNALS.reached()
            scope.cancel()

        with SIGNALS.stopping(partial(loop.call_soon_threadsafe, stop)):
            value = await work()
        return Done(value, SIGNALS.number)
    return Done(None, SIGNALS.number)


def _only(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    if isinstance(first, BaseExceptionGroup):
        return _only(cast("BaseExceptionGroup[BaseException]", first))
    return first
