"""One spec and one codec on every kind of wire: the coffee machine in process, over TCP and over a serial terminal."""

from __future__ import annotations

import os
import pty
import socket
import tty
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from threading import Thread

import pytest

from otf.models.coffee import Machine
from tests.cli.command import otf

pytestmark = pytest.mark.real

Wire = Callable[[str], AbstractContextManager[str]]
QUICK = ("--set", "quiescence=0.02", "--set", "L=0.005", "--set", "R=0.005", "--seed", 3, "--steps", 20)


def served(read: Callable[[int], bytes], write: Callable[[bytes], object], fault: str) -> None:
    """Be a coffee machine for as long as there is somebody."""
    machine, rest = Machine(fault), b""
    while got := read(1024):
        *lines, rest = (rest + got).split(b"\n")
        for line in lines:
            if answer := machine.take(line):
                write(answer + b"\n")


@contextmanager
def over_tcp(fault: str) -> Generator[str]:
    """A machine for each connection, one after the other."""

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                served(connection.recv, connection.sendall, fault)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Thread(target=serve)
        server.start()
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        server.join()


@contextmanager
def over_serial(fault: str) -> Generator[str]:
    """One machine on a terminal, which knows no connections: it is for one path."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)

    def read(most: int) -> bytes:
        return b"" if (got := os.read(ours, most)) == b"\x04" else got

    server = Thread(target=partial(served, read, partial(os.write, ours), fault))
    server.start()
    yield os.ttyname(theirs)
    os.write(theirs, b"\x04")  # the end, for this machine: a terminal has none of its own while somebody holds it
    server.join()
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize(("wire", "traces"), [(over_tcp, 3), (over_serial, 1)])
@pytest.mark.parametrize(("fault", "status"), [("none", 0), ("free", 1)])
def test_the_same_spec_and_codec(wire: Wire, traces: int, fault: str, status: int, tmp_path: Path) -> None:
    """A right machine passes, and one with a fault fails, wherever it is; in process that is the bench as it is."""
    more = ("--no-shrink", "--no-saved", "--mode", "strict", "--traces", traces, "--json")
    with wire(fault) as url:
        moved = otf("run", "coffee", "--sut", url, *QUICK, *more, "--out", tmp_path / "moved")
    at_home = otf(
        "run", "coffee", "--set", f"fault={fault}", "--seed", 3, "--steps", 20, *more, "--out", tmp_path / "home"
    )
    assert (moved.status, at_home.status) == (status, status), moved.said
    assert moved.data["steps"] == at_home.data["steps"]
