"""What every adapter promises: frames, an ending that comes once and last, and nothing left open."""

from __future__ import annotations

import select
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Final, TypeAlias

import anyio
from anyio.lowlevel import checkpoint

from otf.adapter import Arrival, Ending, Frame, Line, LineLost
from otf.testing.leaks import leaks_of

SECONDS: Final = 20.0
"""A bound for work of milliseconds, so that a busy machine fails no test."""

_PATHS: Final = 5
_MANY: Final = 100
_FLOOD: Final = 100_000


@dataclass(frozen=True)
class Echo:
    """An open `line` to a system that sends back each frame, for the checks of an adapter.

    The system ends after it has sent back the frame `bye`. `ending` is the reason that the adapter reports when the
    system ends, or None if the system never ends. `ended` waits until the adapter can notice that the system has ended.
    If an adapter notices the system's end only when it sends a frame, as over UDP, `ended` sends a frame. `data` is a
    frame with every byte value that the line can carry; a line of text, for example, carries no newline. `frame` turns
    a short text into a frame, for a line on which not every text is a frame.

    >>> import anyio
    >>> from otf.adapters.inprocess import inprocess
    >>> async def echoed():
    ...     async with inprocess(lambda: lambda frame: [frame])() as line:
    ...         echo = Echo(line, ending=None, data=b"hello")
    ...         await echo.line.send(echo.data)
    ...         return echo.line.receive()
    >>> anyio.run(echoed)
    [Frame(data=b'hello', trouble='', received=None)]
    """

    line: Line
    ending: str | None
    ended: Callable[[], Awaitable[object]] = checkpoint
    bye: bytes = b"bye"
    data: bytes = field(default=bytes(set(range(256)) - {0x0A, 0x0D}), repr=False)
    frame: Callable[[bytes], bytes] = bytes


Rig: TypeAlias = Callable[[], AbstractAsyncContextManager[Echo]]
"""A function whose context starts a new system and opens a line to it; the end of the context closes both.

>>> from contextlib import asynccontextmanager
>>> from otf.adapters import inprocess
>>> @asynccontextmanager
... async def rig():
...     async with inprocess(lambda: lambda frame: [frame])() as line:
...         yield Echo(line, ending=None)
>>> in_process: Rig = rig
"""


def check_adapter(rig: Rig, *, loops: Iterable[str] | None = None) -> None:
    """Test an adapter with each of `ADAPTER_CHECKS`, on asyncio and, if trio is installed, on trio.

    `check_adapter` raises AssertionError with the promise that the adapter breaks. Do not call `check_adapter` from
    within an event loop. In the example, a library passes messages to the adapter from its own thread. The adapter's
    line hands frames over through a queue, and wakes otf through a socket whose descriptor otf watches:

    >>> import queue, socket, threading
    >>> from contextlib import asynccontextmanager, contextmanager
    >>> from otf.adapter import Ending, Frame, LineLost
    >>> class Library:  # it sends back what it gets, and stops after b"bye"
    ...     def __init__(self, on_data, on_end):
    ...         self.on_data, self.on_end, self.work = on_data, on_end, queue.Queue()
    ...         self.thread = threading.Thread(target=self.loop)
    ...         self.thread.start()
    ...     def loop(self):
    ...         while (data := self.work.get()) is not None:
    ...             self.on_data(data)
    ...             if data == b"bye":
    ...                 self.on_end("stopped")
    ...     def write(self, data): self.work.put(data)
    ...     def stop(self):
    ...         self.work.put(None)
    ...         self.thread.join()
    >>> class ThreadLine:
    ...     def __init__(self):
    ...         self.arrived, self.gone = queue.SimpleQueue(), ""
    ...         self.ours, self.theirs = socket.socketpair()
    ...         self.ours.setblocking(False)
    ...         self.library = Library(lambda data: self.put(Frame(data)), lambda why: self.put(Ending(why)))
    ...     def put(self, arrival):  # in the thread of the library
    ...         self.theirs.send(b"!")  # first: there is never an arrival without its byte
    ...         self.arrived.put(arrival)
    ...     def descriptors(self): return () if self.gone else (self.ours.fileno(),)
    ...     def arm(self, wake): pass  # the descriptor is enough
    ...     async def send(self, data):
    ...         if self.gone:
    ...             raise LineLost(self.gone)
    ...         self.library.write(data)
    ...     def receive(self):  # one at a time, and one byte of the socket for it
    ...         if self.gone or self.arrived.empty():
    ...             return []
    ...         self.ours.recv(1)
    ...         arrival = self.arrived.get()
    ...         self.gone = arrival.reason if isinstance(arrival, Ending) else ""
    ...         return [arrival]
    ...     def remarks(self): return []
    ...     def close(self):
    ...         self.library.stop()
    ...         self.ours.close()
    ...         self.theirs.close()
    >>> @asynccontextmanager
    ... async def rig():
    ...     line = ThreadLine()
    ...     try:
    ...         yield Echo(line, "stopped")
    ...     finally:
    ...         line.close()
    >>> check_adapter(rig)
    """
    for loop in loops if loops is not None else [name for name in ("asyncio", "trio") if find_spec(name)]:
        for check in ADAPTER_CHECKS:
            try:
                anyio.run(check, rig, backend=loop)
            except AssertionError as error:
                error.add_note(f"in {check.__name__}, on {loop}: {check.__doc__}")
                raise


async def a_frame_comes_back(rig: Rig) -> None:
    """What the line sends reaches the system, and the answer comes back with the same bytes."""
    async with rig() as echo:
        await echo.line.send(echo.data)
        _same(await arrive(echo.line, 1), frames(echo.data))


async def frames_keep_their_order(rig: Rig) -> None:
    """A hundred frames come back one by one, in the order in which they were sent."""
    async with rig() as echo:
        numbers = [echo.frame(str(number).encode()) for number in range(_MANY)]
        for number in numbers:
            await echo.line.send(number)
        _same(await arrive(echo.line, _MANY), frames(*numbers))


async def receiving_never_waits(rig: Rig) -> None:
    """If nothing has come, `receive` returns nothing, however often the runner calls it."""
    async with rig() as echo:
        _same([echo.line.receive() for _ in range(3)], [[], [], []])
        await echo.line.send(echo.frame(b"one"))
        _same(await arrive(echo.line, 1), frames(echo.frame(b"one")))
        _same([echo.line.receive() for _ in range(3)], [[], [], []])


async def descriptors_are_quiet(rig: Rig) -> None:
    """Once the runner has received everything, no descriptor is readable, so that the runner can sleep."""
    async with rig() as echo:
        await echo.line.send(echo.frame(b"one"))
        _same(await arrive(echo.line, 1), frames(echo.frame(b"one")))
        _same(select.select(echo.line.descriptors(), [], [], 0)[0], [])


async def the_end_comes_once_and_last(rig: Rig) -> None:
    """The ending comes once, after everything that arrived before it, and leaves no descriptor readable."""
    async with rig() as echo:
        if echo.ending is None:
            return
        await echo.line.send(echo.frame(b"one"))
        await echo.line.send(echo.bye)
        await echo.ended()
        _same(await arrive(echo.line, over), [*frames(echo.frame(b"one"), echo.bye), Ending(echo.ending)])
        _same(echo.line.receive(), [])
        _same(select.select(echo.line.descriptors(), [], [], 0)[0], [])


async def nothing_can_be_sent_after_the_end(rig: Rig) -> None:
    """Sending to a system that has ended raises LineLost."""
    async with rig() as echo:
        if echo.ending is None:
            return
        await echo.line.send(echo.bye)
        await echo.ended()
        await arrive(echo.line, over)
        with suppress(LineLost):
            await echo.line.send(echo.frame(b"one more"))
            raise AssertionError("`send` after the ending raised no LineLost")


async def nothing_is_left_open(rig: Rig, paths: int = _PATHS) -> None:
    """After some paths, half of them with an ending, there are no more descriptors and children than before."""

    async def use() -> None:
        for _ in range(paths):
            await _one_path(rig)
            await _one_path(rig, end=True)

    await _one_path(rig)  # what an event loop opens once and keeps stays open from now on
    _same(await leaks_of(use), [])


async def a_cancelled_opening_leaves_nothing(rig: Rig, lingers: float = 0.0) -> None:
    """An adapter that is cancelled while it opens a line, or right after, leaves neither descriptors nor children."""

    async def use() -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            async with rig():
                await anyio.sleep_forever()

    # `lingers`: how many seconds an uninterruptible call of a library goes on
    await _one_path(rig)
    _same(await leaks_of(use, lingers), [])


async def errors_of_the_body_come_out_bare(rig: Rig) -> None:
    """An error raised inside the context comes out as it is, not wrapped in a group."""
    error = KeyError("of the body")
    try:
        await _raise_inside(rig, error)
    except BaseException as raised:  # noqa: BLE001 -- a group of errors is not a KeyError
        _same(raised, error)
        return
    raise AssertionError("the context swallows an error of its body")


async def there_is_nothing_to_remark(rig: Rig) -> None:
    """A line has no remarks as long as all is well."""
    async with rig() as echo:
        await echo.line.send(echo.frame(b"one"))
        await arrive(echo.line, 1)
        _same(echo.line.remarks(), [])


ADAPTER_CHECKS: Final[tuple[Callable[[Rig], Awaitable[None]], ...]] = (
    a_frame_comes_back,
    frames_keep_their_order,
    receiving_never_waits,
    descriptors_are_quiet,
    the_end_comes_once_and_last,
    nothing_can_be_sent_after_the_end,
    nothing_is_left_open,
    a_cancelled_opening_leaves_nothing,
    errors_of_the_body_come_out_bare,
    there_is_nothing_to_remark,
)
"""The checks of `check_adapter`: coroutine functions that take a rig, and whose docstrings say what they check.

>>> ADAPTER_CHECKS[0].__name__
'a_frame_comes_back'
"""


async def arrive(line: Line, enough: Callable[[list[Arrival]], bool] | int) -> list[Arrival]:
    """Return what arrives, until that is enough; receive as the runner does: watch, be woken, receive everything.

    `enough` is the number of arrivals, or a test of those so far. Raises AssertionError if that takes more than
    `SECONDS` seconds.

    >>> from otf.adapters import inprocess
    >>> async def answer():
    ...     async with inprocess(lambda: bytes.upper)() as line:
    ...         await line.send(b"hello")
    ...         return await arrive(line, 1)
    >>> [frame.data for frame in anyio.run(answer)]
    [b'HELLO']
    """
    arrived: list[Arrival] = []
    with anyio.move_on_after(SECONDS):
        while True:
            while batch := line.receive():
                arrived += batch
                if len(arrived) > _FLOOD:
                    raise AssertionError(f"`receive` never returned an empty list; its last arrivals: {arrived[-2:]}")
            if enough(arrived) if callable(enough) else len(arrived) >= enough:
                return arrived
            await woken(line)
    raise AssertionError(f"within {SECONDS:g} s only this arrived: {arrived}")


async def woken(line: Line) -> None:
    """Wait until a descriptor of the line is readable, or the line calls."""
    async with anyio.create_task_group() as watching:

        async def watch(descriptor: int) -> None:
            await anyio.wait_readable(descriptor)
            watching.cancel_scope.cancel()

        line.arm(watching.cancel_scope.cancel)
        for descriptor in line.descriptors():
            watching.start_soon(watch, descriptor)
        await anyio.sleep_forever()


def over(arrived: list[Arrival]) -> bool:
    """Return whether the ending has come."""
    return any(isinstance(arrival, Ending) for arrival in arrived)


def frames(*data: bytes) -> list[Arrival]:
    """Return frames with these bytes."""
    return [Frame(each) for each in data]


async def _one_path(rig: Rig, *, end: bool = False) -> None:
    """Open a line, use it, and leave it."""
    async with rig() as echo:
        await echo.line.send(echo.bye if end else echo.frame(b"one"))
        await arrive(echo.line, 1)


async def _raise_inside(rig: Rig, error: Exception) -> None:
    async with rig():
        raise error


def _same(found: Any, promised: Any) -> None:  # noqa: ANN401 -- whatever a line returns
    if found != promised:
        raise AssertionError(f"{found!r} where {promised!r} was promised")
