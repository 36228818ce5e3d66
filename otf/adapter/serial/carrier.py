"""Carriers of the bytes of a serial port: its own descriptor, a transport of asyncio, or threads."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any, Final, Protocol

import anyio

from otf.adapter.serial.polled import Polled
from otf.adapter.third_party import answered
from otf.adapter.waiting import asyncio_loop

DRAIN: Final = 1.0
"""Seconds for output to leave when the port is closed, and again until a write gives up."""

PUMP: Final = "serial pump"
"""The name of its threads."""

_TURN: Final = 0.05  # seconds after which a waiting read checks whether to end
_PIECE: Final = 4096


class Pump:
    """Carries the bytes of `port` (of pyserial) to and from a socket with this `descriptor`, until `stop`.

    The socket holds a bounded number of bytes, so flow control still reaches the other side if the port is not read.
    `why` is the error of the port; then the socket has ended.
    """

    def __init__(self, port: Any) -> None:  # noqa: ANN401 -- pyserial has a class for each kind of port
        self.port: Any = port
        self.why: str = ""
        self._end, self._far = socket.socketpair()
        self._end.settimeout(0)
        self.descriptor: int = self._end.fileno()
        self.read: Callable[[], bytes] = partial(self._end.recv, 65_536)
        self.write: Callable[[bytes], int] = self._end.send
        self._over = self._lost = False
        port.timeout = _TURN
        self._threads = [threading.Thread(target=work, name=PUMP, daemon=True) for work in (self._read, self._write)]
        for thread in self._threads:
            thread.start()

    async def stop(self) -> None:
        """End both threads, and close the port and the sockets. A thread stuck in the port is left behind."""
        self._over = True
        if self._end.fileno() >= 0:
            anyio.notify_closing(self._end)
            self._end.close()
        with anyio.CancelScope(shield=True), suppress(TimeoutError):
            await answered(self._join, 3 * DRAIN)

    def _read(self) -> None:
        try:
            while not self._over:
                if data := self.port.read(1):
                    self._far.sendall(data + self.port.read(min(self.port.in_waiting, _PIECE)))
        except Exception as error:  # noqa: BLE001 -- ports raise what they like; all that counts is that it ended
            self._ended(error)

    def _write(self) -> None:
        try:
            while (data := self._far.recv(_PIECE)) and not self._lost:
                self.port.write(data)
        except Exception as error:  # noqa: BLE001 -- the same
            self._ended(error)

    def _ended(self, error: Exception) -> None:
        if not self._over:
            self.why = self.why or str(error) or type(error).__name__
            self._far.shutdown(socket.SHUT_RDWR)

    def _join(self) -> None:
        if not self._ends(lambda: None):
            # the other side does not read: what was written will never leave
            self._lost = True
            self._ends(self._freed)
        self._far.close()
        self.port.close()

    def _ends(self, meanwhile: Callable[[], None]) -> bool:
        """Wait for the threads; return whether they have ended."""
        until = monotonic() + DRAIN
        while any(thread.is_alive() for thread in self._threads) and monotonic() < until:
            meanwhile()
            for thread in self._threads:
                thread.join(_TURN / 10)
        return not any(thread.is_alive() for thread in self._threads)

    def _freed(self) -> None:
        # a port knows one of these, or the other
        for give_up in ("cancel_write", "reset_output_buffer"):
            with suppress(Exception):
                getattr(self.port, give_up)()


NONE: Final = -1
"""The descriptor of a carrier without one."""

PLATFORM: Final = os.name
_CHUNK: Final = 65_536
_CLOSING: Final = 5.0
_NETWORK: Final = "serial.urlhandler.protocol_socket"


class Carrier(Protocol):
    """Carries the bytes of `port`; `descriptor` becomes readable with them, and `why` is why the port ended."""

    port: Any
    descriptor: int
    why: str

    def read(self) -> bytes:
        """Return what is there. Raises BlockingIOError if nothing is; no bytes, or OSError, means the end."""
        ...

    def write(self, data: bytes, /) -> int:
        """Take bytes; return how many. Raises BlockingIOError if none can be taken now, OSError at the end."""
        ...

    async def stop(self) -> None:
        """Close the port and its carrier. May be called again."""
        ...


class Direct:
    """The descriptor of the port itself."""

    def __init__(self, port: Any) -> None:  # noqa: ANN401 -- pyserial has a class for each kind of port
        self.port: Any = port
        self.why: str = ""
        self.descriptor: int = port.fileno()
        self.read: Callable[[], bytes] = partial(os.read, self.descriptor, _CHUNK)
        self.write: Callable[[bytes], int] = partial(os.write, self.descriptor)

    async def stop(self) -> None:
        """Close the port; this drops DTR, unless the driver is set up otherwise."""
        if not self.port.is_open:
            return
        anyio.notify_closing(self.descriptor)
        with anyio.CancelScope(shield=True), suppress(TimeoutError):
            # a driver may wait up to half a minute until all has been sent, and pyserial's socket sleeps
            await answered(self._close, _CLOSING)

    def _close(self) -> None:
        # pyserial forgets to close a socket that the other side has reset
        sock = self.port._socket if is_network(self.port) else None  # noqa: SLF001 -- nothing else has it
        self.port.close()
        if sock is not None:
            sock.close()


def carried(port: Any) -> Carrier:  # noqa: ANN401 -- the same
    """Return the carrier for an open port on this platform and event loop."""
    if _has_descriptor(port):
        return Direct(port)
    # the only kind of port that pyserial-asyncio polls; it supports no other event loop
    if PLATFORM == "nt" and type(port).__module__ == "serial.serialwin32" and asyncio_loop() is not None:
        return Polled(port)
    return Pump(port)


def is_network(port: Any) -> bool:  # noqa: ANN401 -- the same
    """Return whether a port is a network connection (`socket://`)."""
    return type(port).__module__ == _NETWORK


def _has_descriptor(port: Any) -> bool:  # noqa: ANN401 -- the same
    # Only the plain port and pyserial's socket are nothing but their descriptor. Others (a log, a protocol with
    # escapes) have one too, but reading it does not give what the port would have given.
    return PLATFORM == "posix" and (type(port).__module__ == "serial.serialposix" or is_network(port))
