"""A port without a descriptor on asyncio, as on Windows: a transport of pyserial-asyncio polls it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import anyio

LARGEST: Final = 65_536
"""Bytes held until they are taken; beyond this, the transport stops reading, so that flow control works."""

DRAIN: Final = 1.0  # seconds for output to leave when the port is closed
_LOOK: Final = 0.005


class Polled(asyncio.Protocol):
    """Carries the bytes of `port` (of pyserial) with a transport, and calls `wake` when some have arrived.

    This class works around a defect of pyserial-asyncio 0.6 on Windows. `SerialTransport` stops its polling writer as
    soon as it is closing. So if a port is lost while output waits, the port is never flushed and `connection_lost`
    never called: the loss would look like silence. When the transport does end, it calls the port's `flush`, which may
    wait forever inside the event loop. A second end then raises, since the first has dropped the port. Anything written
    meanwhile is silently ignored. `_GuardedPort` sits between the transport and the loop. Before each callback of a
    closing transport it empties the output buffer and aborts once. An error in a callback means that the port is lost.
    `taken` reports whether output was written. `why` is the error of the port.
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
        """Return what has come. Raises BlockingIOError if nothing has, OSError at the end."""
        if self._come:
            chunk = self._come.popleft()
            if not self._come:
                self._transport.resume_reading()
            return chunk
        return self._looked()

    def write(self, data: bytes) -> int:
        """Hand bytes to the transport; `taken` reports whether they were written."""
        if data:  # it cannot handle an empty write
            self._transport.write(data)
        return len(data)

    async def taken(self) -> bool:
        """Wait until the port has taken what was written; return False if it is lost or closing."""
        if not self._ended.is_set() and self._transport.get_write_buffer_size():
            await self._taken.wait()
        return not (self._ended.is_set() or self._transport.is_closing())

    async def stop(self) -> None:
        """End the transport and close the port, without blocking the event loop."""
        with anyio.CancelScope(shield=True):
            if not self._ended.is_set():
                with anyio.move_on_after(DRAIN), suppress(OSError):
                    while self._transport.get_write_buffer_size() or self.port.out_waiting:  # noqa: ASYNC110 -- it never tells
                        await anyio.sleep(_LOOK)
                self._abort()
                with anyio.move_on_after(DRAIN):
                    await self._ended.wait()
            self.port.close()

    # Called by the transport

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
        """Read the port itself: what has arrived must not wait for the event loop's next turn."""
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
            # it waits inside the event loop until everything is written, perhaps forever
            with suppress(OSError):
                self.port.reset_output_buffer()
            self._abort()

    def _failed(self, error: Exception) -> None:
        self.why = self.why or str(error) or type(error).__name__
        if self._aborted:
            self.connection_lost(error)  # its own end failed
        else:
            self._abort()

    def _abort(self) -> None:
        # Only once, since each end of the transport fails on the one before. An end that it began itself may never
        # complete while output waits; if it fails, that also counts as the end.
        if not (self._aborted or self._ended.is_set()):
            self._aborted = True
            self._transport.abort()


class _GuardedPort:
    """The event loop as the transport sees it: errors of callbacks go to `failed`, not to the log again and again.

    Calls `before` before each callback.
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
        except Exception as error:  # noqa: BLE001 -- ports raise what they like; all that counts is that it ended
            self._failed(error)
