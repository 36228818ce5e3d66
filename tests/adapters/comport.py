"""A serial port as pyserial has it on Windows, in front of a pair of terminals, and pyserial-asyncio as it is there."""

import io
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import serial


class ComPort(serial.Serial):
    """Behaves as the source of `serialwin32` says: no descriptor, all that is written is taken at once, into a queue.

    `stuck`: nothing of the queue goes out, as under flow control that never lets go. `unreadable`: reading fails.
    `fails` is called whenever somebody asks how much there is.
    """

    __module__ = "serial.serialwin32"
    stuck = False
    unreadable = False
    fails: Callable[[], object] = staticmethod(lambda: None)

    def open(self) -> None:
        """Open it, with an empty queue."""
        self.queue = b""
        super().open()

    def fileno(self) -> int:
        """Say that there is none."""
        raise io.UnsupportedOperation("fileno")

    def descriptor(self) -> int:
        """Return that of the terminal, which only tests know."""
        assert self.fd is not None
        return self.fd

    @property
    def in_waiting(self) -> int:
        """How many bytes have come."""
        self.fails()
        with failing("ClearCommError"):
            return super().in_waiting

    @property
    def out_waiting(self) -> int:
        """How many bytes are in the queue."""
        self.fails()
        return len(self.queue)

    def read(self, size: int = 1, /) -> bytes:
        """Return what has come."""
        if self.unreadable:
            raise serial.SerialException("ReadFile failed")
        return super().read(size)

    def write(self, b: Any, /) -> int:  # noqa: ANN401 -- as pyserial has it
        """Take all of it."""
        with failing("WriteFile"):
            if self.stuck:
                self.queue += b
            else:
                os.write(self.descriptor(), b)
        return len(b)

    def reset_output_buffer(self) -> None:
        """Throw the queue away."""
        self.queue = b""

    def flush(self) -> None:
        """Wait until the queue is empty; who calls this on an event loop holds it up for so long."""
        while self.out_waiting:
            time.sleep(0.05)


@contextmanager
def failing(what: str) -> Generator[None]:
    """Raise what pyserial raises there when a device is gone."""
    try:
        yield
    except OSError as error:
        gone = "PermissionError(13, 'The device does not recognize the command.', None, 22)"
        raise serial.SerialException(f"{what} failed ({gone})") from error


def transports_of_windows() -> ModuleType:
    """pyserial-asyncio, loaded anew as it comes out where the operating system is Windows."""
    spec = find_spec("serial_asyncio")
    assert spec is not None
    assert spec.loader is not None
    module: Any = module_from_spec(spec)
    # which of its two ways the transport goes is decided once, while its class is made
    with patch("os.name", "nt"):
        spec.loader.exec_module(module)
    module.os = SimpleNamespace(name="nt")
    assert hasattr(module.SerialTransport, "_poll_read")
    loaded: ModuleType = module
    return loaded
