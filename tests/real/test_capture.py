"""A capture that a real tool wrote: `tcpdump`, while a machine was talked to over TCP."""

import socket
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from otf.adapters import tcp
from otf.models import coffee
from otf.models.serving import found
from otf.offline.captured import Captured
from otf.offline.logs import judge_foreign, timed
from otf.trace.pcap import Capture
from tests.real.needs import needs

HOST = "127.0.0.1"


def serve(listener: socket.socket, fault: str) -> None:
    """Be a coffee machine for one customer."""
    machine = coffee.Machine(fault)
    with listener.accept()[0] as customer, customer.makefile("rwb", buffering=0) as stream:
        for line in stream:
            said = machine.take(line.strip())
            if said is not None:
                stream.write(said + b"\n")


def talk(port: int, lines: list[bytes]) -> None:
    """Be that customer: say a line after the other, and hear what comes."""
    with socket.create_connection((HOST, port)) as machine:
        machine.settimeout(0.05)
        for line in lines:
            machine.sendall(line + b"\n")
            try:
                machine.recv(100)
            except TimeoutError:
                continue


@pytest.mark.real
@needs("tcpdump")
@pytest.mark.parametrize(("fault", "outcome"), [("none", "pass"), ("free", "fail")])
def test_what_a_tool_captured_is_judged(fault: str, outcome: str, tmp_path: Path) -> None:
    """Two coffees for one coin are two too many, also for who only listens."""
    file = tmp_path / "a.pcap"
    with socket.create_server((HOST, 0)) as listener:
        port = listener.getsockname()[1]
        command = [
            str(found("tcpdump")),
            "-U",
            "--immediate-mode",
            "-i",
            "lo",
            "-w",
            str(file),
            "tcp",
            "port",
            str(port),
        ]
        with subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True) as tool:
            assert tool.stderr is not None
            # it says so once it has begun; before that may come a line about its rights
            if not any(b"listening on" in tool.stderr.readline() for _ in range(2)):
                pytest.skip("tcpdump may not capture here")
            machine = threading.Thread(target=serve, args=(listener, fault))
            machine.start()
            talk(port, [b"coin 10", b"button", b"button", b"coin 5"])
            machine.join()
            tool.terminate()
    bench = replace(
        coffee.bench(), ports={"line": tcp(f"tcp://{HOST}:{port}")}, quiescence=0.03, latency=0.005, busy=0.005
    )
    with file.open("rb") as capture:
        assert judge_foreign(timed(Captured(Capture(capture, "a.pcap"), bench)), bench).verdict.outcome == outcome
