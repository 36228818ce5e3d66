"""A path begins when the system has taken all of its connections."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from otf import Bench, Spec, goto, run
from otf.adapter import Life, Listening
from otf.adapters import tcp
from otf.codec import lines
from otf.codec.by_port import At, codecs
from otf.models.serving import free_port

pytestmark = pytest.mark.real

SERVER = """
import select, socket, sys, time
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
first = listener.accept()[0]
while True:
    until = time.process_time() + 0.03  # it computes before it accepts anybody else, whatever else the machine does
    while time.process_time() < until:
        pass
    clients = [first]
    while True:
        for each in select.select([*clients, listener], (), ())[0]:
            if each is listener:
                clients.append(listener.accept()[0])
            elif not each.recv(99):
                sys.exit()
            else:
                for other in clients:
                    other.sendall(b"news\\n")
"""


def test_a_client_that_the_server_accepts_late_hears_of_the_first_input(tmp_path: Path) -> None:
    """A busy server had not accepted the second client when the first input came, and a correct one failed."""
    port = free_port(socket.SOCK_STREAM)
    news = [At(client, "news") for client in ("a", "b")]
    spec: Spec[int, At] = Spec(lambda state, _: [goto(state, *news)], 0, [At("a", "go")])
    life = Life(server=[sys.executable, "-c", SERVER, str(port)], ready=Listening(port))
    client = tcp(f"127.0.0.1:{port}")
    text = lines({str: "{}"})
    bench = Bench.on_ports(spec, codecs(a=text, b=text), {"a": client, "b": client}, life=life, quiescence=1.0)
    summary = run(bench, traces=1, steps=1, out=tmp_path / "out", stop_first=True)
    assert summary.verdict == "pass", str(summary)
