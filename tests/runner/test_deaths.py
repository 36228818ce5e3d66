"""Systems that are killed, stopped or cut off at any moment: the verdict is right, in time, and the record whole."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import anyio
import pytest

from otf.adapter import Bench, Life, Line
from otf.adapters import tcp
from otf.adapters.process import ProcessLine, open_process
from otf.core import Session
from otf.core.pacing import Strict
from otf.errors import ContactError
from otf.runner import drive
from otf.spec import Spec, Transition, goto
from otf.strategy import Script
from otf.trace.events import Closed, Event, Seen, Sent
from otf.trace.verdict import Verdict
from tests.adapters.harness import Baseline
from tests.runner.words import Words

pytestmark = pytest.mark.real

ECHO = """
import os
print("ready", flush=True)
while data := os.read(0, 65536):
    os.write(1, data)
"""
COMMAND = [sys.executable, "-I", "-S", "-c", ECHO]
LONGEST = 10.0


def step(state: int, inp: str) -> Iterator[Transition[int]]:
    """Echo all input."""
    yield goto(state + 1, inp)


def bench(pty: bool, harm: Callable[[int], None], after: float) -> Bench:
    """A bench of an echo process that comes to harm after some time."""

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with open_process(COMMAND, pty=pty) as line, anyio.create_task_group() as tasks:
            tasks.start_soon(come_to_harm, line)
            yield {"p": line}
            tasks.cancel_scope.cancel()

    async def come_to_harm(line: ProcessLine) -> None:
        await anyio.sleep(after)
        harm(line.pid)

    spec = Spec[int, str](step, 0, ["p.ping"])
    return Bench(spec, codec=Words(), connect=connect, outputs=("p",), quiescence=0.005, latency=0.02)


def driven(bench: Bench) -> tuple[Verdict, list[Event]]:
    """Send pings until something happens."""
    events: list[Event] = []

    def record(event: Event, _raw: bytes | None = None, /, **_: Any) -> None:  # noqa: ANN401 -- JSON data
        events.append(event)

    session = Session(bench.oracle(), Script(["p.ping"] * 100_000), Strict(bench.timing), steps=100_000)
    return anyio.run(drive, bench, session, record), events


def kill(pid: int) -> None:
    """Kill a process."""
    os.kill(pid, signal.SIGKILL)


def stop(pid: int) -> None:
    """Stop a process, so that it is there and says nothing."""
    os.kill(pid, signal.SIGSTOP)


def harmed(moments: int, seed: int) -> None:
    """Harm a system at random moments, and collect the verdicts."""
    random = Random(seed)
    before = Baseline()
    for _ in range(moments):
        harm = random.choice([kill, stop])
        began = time.monotonic()
        verdict, events = driven(bench(random.random() < 0.5, harm, random.uniform(0, 0.1)))
        assert time.monotonic() - began < LONGEST
        assert_whole(events)
        if harm is stop:
            assert (verdict.outcome, "is stopped by SIGSTOP" in verdict.why) == ("inconclusive", True), events[-3:]
            continue
        assert verdict.failure is not None
        assert verdict.failure.kind == "ended", (verdict, events[-3:])
        assert events[-1] == Closed("p", "killed by SIGKILL", events[-1].at)
    assert not before.lasting_leaks()


def assert_whole(events: list[Event]) -> None:
    """Each answer follows its input, and nothing is missing between."""
    numbers = [1 if isinstance(event, Sent) else -1 for event in events if isinstance(event, (Sent, Seen))]
    assert all(sum(numbers[:at]) in {0, 1} for at in range(len(numbers) + 1))
    assert [event.at for event in events] == sorted(event.at for event in events)


def test_harm_at_some_moments() -> None:
    """A killed process has ended; a stopped one is inconclusive. No process is left running."""
    harmed(8, 1)


@pytest.mark.slow
def test_harm_at_a_hundred_moments() -> None:
    """The same at a hundred moments."""
    harmed(100, 2)


SERVER = """
import os, random, socket, struct, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("ready", flush=True)
peer, _ = server.accept()
data, left = b"", int(sys.argv[2])
while left:
    left -= 1
    data = peer.recv(65536)
    peer.sendall(data)
if sys.argv[3] == "reset":
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
peer.close()
sys.stdin.read()
"""


@pytest.mark.parametrize(("how", "reasons"), [("close", {"end of stream"}), ("reset", {"connection reset"})])
def test_connections_that_end_in_mid_run(how: str, reasons: set[str]) -> None:
    """A server that closes or breaks off after some answers ends the port, and the reason is reported."""
    for answers in (1, 2, 7):
        port = free_port()
        argv = [sys.executable, "-I", "-S", "-c", SERVER, str(port), str(answers), how]
        spec = Spec[int, str](step, 0, ["p.ping"])
        ports = {"p": tcp(f"127.0.0.1:{port}")}
        life = Life(server=argv, ready="ready", grace=0.05)
        verdict, events = driven(Bench(spec, codec=Words(), ports=ports, quiescence=0.005, latency=0.02, life=life))
        assert verdict.failure is not None
        assert verdict.failure.kind == "ended"
        assert sum(isinstance(event, Seen) for event in events) == answers
        assert isinstance(events[-1], Closed)
        assert events[-1].reason in reasons | {"closed by the other side"}


def free_port() -> int:
    """A port without a listener."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def test_no_listener_is_no_contact() -> None:
    """A system that is not there is reported as such, and is not a failure."""
    spec = Spec[int, str](step, 0, ["p.ping"])
    with pytest.raises(ContactError, match=r"no program listens there, even after 0\.01 s"):
        driven(Bench(spec, codec=Words(), ports={"p": tcp(f"127.0.0.1:{free_port()}", within=0.01)}))
