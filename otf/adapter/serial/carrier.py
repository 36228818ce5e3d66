"""Carriers of the bytes of a serial port: its own descriptor, a transport of asyncio, or threads."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final, Protocol

import anyio

from otf.adapter.exits import answered
from otf.adapter.serial.polled import Polled
from otf.adapter.serial.pump import Pump

NONE: Final = -1
"""The descriptor of what has none."""

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
        """Return what is there. Raises BlockingIOError where nothing is; no bytes, or OSError, is the end."""
        ...

    def write(self, data: bytes, /) -> int:
        """Take bytes; return how many. Raises BlockingIOError where none can be taken now, OSError at the end."""
        ...

    async def stop(self) -> None:
        """Close the port and the carrier of its bytes. May be called again."""
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
            # a driver may wait until all has been sent, for half a minute, and pyserial's socket sleeps
            await answered(self._close, _CLOSING)

    def _close(self) -> None:
        # pyserial forgets to close a socket that the other side has broken off
        sock = self.port._socket if is_network(self.port) else None  # noqa: SLF001 -- nothing else has it
        self.port.close()
        if sock is not None:
            sock.close()


def carried(port: Any) -> Carrier:  # noqa: ANN401 -- the same
    """Return the carrier for an open port on this platform and event loop."""
    if _has_descriptor(port):
        return Direct(port)
    # the one kind of port that pyserial-asyncio polls; it does not know other event loops
    if PLATFORM == "nt" and type(port).__module__ == "serial.serialwin32" and _on_asyncio():
        return Polled(port)
    return Pump(port)


def is_network(port: Any) -> bool:  # noqa: ANN401 -- the same
    """Return whether a port is a network connection (`socket://`)."""
    return type(port).__module__ == _NETWORK


def _has_descriptor(port: Any) -> bool:  # noqa: ANN401 -- the same
    # only the plain port and pyserial's socket are nothing but their descriptor: others (a log, a protocol with
    # escapes) have one too, but what is read from it is not what the port would have given
    return PLATFORM == "posix" and (type(port).__module__ == "serial.serialposix" or is_network(port))


def _on_asyncio() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
