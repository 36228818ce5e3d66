"""Waits on descriptors: with callbacks of the event loop, and in short spin waits without it.

An event loop waits in whole milliseconds and takes tens of microseconds to wake a task. If only one system is tested,
nothing else needs the loop, so each wait first polls the descriptors themselves for a moment.
"""

from __future__ import annotations

import asyncio
import select
import time
from collections.abc import Callable, Mapping
from typing import Final, Protocol

import anyio
from anyio.abc import TaskGroup

from otf.adapter.waiting import asyncio_loop

FIRST: Final = 0.0002  # seconds: most replies of a system on this machine come within this time
SHORT: Final = 0.002  # seconds: a wait up to this long never uses the loop, which is less precise
AT_ONCE: Final = 0.001  # seconds: a write that takes longer had to wait
TURN: Final = 0.02  # seconds after which the loop gets its turn in any case: signals come through it
_HIGHEST: Final = 1024  # `select` takes only descriptors below this

Readable = Callable[[int], None]
"""Called with a readable descriptor, again and again while it is readable."""


class Watching(Protocol):
    """Watches descriptors."""

    def add(self, descriptor: int) -> None:
        """Start watching a descriptor."""
        ...

    def remove(self, descriptor: int) -> None:
        """Stop watching a descriptor, which may then be closed."""
        ...


def watching(tasks: TaskGroup, readable: Readable) -> Watching:
    """Return the watcher for the running loop."""
    loop = asyncio_loop()
    return _Tasks(tasks, readable) if loop is None else _Readers(loop, readable)


class _Readers:
    """Persistent readers of asyncio's loop: a new wait for each arrival costs more than the read."""

    def __init__(self, loop: asyncio.AbstractEventLoop, readable: Readable) -> None:
        self._loop = loop
        self._readable = readable

    def add(self, descriptor: int) -> None:
        self._loop.add_reader(descriptor, self._readable, descriptor)

    def remove(self, descriptor: int) -> None:
        self._loop.remove_reader(descriptor)


class _Tasks:
    """A task for each descriptor, on any loop that anyio supports."""

    def __init__(self, tasks: TaskGroup, readable: Readable) -> None:
        self._tasks = tasks
        self._readable = readable
        self._scopes: dict[int, anyio.CancelScope] = {}

    def add(self, descriptor: int) -> None:
        scope = self._scopes[descriptor] = anyio.CancelScope()
        self._tasks.start_soon(self._watch, descriptor, scope)

    def remove(self, descriptor: int) -> None:
        self._scopes.pop(descriptor).cancel()

    async def _watch(self, descriptor: int, scope: anyio.CancelScope) -> None:
        with scope:
            while not scope.cancel_called:
                await anyio.wait_readable(descriptor)
                self._readable(descriptor)


class SpinWait:
    """Waits on descriptors for at most two milliseconds. Use one for each run."""

    open = 0

    def __init__(self) -> None:
        self.until: float = time.monotonic() + TURN
        self._possible = asyncio_loop() is not None

    def wait(self, descriptors: Mapping[int, object], seconds: float) -> list[int] | None:
        """Wait at most `seconds` for one of these; return the readable ones, or an empty list if there are none.

        None means that the loop has to wait for the rest of the time.
        """
        if not self.possible(descriptors):
            return None
        whole = seconds <= SHORT
        ready, _, _ = select.select(descriptors, (), (), (max(0.0, seconds) if whole else FIRST))
        return ready if whole or ready else None

    def possible(self, descriptors: Mapping[int, object]) -> bool:
        """Return whether these can be awaited without the loop, and the loop's turn is not due."""
        if not self._possible or SpinWait.open != 1 or time.monotonic() > self.until:
            return False
        return bool(descriptors) and max(descriptors) < _HIGHEST

    def turned(self) -> None:
        """Record that the loop had its turn."""
        self.until = time.monotonic() + TURN
