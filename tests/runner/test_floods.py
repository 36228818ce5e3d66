"""Thousands of datagrams at once: each is judged, or the run is inconclusive with the kernel's count."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from threading import Thread

import anyio
import pytest

from otf.adapter import Bench
from otf.adapters import udp
from otf.core import Session
from otf.core.pacing import Strict
from otf.runner import drive
from otf.spec import Spec, Transition, goto
from otf.strategy import Script
from otf.trace.events import Event, Quiet, Seen
from otf.trace.verdict import Verdict
from tests.runner.words import Words

MANY = 10_000


def step(state: int, inp: str) -> Iterator[Transition[int]]:
    """On `p.go` numbers come, from 0."""
    if inp == "p.go":
        yield goto(0)
    del state


def emits(state: int) -> Iterator[Transition[int]]:
    """The next number may come, and then the next."""
    if state >= 0:
        yield goto(state + 1, f"p.{state}")


def flood(server: socket.socket) -> None:
    """Wait for the first datagram and answer with all numbers, as fast as the machine can."""
    _, tester = server.recvfrom(100)
    for number in range(MANY):
        server.sendto(str(number).encode(), tester)


def judged() -> tuple[Verdict, list[Event]]:
    """Let a system flood the tester once."""
    events: list[Event] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        system = Thread(target=flood, args=(server,))
        system.start()
        bench = Bench(
            Spec(step, -1, ["p.go"], emits=emits),
            codec=Words(),
            ports={"p": udp(f"127.0.0.1:{server.getsockname()[1]}")},
            quiescence=0.3,
        )
        session = Session(bench.oracle(), Script(["p.go"]), Strict(bench.timing), steps=1)

        def record(event: Event, _raw: bytes | None = None, /, **_: object) -> None:
            events.append(event)

        try:
            return anyio.run(drive, bench, session, record), events
        finally:
            system.join()


@pytest.mark.real
def test_none_of_ten_thousand_datagrams_disappears() -> None:
    """All numbers are judged, one by one, until the step ends; or the run says how many the kernel dropped."""
    verdict, events = judged()
    seen = [event for event in events if isinstance(event, Seen)]
    if verdict.outcome == "pass":
        assert seen == [Seen(f"p.{number}", "p", event.at) for number, event in enumerate(seen)]
        # nothing needs a system to stop that speaks spontaneously: the step may end while it goes on
        assert len(seen) == MANY or events[-1] == Quiet(events[-1].at, restless=True)
    else:
        assert verdict.outcome == "inconclusive"
        assert "datagrams came faster than they were read, and the kernel dropped them" in verdict.why
        assert len(seen) < MANY


@pytest.mark.real
def test_a_socket_that_is_too_small_makes_a_run_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the kernel dropped the answer, the system is not blamed."""
    monkeypatch.setattr("otf.adapter.socket.datagrams._BUFFER", 4096)
    verdict, events = judged()
    assert verdict.outcome == "inconclusive"
    assert verdict.why.startswith("the line was at fault: p: ")
    assert len([event for event in events if isinstance(event, Seen)]) < MANY
