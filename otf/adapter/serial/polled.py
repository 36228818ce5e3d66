"""A port without a descriptor on asyncio, as on Windows: a transport of pyserial-asyncio asks it again and again."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import anyio

LARGEST: Final = 65_536
"""Bytes that are held until they are taken; beyond, the transport stops reading, so that flow control works."""

DRAIN: Final = 1.0  # seconds in which what was written may still go out when the port is closed
_LOOK: Final = 0.005


class Polled(asyncio.Protocol):
    """Carries the bytes of `port` (of pyserial) by a transport, which calls `wake` when some have arrived.

    pyserial-asyncio 0.6 has a defect on Windows, around which this class works. `SerialTransport` stops its polling
    writer as soon as it is closing. A port that is lost while output waits is therefore never flushed, and
    `connection_lost` is never called: the loss would look like silence. Where the transport does end, it calls the
    port's `flush`, which may wait for ever inside of the event loop. A second end then raises, since the first has
    dropped the port. What is written meanwhile is ignored without an error. `_GuardedPort` is between the transport
    and the loop: before each callback of a closing transport it empties the output buffer and aborts once, and an
    error of a callback counts as the loss. `taken` reports whether output was written. `why` is the error of the port.
    """

    descriptor: int = -1

    def __init__(self, port: Any) -> None:  # noqa: ANN401 -- pyserial has a class for each kind of port
        from serial_asyncio import SerialTransport  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

        self.port: Any = port
        self.why: str = ""
        self.wake: Callable[[], None] = lambda: None
        self._come = deque[bytes]()
        self._taken = anyio.Event()
        self._ended = anyio.Event()
        self._aborted = False
        self._transport: Any = SerialTransport(_GuardedPort(self._before, self._failed), self, port)
        # `taken` waits for output that the driver did not accept at once
        self._transport.set_write_buffer_limits(high=0)

    def read(self) -> bytes:
        """Return what has come. Raises BlockingIOError where nothing has, OSError at the end."""
        if self._come:
            chunk = self._come.popleft()
            if not self._come:
                self._transport.resume_reading()
            return chunk
        return self._looked()

    def write(self, data: bytes) -> int:
        """Hand bytes to the transport; `taken` reports whether they were written."""
        if data:  # no bytes at all would make it stumble
            self._transport.write(data)
        return len(data)

    async def taken(self) -> bool:
        """Wait until the port has taken what was written; False where it was lost before, or is being lost."""
        if not self._ended.is_set() and self._transport.get_write_buffer_size():
            await self._taken.wait()
        return not (self._ended.is_set() or self._transport.is_closing())

    async def stop(self) -> None:
        """End the transport and close the port, without holding up the event loop."""
        with anyio.CancelScope(shield=True):
            if not self._ended.is_set():
                with anyio.move_on_after(DRAIN), suppress(OSError):
                    while self._transport.get_write_buffer_size() or self.port.out_waiting:  # noqa: ASYNC110 -- it never tells
                        await anyio.sleep(_LOOK)
                self._abort()
                with anyio.move_on_after(DRAIN):
                    await self._ended.wait()
            self.port.close()

    # What the transport calls

    def data_received(self, data: bytes) -> None:
        """Take what has come."""
        self._come.append(data)
        if sum(map(len, self._come)) > LARGEST:
            self._transport.pause_reading()
        self.wake()

    def pause_writing(self) -> None:
        """Note that output waits to be written."""
        self._taken = anyio.Event()

    def resume_writing(self) -> None:
        """Note that all output has been written."""
        self._taken.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the port is gone, or was closed."""
        self.why = self.why or str(exc or "")
        self._ended.set()
        self._taken.set()
        self.wake()

    def _looked(self) -> bytes:
        """Look at the port itself: what it has now must not wait for the next turn of the event loop."""
        if self._ended.is_set():
            raise OSError(self.why or "it is closed")
        try:
            waiting = self.port.in_waiting
            chunk: bytes = self.port.read(waiting) if waiting else b""
        except OSError as error:
            self.why = self.why or str(error)
            raise
        if not chunk:
            raise BlockingIOError
        return chunk

    def _before(self) -> None:
        if self._transport.is_closing():
            # it waits inside of the event loop until all is written, and that may be for ever
            with suppress(OSError):
                self.port.reset_output_buffer()
            self._abort()

    def _failed(self, error: Exception) -> None:
        self.why = self.why or str(error) or type(error).__name__
        if self._aborted:
            self.connection_lost(error)  # it stumbled over its own end
        else:
            self._abort()

    def _abort(self) -> None:
        # once: each end of the transport stumbles over the one before. One that it came to by itself may never come
        # about, while it has something to write; where it does, that it stumbled is taken for the end as well
        if not (self._aborted or self._ended.is_set()):
            self._aborted = True
            self._transport.abort()


class _GuardedPort:
    """The event loop as the transport sees it: errors of callbacks go to `failed`, and not to the log again and again.

    `before` is called before each callback.
    """

    def __init__(self, before: Callable[[], None], failed: Callable[[Exception], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._before = before
        self._failed = failed

    def call_soon(self, call: Callable[..., object], *arguments: object) -> asyncio.Handle:
        """Call it in the next turn."""
        return self._loop.call_soon(self._called, call, *arguments)

    def call_later(self, delay: float, call: Callable[..., object], *arguments: object) -> asyncio.TimerHandle:
        """Call it later."""
        return self._loop.call_later(delay, self._called, call, *arguments)

    def call_exception_handler(self, context: object) -> None:
        """Log nothing: `connection_lost` gets the error."""

    def _called(self, call: Callable[..., object], *arguments: object) -> None:
        self._before()
        try:
            call(*arguments)
        except Exception as error:  # noqa: BLE001 -- ports raise what they like; that it ended is what counts
            self._failed(error)
