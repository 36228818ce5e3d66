"""Servers whose runtimes have threads and clocks of their own: their rests are observed, and no step waits."""

from __future__ import annotations

import shutil
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

import anyio
import pytest

from otf import Bench, goto, run
from otf.adapter import Line
from otf.adapters import process
from otf.adapters.process import open_process
from otf.adapters.tcp import open_tcp
from otf.codec import lines
from otf.framing import lines as ended
from otf.models.serving import HOST, free_port
from otf.runner.observing import OBSERVED
from otf.spec import Spec

pytestmark = pytest.mark.real
STEPS = 300
QUIESCENCE = 0.05

NODE = "process.stdin.on('data', data => process.stdout.write(data))"
ERLANG = "F = fun(F) -> case io:get_line('') of eof -> halt(); Line -> io:put_chars(Line), F(F) end end, F(F)."


def needs(program: str) -> pytest.MarkDecorator:
    """Skip without a program."""
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"needs {program}")


@asynccontextmanager
async def nats() -> AsyncGenerator[Mapping[str, Line], None]:
    """Start a nats-server, and connect to it as a client that has answered its first ping."""
    port = free_port(socket.SOCK_STREAM)
    async with open_process(["nats-server", "-a", HOST, "-p", str(port)], ready=None):
        with anyio.fail_after(10):
            while True:
                try:
                    async with open_tcp((HOST, port), ended(b"\r\n")) as line:
                        await line.send(b'CONNECT {"verbose":false}')
                        await anyio.sleep(4)
                        line.receive()
                        await line.send(b"PONG")
                        yield {"server": line}
                        return
                except OSError:
                    await anyio.sleep(0.05)


def fast(bench: Bench, folder: Path) -> None:
    """Drive a server strictly: its rests are seen, and the steps take less than a tenth of their silences."""
    began = monotonic()
    found = run(bench, traces=1, steps=STEPS, mode="strict", seed=1, out=folder, shrink=False)
    assert (found.verdict, found.steps) == ("pass", STEPS)
    assert all(each.startswith(OBSERVED) for each in found.silence)
    assert monotonic() - began - found.spent.starts < STEPS * QUIESCENCE / 2


@needs("nats-server")
def test_a_program_in_go(tmp_path: Path) -> None:
    """It handles every signal, SIGALRM among them, and arms no timer for it."""
    spec = Spec(lambda state, _inp: [goto(state, "PONG")], 0, ["PING"])
    codec = lines({str: "{}"}, port="server")
    fast(Bench.on_ports(spec, codec, connect=nats, outputs=("server",), quiescence=QUIESCENCE), tmp_path)


@pytest.mark.parametrize(
    "argv",
    [
        pytest.param(["node", "-e", NODE], marks=needs("node"), id="node"),
        pytest.param(["erl", "+sbwt", "none", "-noshell", "-eval", ERLANG], marks=needs("erl"), id="erlang"),
    ],
)
def test_programs_with_schedulers_of_their_own(argv: list[str], tmp_path: Path) -> None:
    """Their threads wake by clocks, and seldom enough."""
    spec = Spec(lambda state, word: [goto(state, word)], 0, ["a", "b"])
    codec = lines({str: "{}"}, port="server")
    fast(Bench.on_ports(spec, codec, {"server": process(argv, ready=None)}, quiescence=QUIESCENCE), tmp_path)
