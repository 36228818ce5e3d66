"""A model in the place of its system, behind a pipe, a terminal and a socket."""

from __future__ import annotations

import io
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path

import pytest

from otf.cli.benches import load
from otf.cli.model_server import faults, main, serve
from otf.models.coffee import codec, coffee
from otf.simulate.system import acting
from tests.cli.command import otf

STANDIN = [sys.executable, "-m", "otf.cli.model_server", "coffee"]


def test_it_answers_as_the_model_allows() -> None:
    """A line of outputs for each; what is not an input, and what is not specified, is ignored."""
    sink = list[bytes]()
    lines = b"button\ncoin 5\r\ncoin 5\ntea\nbutton\nbutton\n"
    serve(acting(coffee)(), codec, io.BytesIO(lines), sink.append, "line")
    assert sink == [b"coffee\n"]


@pytest.mark.real
@pytest.mark.parametrize("kind", ["exec", "pty"])
def test_a_bench_is_tried_without_its_system(tmp_path: Path, kind: str) -> None:
    """On pipes and on a terminal of its own."""
    url = f"{kind}:{' '.join(STANDIN)}"
    done = otf("run", "coffee", "--sut", url, "--set", "quiescence=0.2", "--traces", 1, "--steps", 6, "--out", tmp_path)
    assert done.status == 0, done.said


@pytest.mark.real
def test_a_seeded_fault_is_found(tmp_path: Path) -> None:
    """Its first single fault: a coin leads elsewhere."""
    url = f"exec:{' '.join(STANDIN)} --fault 1"
    quick = ("--set", "quiescence=0.2", "--no-shrink", "--stop-first", "--traces", 5, "--steps", 20, "--seed", 2)
    assert otf("run", "coffee", "--sut", url, *quick, "--out", tmp_path).status == 1


@contextmanager
def listening() -> Generator[tuple[subprocess.Popen[bytes], int]]:
    """A stand-in that waits for a connection, and its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with subprocess.Popen([*STANDIN, "--tcp", f"127.0.0.1:{port}"]) as program:
        try:
            yield program, port
            assert program.wait(60) == 0
        finally:
            program.kill()


def connected(program: subprocess.Popen[bytes], port: int) -> socket.socket:
    """A connection, as soon as the program listens there."""
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), 5)
        except ConnectionRefusedError:
            assert program.poll() is None
            time.sleep(0.05)


@pytest.mark.real
def test_it_stands_behind_a_socket() -> None:
    """It ends with the connection."""
    with listening() as (program, port), connected(program, port) as connection:
        connection.sendall(b"coin 10\nbutton\n")
        assert connection.recv(100) == b"coffee\n"


def test_faults_are_counted() -> None:
    """A wrong next state for each transition, and a missing output where there is one."""
    assert len(list(faults(load("coffee")))) == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["coffee", "--fault", "6"], "--fault 6: coffee has 1 to 5"),
        (["nowhere"], "there is no bench 'nowhere'"),
    ],
)
def test_what_cannot_be_is_told(arguments: list[str], said: str) -> None:
    """On standard error, with status 2."""
    with redirect_stderr(io.StringIO()) as told:
        assert main(arguments) == 2
    assert said in told.getvalue()
