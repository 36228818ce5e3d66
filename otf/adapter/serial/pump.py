"""A port without a descriptor: two threads carry its bytes to and from a socket that has one."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any, Final

import anyio

from otf.adapter.exits import answered

DRAIN: Final = 1.0
"""Seconds in which what was written may still go out when the port is closed, and again until a write gives up."""

PUMP: Final = "serial pump"
"""The name of its threads."""

_TURN: Final = 0.05  # seconds after which a waiting read looks whether it is to end
_CHUNK: Final = 4096


class Pump:
    """Carries the bytes of `port` (of pyserial) to and from a socket with this `descriptor`, until `stop`.

    The socket holds a bounded number of bytes, so that flow control still reaches the other side when
    the port is not read. `why` is the error of the port; then the socket is at its end.
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
        """End both threads and close the port and the sockets. A thread that is stuck in the port is left behind."""
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
                    self._far.sendall(data + self.port.read(min(self.port.in_waiting, _CHUNK)))
        except Exception as error:  # noqa: BLE001 -- ports raise what they like; that it ended is what counts
            self._ended(error)

    def _write(self) -> None:
        try:
            while (data := self._far.recv(_CHUNK)) and not self._lost:
                self.port.write(data)
        except Exception as error:  # noqa: BLE001 -- the same
            self._ended(error)

    def _ended(self, error: Exception) -> None:
        if not self._over:
            self.why = self.why or str(error) or type(error).__name__
            self._far.shutdown(socket.SHUT_RDWR)

    def _join(self) -> None:
        if not self._ends(lambda: None):
            # the other side does not read: what was written will never go out
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
        # kinds of ports know one of these, or the other
        for give_up in ("cancel_write", "reset_output_buffer"):
            with suppress(Exception):
                getattr(self.port, give_up)()
