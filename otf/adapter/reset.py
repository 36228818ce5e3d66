"""Resets a system: by a hook, a shell command or a Python function, or over its ports, whose answers are dropped."""

from __future__ import annotations

import inspect
import re
import signal
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import anyio

from otf.adapter.child import Child
from otf.adapter.child.reading import Reading
from otf.adapter.line import Ending, Line, LineLost, Trouble
from otf.adapter.stream import Inflow
from otf.adapter.third_party import answered, is_interruption, located
from otf.adapter.waiting import alarms, clock
from otf.errors import CodecError, ContactError, UsageError
from otf.framing import lines

_LOOK: Final = 0.005
_SHOWN: Final = 80  # bytes

HEARD: Final = ContextVar[float | None]("HEARD", default=None)
"""When the ports of this task were last empty: before they were opened, or after their output was dropped."""


@dataclass(frozen=True, slots=True)
class Expect:
    """A step of `Life.inband`: otf waits until a frame that matches `pattern` (a regular expression) comes on `port`.

    otf drops all frames on `port` that do not match. If no frame matches within `seconds`, the reset has failed, unless
    `needed` is false.

    >>> [("console", b"reset"), Expect("console", rb"=> $", 5.0)][1].seconds
    5.0
    """

    port: str
    pattern: bytes
    seconds: float = 5.0
    needed: bool = True


async def quieten(opened: Mapping[str, Line], inband: Sequence[tuple[str, bytes] | Expect], settle: float) -> None:
    """Bring the system into its initial state, and drop its answers.

    Raises ContactError; UsageError for bytes that the framing cannot send.
    """
    for each in inband:
        if isinstance(each, Expect):
            await _expected(opened[each.port], each)
            continue
        port, data = each
        try:
            await opened[port].send(data)
        except LineLost as lost:
            message = f"the reset over port {port!r} failed: {lost}"
            raise ContactError(message) from lost
        except CodecError as error:
            message = f"Life.inband, port {port!r}: {error}"
            raise UsageError(message) from error
    until = anyio.current_time() + settle
    while settle:
        drop(opened, "was to settle")
        if anyio.current_time() >= until:
            return
        await anyio.sleep(_LOOK)


def drop(opened: Mapping[str, Line], what: str) -> None:
    """Drop what has come on the ports. Raises ContactError, with `what` ("was to settle"), if one of them ended."""
    HEARD.set(clock()())
    for port, line in opened.items():
        deque(_dropped_frames(port, line, what), maxlen=0)


async def _expected(line: Line, expect: Expect) -> None:
    """Wait for a frame. Raises ContactError with the last frame that came instead."""
    pattern, until = re.compile(expect.pattern), anyio.current_time() + expect.seconds
    last: bytes | None = None
    while True:
        for data in _dropped_frames(expect.port, line, "was to be reset"):
            last = data
            if pattern.search(data):
                return
        if anyio.current_time() >= until:
            if not expect.needed:
                return
            came = "nothing came" if last is None else f"the last that came is {last[-_SHOWN:]!r}"
            missed = f"no frame with {expect.pattern!r} within {expect.seconds:g} s"
            raise ContactError(f"the reset over port {expect.port!r} failed: {missed}; {came}")
        await anyio.sleep(_LOOK)


def _dropped_frames(port: str, line: Line, what: str) -> Iterator[bytes]:
    while batch := line.receive():
        for arrival in batch:
            if isinstance(arrival, (Ending, Trouble)):
                message = f"port {port!r} ended while the system {what}: {arrival.reason}"
                raise ContactError(message)
            yield arrival.data


Hook: TypeAlias = str | Sequence[str] | Callable[[], object] | Callable[[], Awaitable[object]]
"""A command line for the shell, a program with its arguments, or a function.

A command succeeds with exit status 0, a function with any result but False. otf runs a function that blocks in a thread
of its own, and an `async` function on its event loop.
"""

_LAST: Final = 5.0
_FOREVER: Final = float("inf")  # the caller sets the limit


async def obey(hook: Hook, what: str, seconds: float) -> None:
    """Run a hook to its end; errors call it `what`. Raises ContactError if it fails or takes too long."""
    with anyio.move_on_after(seconds):
        why = await (_called(hook) if callable(hook) else _run(hook))
        if why:
            message = f"{what} failed: {why}"
            raise ContactError(message)
        return
    message = f"{what} took longer than {seconds:g} s; give it more time, or see by hand where it hangs"
    raise ContactError(message)


async def _called(hook: Callable[[], Any]) -> str:
    try:
        if inspect.iscoroutinefunction(hook):
            answer: object = await hook()
        else:
            answer = await answered(hook, _FOREVER)
    except BaseException as error:  # whatever it raises, the system is not ready
        if is_interruption(error):
            raise
        return located(error)
    return "the function returned False" if answer is False else ""


async def _run(command: str | Sequence[str]) -> str:
    argv = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    async with alarms() as alarm:
        child = Child(argv)
        reading = Reading(child, lines()(), alarm)
        try:
            child.close_input()
            await _until_ended(reading)
        finally:
            # the whole group, whatever the hook has left behind
            child.signal(signal.SIGKILL)
            with anyio.CancelScope(shield=True), anyio.move_on_after(_LAST):
                await _until_ended(reading)
            reading.close()
            child.close()
        printed = [*reading.tail.lines(), *_printed(reading.inflow)]
        ended = reading.ended
    return "" if ended == "exit status 0" else "; ".join([f"{ended} of `{child.command}`", *printed[-3:]])


async def _until_ended(reading: Reading) -> None:
    reading.look()
    while not reading.ended:
        await reading.more()
        reading.look()
        while len(reading.inflow.queue) > 1:
            reading.inflow.queue.popleft()  # only its last part is of interest


def _printed(inflow: Inflow) -> list[str]:
    data = [getattr(each, "data", b"") for each in inflow.queue]
    return [each.decode(errors="backslashreplace") for each in data if each]
