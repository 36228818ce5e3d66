"""Resets a system over its ports: sends what brings it into its initial state, and drops its answers."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

import anyio

from otf.adapter.line import Ending, Line, LineLost, Trouble
from otf.adapter.waiting import clock
from otf.errors import ContactError

_LOOK: Final = 0.005
_SHOWN: Final = 80  # bytes

HEARD: Final = ContextVar[float | None]("HEARD", default=None)
"""When the ports of this task were last empty: before they were opened, or after their output was dropped."""


@dataclass(frozen=True, slots=True)
class Expect:
    """A step of `Life.inband`: wait until a frame that matches `pattern` (a regular expression) comes on a port.

    Drops other frames on the port. If none matches within `seconds`, the reset has failed.

    >>> [("console", b"reset"), Expect("console", rb"=> $", 5.0)][1].seconds
    5.0
    """

    port: str
    pattern: bytes
    seconds: float = 5.0


async def quieten(opened: Mapping[str, Line], inband: Sequence[tuple[str, bytes] | Expect], settle: float) -> None:
    """Bring the system into its initial state, and drop its answers. Raises ContactError."""
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
    until = anyio.current_time() + settle
    while settle:
        drop(opened, "was to settle")
        if anyio.current_time() >= until:
            return
        await anyio.sleep(_LOOK)


def drop(opened: Mapping[str, Line], what: str) -> None:
    """Drop what has come on the ports of a system that `what`. Raises ContactError if one of them ended."""
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
