"""A server that makes its clients wait does not read, and sleeps: its input is still on its way."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from otf import Bench, goto, run
from otf.adapter.observed_rest.owners import ended, started
from otf.adapters import tcp
from otf.codec import lines
from otf.runner.observing import OBSERVED
from otf.spec import Spec

pytestmark = pytest.mark.real

SERVER = """
import socket, time
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
while True:
    client, _ = server.accept()
    for line in client.makefile("rb"):
        client.sendall(line)
        time.sleep(0.3)
"""


@contextmanager
def served() -> Generator[str]:
    """Start the server, and return its address."""
    server = subprocess.Popen([sys.executable, "-I", "-S", "-c", SERVER], stdout=subprocess.PIPE, text=True)
    started(server.pid)
    assert server.stdout is not None
    with server:
        try:
            yield f"tcp://127.0.0.1:{server.stdout.readline().strip()}"
        finally:
            server.kill()
    ended(server.pid)


def test_an_input_that_the_server_has_not_read_is_no_silence(tmp_path: Path) -> None:
    """It answers each line at once when it reads the line, which it does 0.3 s after the one before."""
    spec = Spec(lambda state, word: [goto(state, word)], 0, ["a", "b"])
    with served() as url:
        bench = Bench.on_ports(spec, lines({str: "{}"}, port="line"), {"line": tcp(url)}, quiescence=0.02)
        found = run(bench, traces=1, steps=4, mode="strict", seed=1, out=tmp_path / "runs", shrink=False)
    assert (found.verdict, found.steps, found.silence) == ("pass", 4, {OBSERVED: 1})
