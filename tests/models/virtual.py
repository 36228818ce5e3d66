"""An asyncio protocol as a system under test, in this process and in virtual time.

trio-asyncio runs asyncio's callbacks and timers on trio; trio's clock jumps whenever all wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

import anyio
import pytest
from trio.testing import MockClock

from otf.adapter import Arrival, Connect, Frame, Line

own_loop = asyncio.new_event_loop
trio_asyncio: Any = pytest.importorskip("trio_asyncio", reason="trio-asyncio does not load on Python 3.14 yet")
# its import changes which loops asyncio makes outside trio too, in each thread: those of other tests stay as they are
asyncio.new_event_loop = asyncio.events.new_event_loop = own_loop

T = TypeVar("T")


def virtually(run: Callable[[], Awaitable[T]]) -> T:
    """Run on trio in virtual time."""
    return anyio.run(run, backend="trio", backend_options={"clock": MockClock(autojump_threshold=0)})


class MemoryTransport(asyncio.Transport):
    """The transport of a protocol, and the line to it: complete lines of text without their ends."""

    def __init__(self, loop: asyncio.AbstractEventLoop, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self._loop, self._protocol = loop, protocol
        self._written = b""
        self._closing = False
        self._wake: Callable[[], None] = lambda: None

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Take what the protocol sends."""
        self._written += bytes(data)
        self._wake()

    def close(self) -> None:
        """Note that the protocol has closed it; the line lasts as long as the path."""
        self._closing = True

    def is_closing(self) -> bool:
        """Return whether the protocol has closed it."""
        return self._closing

    def descriptors(self) -> tuple[int, ...]:
        """Return no descriptor: there is none."""
        return ()

    def arm(self, wake: Callable[[], None]) -> None:
        """Call `wake` whenever the protocol has sent something."""
        self._wake = wake

    async def send(self, data: bytes) -> None:
        """Let the protocol take a line in its own event loop."""
        self._loop.call_soon(self._protocol.data_received, data + b"\n")

    def receive(self) -> list[Arrival]:
        """Return the lines that are complete."""
        *complete, self._written = self._written.split(b"\n")
        return [Frame(line) for line in complete]

    def remarks(self) -> list[str]:
        """Return none."""
        return []


def in_memory(make: Callable[[], asyncio.Protocol], port: str) -> Connect:
    """Return the `connect` of a bench for a fresh protocol on each path."""

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        opened: AbstractAsyncContextManager[asyncio.AbstractEventLoop] = trio_asyncio.open_loop()
        async with opened as loop:
            protocol = make()
            transport = MemoryTransport(loop, protocol)
            loop.call_soon(protocol.connection_made, transport)
            yield {port: transport}
            loop.call_soon(protocol.connection_lost, None)

    return connect
