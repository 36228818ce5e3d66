"""What Ctrl-C, SIGTERM and the end of a terminal (SIGHUP) do, from the first moment of a command to its last.

Only the process of the script `otf` installs this; called from elsewhere, commands leave signals as they are. Nothing
heavy is imported here: it stands before the imports that take most of the start.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Final, Generic, NamedTuple, TypeVar, cast

from otf.errors import Interruption

T = TypeVar("T")
PATIENCE: Final = 2.0  # seconds in which the event loop has to react; then it hangs, most likely in a model's code


class Stuck(Interruption):
    """Breaks out of code that hangs; no KeyboardInterrupt, for which asyncio drops all that it has to clean up."""


class Signals:
    """Keeps the number of the first signal, and does what is right for the phase of the command.

    At first a signal ends the process at once, since nothing is there that has to be cleaned up; meanwhile `stopping`
    it stops the work; after that it waits until the result has been told.
    """

    def __init__(self) -> None:
        self.number: int = 0
        self._act: Callable[[int], None] = _leave
        self._stop: Callable[[], object] = _nothing
        self._unheard = False
        self._numbers = _endings()

    def install(self) -> None:
        """Begin to listen."""
        for number in self._numbers:
            signal.signal(number, self.hear)
        if sys.platform != "win32":
            signal.signal(signal.SIGALRM, self._look)

    def finish(self) -> None:
        """Be deaf from now on: the exit status is decided, and the interpreter must be able to end in peace."""
        for number in self._numbers:
            signal.signal(number, signal.SIG_IGN)

    def hear(self, number: int, _frame: FrameType | None = None) -> None:
        """Take a signal: the first is kept, and each does what is right now."""
        self.number = self.number or number
        self._act(number)

    @contextmanager
    def stopping(self, stop: Callable[[], object]) -> Generator[None]:
        """Let a signal call `stop` meanwhile, which has to call `reached` soon, from within the event loop."""
        self._act, self._stop = self._halt, stop
        try:
            if self.number:  # it came while the event loop was started, when nothing could be stopped
                self._halt(self.number)
            yield
        finally:
            self.told()
            self.reached()
            _alarm(0)

    def told(self) -> None:
        """Note that the result is being told now, and that a signal comes too late to change it."""
        self._act = _ignore

    def reached(self) -> None:
        """Note that the event loop is alive: it has heard of the signal, and will end by itself."""
        self._unheard = False

    def _halt(self, _number: int) -> None:
        self._unheard = True
        self._stop()
        _alarm(PATIENCE)

    def _look(self, _number: int, _frame: FrameType | None) -> None:
        # a model that loops for ever keeps the loop from ever hearing of the signal: break out of its code
        if self._unheard:
            raise Stuck
        self._unheard = True
        self._stop()


def _endings() -> tuple[signal.Signals, ...]:
    """Return the signals that end a command: that the terminal has gone only if that is not to be ignored (nohup)."""
    hung_up = getattr(signal, "SIGHUP", None)
    if hung_up is None or signal.getsignal(hung_up) is signal.SIG_IGN:
        return signal.SIGINT, signal.SIGTERM
    return signal.SIGINT, signal.SIGTERM, hung_up


def _alarm(seconds: float) -> None:
    # again and again, since the next path may hang as well
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)


def _leave(number: int) -> None:
    if "--json" in sys.argv:
        # whoever reads the document gets one, whenever the command is ended; what print has buffered is none yet
        os.write(1, b'{"verdict": "inconclusive", "interrupted": true}\n')
    os._exit(128 + number)


def _ignore(_number: int) -> None:
    """Let the signal be: its number is kept."""


def _nothing() -> None:
    """Stop nothing: there is no work."""


SIGNALS: Final = Signals()


class Done(NamedTuple, Generic[T]):
    """What the work returned (None where it was interrupted), and the number of the signal that interrupted it."""

    value: T | None
    signal: int = 0

    def status(self, otherwise: int) -> int:
        """Return the exit status: 130 or 143 where it was interrupted, else the given one."""
        return 128 + self.signal if self.signal else otherwise


def interruptible(work: Callable[[], Awaitable[T]]) -> Done[T]:
    """Run `work` to its end or to a signal; exceptions come out as they are, not in groups."""
    if SIGNALS.number:  # it came while a result was told: no more work is begun
        return Done(None, SIGNALS.number)
    try:
        return _run(work)
    except Stuck:  # the event loop did not hear of the signal
        return Done(None, SIGNALS.number)


def _run(work: Callable[[], Awaitable[T]]) -> Done[T]:
    import anyio  # brings the event loop along

    try:
        # by name, since the handler of a signal may call asyncio's call_soon_threadsafe
        return anyio.run(_watched, work, backend="asyncio")
    except BaseExceptionGroup as group:
        raise _only(group) from None


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
