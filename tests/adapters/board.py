"""A board for the tests of serial ports: a coffee machine at the far end of a pair of terminals."""

import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from otf.adapter import Bench, Life, Opener
from otf.adapters import serialport
from otf.campaign import Campaign, Settings
from otf.models.coffee import Machine, codec, coffee
from tests.adapters.harness import SECONDS, bare_errors, terminal, unread


class Board:
    """The machine with its firmware; `reset` on the wire begins anew, `heard` is what came so far."""

    def __init__(self, fault: str = "none", *, echoes: bool = False) -> None:
        self.heard: list[bytes] = []
        self._fault = fault
        self._echoes = echoes
        self._machine = Machine(fault)

    async def serve(self, far: int) -> None:
        """Answer, until nobody is there."""
        rest = b""
        with suppress(OSError, anyio.ClosedResourceError):
            while True:
                await anyio.wait_readable(far)
                *lines, rest = (rest + os.read(far, 4096)).split(b"\n")
                for line in lines:
                    os.write(far, self.answer(line))

    def answer(self, line: bytes) -> bytes:
        """Take one line; return what goes out."""
        self.heard.append(line)
        if line == b"reset":
            self._machine = Machine(self._fault)
            return b""
        answer = self._machine.take(line)
        return (line + b"\n" if self._echoes else b"") + (b"" if answer is None else answer + b"\n")


@asynccontextmanager
async def plugged(board: Board) -> AsyncGenerator[str]:
    """Plug a board in, and return the name of its port."""
    with bare_errors():
        async with terminal() as (name, far), anyio.create_task_group() as tasks:
            tasks.start_soon(board.serve, far)
            yield name
            tasks.cancel_scope.cancel()


def bench(port: Opener | str, **more: Any) -> Bench:  # noqa: ANN401 -- the fields of a bench
    """Return the bench of the board, which brings it into its initial state before each path."""
    ports = {"line": serialport(port) if isinstance(port, str) else port}
    given: dict[str, Any] = {"quiescence": 0.05, "life": Life(inband=[("line", b"reset")])}
    return Bench(coffee, codec=codec, ports=ports, name="board", **{**given, **more})


def campaign(tested: Bench, out: Path, **settings: Any) -> Campaign:  # noqa: ANN401 -- the fields of Settings
    """Return a campaign of a few short paths."""
    given: dict[str, Any] = {"traces": 4, "steps": 4, "seed": 1}
    return Campaign(tested, Settings(out=out, **{**given, **settings}))


async def heard(far: int, size: int = 1) -> bytes:
    """What the system gets next, so many bytes at least."""
    got = b""
    with anyio.fail_after(SECONDS):
        while len(got) < size:
            await anyio.wait_readable(far)
            got += os.read(far, 4096)
    return got


def said(far: int, data: bytes, near: int) -> None:
    """Let the system say something, and wait until the kernel has carried it over, without a turn of the event loop."""
    wanted, until = unread(near) + len(data), time.monotonic() + SECONDS
    os.write(far, data)
    while unread(near) < wanted:
        assert time.monotonic() < until
        time.sleep(0.001)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the name of each device that is opened."""
    import serial

    opened: list[str] = []
    real = serial.Serial.open

    def count(port: serial.Serial) -> None:
        real(port)
        opened.append(str(port.port))

    monkeypatch.setattr(serial.Serial, "open", count)
    return opened
