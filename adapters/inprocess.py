"""A Python function in this process as the system under test: no transport at all, and time may be virtual."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import TypeAlias, cast

import anyio

from otf.adapter import Arrival, Ending, Frame, LineLost, Port
from otf.adapter.observed_rest.place import Place
from otf.adapter.third_party import located
from otf.adapter.threads import ThreadWatch
from otf.adapter.waiting import Alarm, alarms, from_threads
from otf.errors import USERS_OWN, ContactError, UsageError
from otf.framing.frame import LARGEST, too_long
from otf.values.arguments import brief, checked
from otf.values.raised import describe, own_frames, traced

Reply: TypeAlias = bytes | Ending | tuple[float, bytes | Ending]
"""A reply of a function: a frame, or the end of the port, either at once or after a number of seconds."""

FrameHandler: TypeAlias = Callable[[bytes], Reply | Iterable[Reply] | None]
"""A function that takes one frame and returns one reply, several, or none; a generator may reply endlessly."""

_BATCH = 256
_FULL = 20_000  # replies not due yet, beyond which the function is not asked for more
_NOTHING = object()


class InprocessLine:
    """A line to a Python function; made by `open_inprocess`.

    Replies arrive in order of their times; those with equal times arrive in the order given. If the function raises,
    the port ends: "raised ValueError: …". It also ends if an exception kills a thread or task of the function. If the
    function answers endlessly, the line takes 256 replies at a time, and none while 20,000 are not due yet.
    """

    def __init__(self, alarm: Alarm, port: str = "", largest: int = LARGEST) -> None:
        self._system: FrameHandler
        self._threads = ThreadWatch(self._note_death)
        self._deaths = deque[BaseException]()
        self._soon = from_threads()
        self._alarm = alarm
        self._port = port
        self._largest = largest
        self._inputs = deque[bytes]()
        self._answers: Iterator[object] = iter(())
        self._due: list[tuple[float, int, Arrival]] = []
        self._given = 0
        self._end = float("inf")
        self._over = False
        self._remarks: list[str] = []
        self._wake: Callable[[], None] = lambda: None

    @contextmanager
    def made(self, make: Callable[[], FrameHandler]) -> Generator[None]:
        """Make the function, and watch its threads in the body."""
        with self._threads:
            self._system = self._threads.call(make)
            yield

    def descriptors(self) -> tuple[int, ...]:
        """Return no descriptors: there are none."""
        return ()

    def arm(self, wake: Callable[[], None]) -> None:
        """Call `wake` whenever a reply is due."""
        self._wake = wake

    async def send(self, data: bytes) -> None:
        """Let the function take one frame. Raises LineLost after its end, UsageError for an invalid reply."""
        if self._end <= anyio.current_time():
            raise LineLost("ended")
        self._inputs.append(data)
        self._work()
        if self._is_due():
            self._wake()

    def receive(self) -> list[Arrival]:
        """Return up to 256 replies that are due. Raises UsageError as `send` does."""
        self._work()
        arrived = list[Arrival]()
        while self._is_due() and len(arrived) < _BATCH and not self._over:
            arrived.append(heapq.heappop(self._due)[2])
            self._over = isinstance(arrived[-1], Ending)
        return arrived

    def place(self) -> Place:
        """Return that the other end is in this process."""
        return Place(inside=True)

    def remarks(self) -> list[str]:
        """Return the traceback of a function that raised."""
        return list(self._remarks)

    def _note_death(self, error: BaseException) -> None:
        """Take the death of a thread or a task; called in that thread."""
        self._deaths.append(error)
        with suppress(RuntimeError):  # the event loop is over
            self._soon(self._ring)

    def _work(self) -> None:
        while self._deaths:
            self._plan(0, self._ended(self._deaths.popleft()))
        for _ in range(min(_BATCH, _FULL - len(self._due))):
            if self._end <= anyio.current_time():
                return
            reply = self._reply()
            if reply is _NOTHING:
                return
            try:
                self._plan(*_checked(reply, self._port))
            except UsageError as error:
                raise UsageError(f"{error}{own_frames(error, self._system)}") from error
        if not self._is_due() and len(self._due) < _FULL:
            self._alarm(anyio.current_time(), self._ring)  # otherwise the rest would never be read

    def _is_due(self) -> bool:
        return bool(self._due) and self._due[0][0] <= anyio.current_time()

    def _reply(self) -> object:
        try:
            while (reply := self._threads.call(next, self._answers, _NOTHING)) is _NOTHING and self._inputs:
                self._answers = _several(self._threads.call(self._system, self._inputs.popleft()))
        except USERS_OWN:
            raise
        except BaseException as error:  # noqa: BLE001 -- whatever it raises, the system under test has died of it
            return self._ended(error)
        return reply

    def _ended(self, error: BaseException) -> Ending:
        self._remarks.append(traced(error))
        return Ending(f"raised {describe(error)}")

    def _plan(self, delay: float, what: bytes | Ending) -> None:
        at = anyio.current_time() + delay
        if isinstance(what, Ending):
            self._end = min(self._end, at)
        self._given += 1
        heapq.heappush(self._due, (at, self._given, self._frame(what) if isinstance(what, bytes) else what))
        if delay:
            self._alarm(at, self._ring)

    def _frame(self, data: bytes) -> Frame:
        fits = len(data) <= self._largest
        return Frame(data) if fits else Frame(data[: self._largest], too_long(self._largest))

    def _ring(self) -> None:
        self._wake()


@checked
def inprocess(make: Callable[[], FrameHandler], *, port: str = "", largest: int = LARGEST) -> Port:
    """Return the port of a Python function; for each path, otf calls `make` for a fresh function.

    The function takes the bytes of a frame, and returns a reply, a list or generator of replies, or None. A reply is
    bytes or `Ending("why")`; to delay a reply, return a pair of seconds and the reply. `port` is the name of the port
    in error messages. otf cuts a frame to `largest` bytes, and marks the frame as cut. Opening the port raises
    ContactError if `make` raises an exception.

    >>> inprocess(lambda: lambda frame: [b"echo " + frame, (0.1, b"later")], port="line").kind
    'inprocess'
    """
    return Port(partial(open_inprocess, make, port=port, largest=largest), "inprocess")


@asynccontextmanager
async def open_inprocess(
    make: Callable[[], FrameHandler], *, port: str = "", largest: int = LARGEST
) -> AsyncGenerator[InprocessLine, None]:
    """Open a line to a fresh function; leaving the context drops its delayed replies."""
    async with alarms() as alarm:
        line = InprocessLine(alarm, port, largest)
        with line.made(partial(_made, make, port)):
            yield line


def _made(make: Callable[[], FrameHandler], port: str) -> FrameHandler:
    try:
        made = make()
    except USERS_OWN:
        raise
    except BaseException as error:
        message = (
            f"the function{_behind(port)} cannot be made: {located(error)}; inprocess(make) calls make() for each path"
        )
        raise ContactError(message) from error
    if not callable(made):  # pyright: ignore[reportUnnecessaryComparison] -- a user may return anything
        what = f"make(){_behind(port)} returned {brief(made)}, which cannot be called"
        raise UsageError(f"{what}; inprocess(make) needs a function from bytes to replies")
    return made


def _behind(port: str) -> str:
    return f" behind port {port!r}" if port else ""


def _several(answer: object) -> Iterator[object]:
    one: list[object] = [answer]
    if answer is None:
        return iter(())
    if isinstance(answer, bytes | str) or _is_delayed(answer) or not isinstance(answer, Iterable):
        return iter(one)
    return iter(cast("Iterable[object]", answer))


def _is_delayed(answer: object) -> bool:
    return isinstance(answer, tuple) and isinstance(next(iter(cast("tuple[object, ...]", answer)), None), int | float)


def _checked(reply: object, port: str) -> tuple[float, bytes | Ending]:
    match reply:
        case bytes() | Ending():
            return 0, reply
        case (int() | float() as delay, bytes() | Ending() as what) if delay >= 0:
            return delay, what
        case _:
            message = (
                f"the function{_behind(port)} gave {brief(reply)}, which is not a reply; "
                "a reply is bytes, Ending('why'), or (seconds, one of these); give several in a list"
            )
            raise UsageError(message)
