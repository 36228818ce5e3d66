"""Clocks other than the kernel's raise no false alarm: a correct system with time windows passes with all of them."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from threading import Thread
from typing import Any

import anyio
import pytest

from otf.adapter import Bench
from otf.adapter.socket import datagrams
from otf.adapters import udp
from otf.core import Session
from otf.core.pacing import Strict
from otf.runner import drive
from otf.spec import Spec, Transition, goto
from otf.strategy import Script
from otf.trace.events import Event
from otf.trace.verdict import Verdict
from tests.runner.words import Words

pytestmark = pytest.mark.real

PONGS = 2


def step(state: int, _inp: str) -> Iterator[Transition[int]]:
    """Answer after 0.1 s, and before two seconds are over."""
    yield goto(state, "p.pong", within=(0.1, 2.0))


class Shifted:
    """The clock of the day as a program sees it to which another one is given."""

    def __init__(self, shift: float) -> None:
        self.shift = shift
        self.monotonic = time.monotonic

    def time(self) -> float:
        """Return another time than the kernel's."""
        return time.time() + self.shift


def answered(server: socket.socket, after: float) -> None:
    """Answer after so many seconds, until there is nothing to be answered."""
    while True:
        data, tester = server.recvfrom(100)
        if not data:
            return
        time.sleep(after)
        server.sendto(b"pong", tester)


def driven(after: float) -> Verdict:
    """Drive a system that answers after so many seconds."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        system = Thread(target=answered, args=(server, after))
        system.start()
        port = udp(f"127.0.0.1:{server.getsockname()[1]}")
        bench = Bench(Spec(step, 0, ["p.ping"]), codec=Words(), ports={"p": port}, quiescence=0.02)
        session = Session(bench.oracle(), Script(["p.ping"] * PONGS), Strict(bench.timing), steps=PONGS)

        def record(event: Event, _raw: bytes | None = None, /, **_: Any) -> None:  # noqa: ANN401 -- JSON data
            del event

        try:
            return anyio.run(drive, bench, session, record)
        finally:
            server.sendto(b"", server.getsockname())
            system.join()


@pytest.mark.parametrize("shift", [0.05, 0.12, 10.0, 1e7, -0.05, -10.0, -1e7])
def test_another_clock(shift: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the clock of the day says, an answer in time was in time."""
    monkeypatch.setattr(datagrams, "time", Shifted(shift))
    assert driven(0.15).outcome == "pass"


def test_the_right_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that comes too early is found out, with stamps that are right and with those that are wrong."""
    kinds = list[str]()
    for shift in (0.0, 10.0, -10.0):
        monkeypatch.setattr(datagrams, "time", Shifted(shift))
        verdict = driven(0.0)
        assert verdict.failure is not None
        kinds.append(verdict.failure.kind)
    assert kinds == ["early"] * 3
