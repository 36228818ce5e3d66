"""Watching descriptors: a callback for each, as long as it is wanted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

Readable = Callable[[int], None]
"""Is told that a descriptor is readable, again and again while it is."""


class Watching(Protocol):
    """Watches descriptors."""

    def add(self, descriptor: int) -> None:
        """Begin to watch one."""
        ...

    def remove(self, descriptor: int) -> None:
        """Watch it no more; it may be closed after that."""
        ...


def watching(tasks: TaskGroup, readable: Readable) -> Watching:
    """Return what watches on the loop that is running."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # another loop than asyncio's
        return _Tasks(tasks, readable)
    # that of Windows has no readers
    has_readers = not isinstance(loop, getattr(asyncio, "ProactorEventLoop", ()))
    return _Readers(loop, readable) if has_readers else _Tasks(tasks, readable)


class _Readers:
    """Readers of asyncio's loop, which stay: to wait anew each time costs more than to read."""

    def __init__(self, loop: asyncio.AbstractEventLoop, readable: Readable) -> None:
        self._loop = loop
        self._readable = readable

    def add(self, descriptor: int) -> None:
        self._loop.add_reader(descriptor, self._readable, descriptor)

    def remove(self, descriptor: int) -> None:
        self._loop.remove_reader(descriptor)


class _Tasks:
    """A task for each descriptor, on any loop that anyio has."""

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
