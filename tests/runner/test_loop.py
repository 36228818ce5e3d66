"""The event loop gets its turn: interruptions and arrivals are handled, however busy the tester is."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

import anyio
import pytest

from otf.adapter import Arrival, Bench, Frame, Line
from otf.core import Pacing, Session
from otf.core.pacing import Moment, Pause, Strict
from otf.runner import Wire, drive
from otf.runner.waiting import FIRST, SHORT, TURN, SpinWait
from otf.spec import Transition, goto
from otf.strategy import Pool, Uniform
from otf.trace.events import Event, Seen
from tests.runner.playing import Still, on_still, opened, spec

LOOPS = pytest.mark.parametrize("loop", ["asyncio", "trio"])
SOON = 20.0  # seconds: far below what the whole would take, far above what a busy machine needs


@dataclass
class Answering(Still):
    """A line over a pair of sockets; each frame that is sent is answered at once, at the other end."""

    answer: bytes = b"pong"
    near: socket.socket = field(default_factory=socket.socket)
    far: socket.socket = field(default_factory=socket.socket)

    def descriptors(self) -> tuple[int, ...]:
        """Return that of our end."""
        return (self.near.fileno(),)

    async def send(self, data: bytes) -> None:
        """Let the other end answer."""
        await super().send(data)
        if self.answer:
            self.far.send(self.answer)

    def receive(self) -> list[Arrival]:
        """Return the next frame."""
        try:
            return [Frame(self.near.recv(100))]
        except BlockingIOError:
            return []


@contextmanager
def answering(answer: bytes = b"pong") -> Generator[Answering, None, None]:
    """Yield a line that answers."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with near, far:
        near.settimeout(0)
        yield Answering(answer=answer, near=near, far=far)


class Always:
    """A pacing that never waits."""

    def ready(self, moment: Moment) -> bool:
        """Send at once."""
        del moment
        return True

    def pause(self, moment: Moment) -> Pause | None:
        """Never wait."""
        del moment
        return None

    def learn(self, moment: Moment) -> None:
        """Take no notice."""


def _step(state: int, inp: str) -> Iterator[Transition[int]]:
    yield goto(state, "p.pong") if inp == "p.ping" else goto(state)


def _interrupted(bench: Bench, loop: str, pacing: Callable[[Bench], Pacing]) -> list[Event]:
    """Drive a bench for a million steps, until its tenth event; return the events."""
    events: list[Event] = []

    async def run() -> bool:
        def record(event: Event, _raw: bytes | None = None, /, **_more: object) -> None:
            events.append(event)
            if len(events) == 10:
                scope.cancel()

        session = Session(bench.oracle(), Uniform(Pool("uioco", Random(1))), pacing(bench), steps=1_000_000)
        with anyio.CancelScope() as scope:
            await drive(bench, session, record)
        return scope.cancelled_caught

    began = time.monotonic()
    assert anyio.run(run, backend=loop)
    assert time.monotonic() - began < SOON
    return events


# Interruptions


@LOOPS
def test_a_tester_that_only_sends_is_interrupted(loop: str) -> None:
    """A pacing may send one input after another without a wait: an interruption arrives all the same."""
    assert len(_interrupted(on_still(spec=spec(_step, "p.hush")), loop, lambda _bench: Always())) >= 10


def _forget(_event: Event, _raw: bytes | None = None, /, **_more: object) -> None:
    pass


@pytest.mark.real
@LOOPS
def test_what_comes_meanwhile_is_heard(loop: str) -> None:
    """While inputs are sent without a wait, an output that no model allows ends the run."""
    with answering() as line:
        bench = on_still(spec=spec(_step, "p.hush"), connect=opened(p=line))

        async def run() -> str:
            session = Session(bench.oracle(), Uniform(Pool("uioco", Random(1))), Always(), steps=1_000_000)
            verdict = await drive(bench, session, _forget)
            assert verdict.failure is not None
            return verdict.failure.kind

        assert anyio.run(run, backend=loop) == "unasked"


@pytest.mark.real
@LOOPS
@pytest.mark.parametrize("quiescence", [0.0, 0.0005])
def test_a_system_that_always_answers_at_once(loop: str, quiescence: float) -> None:
    """If each wait is over at once, an interruption still arrives."""
    with answering() as line:
        bench = on_still(
            spec=spec(_step, "p.ping"), connect=opened(p=line), quiescence=quiescence, latency=0.0, busy=0.0
        )
        events = _interrupted(bench, loop, lambda bench: Strict(bench.timing))
        assert any(isinstance(event, Seen) for event in events)


# Short waits without the loop


def _spun(at: Line | dict[int, str], seconds: float, *, turned: float = 0.0, others: int = 1) -> tuple[bool, float]:
    """Return the result of a spin wait on a line or on descriptors, and its seconds, in an asyncio loop."""

    async def run() -> tuple[bool, float]:
        spin_wait, descriptors = SpinWait(), at if isinstance(at, dict) else dict.fromkeys(at.descriptors(), "p")
        spin_wait.turned()
        while time.monotonic() < began + turned:
            pass
        looked = time.monotonic()
        return spin_wait.wait(descriptors, seconds) is not None, time.monotonic() - looked

    before, SpinWait.open = SpinWait.open, others
    began = time.monotonic()
    try:
        return anyio.run(run)
    finally:
        SpinWait.open = before


@pytest.mark.real
def test_a_short_wait_is_over_when_the_time_is() -> None:
    """A wait of up to two milliseconds with nothing to be seen is spent as a whole, and exactly."""
    with answering() as line:
        over, took = _spun(line, SHORT)
        assert over
        assert took >= SHORT


@pytest.mark.real
def test_a_long_wait_is_left_to_the_loop() -> None:
    """Of a longer wait only the first moment is spent; the loop does the rest."""
    with answering() as line:
        over, took = _spun(line, 60.0)
        assert not over
        assert took >= FIRST


@pytest.mark.real
def test_what_is_there_ends_a_wait() -> None:
    """A frame that has come is seen at once, however long the wait was to be."""
    with answering() as line:
        line.far.send(b"pong")
        assert _spun(line, 60.0)[0]


@pytest.mark.real
def test_a_wait_for_the_past_is_over() -> None:
    """A time that has gone by is not waited for."""
    with answering() as line:
        assert _spun(line, -1.0)[0]


@pytest.mark.real
def test_where_a_glance_is_not_possible() -> None:
    """The loop waits if there is no descriptor, if others need it, and if its turn is due."""
    assert not _spun({}, 0.0)[0]
    assert not _spun({1024: "p"}, 0.0)[0]
    with answering() as line:
        assert not _spun(line, 0.0, others=2)[0]
        assert not _spun(line, 0.0, turned=2 * TURN)[0]


def test_virtual_time_is_not_waited_for() -> None:
    """Only asyncio's clock is known to be the real one."""

    async def run() -> bool:
        return SpinWait().wait({0: "p"}, 0.0) is not None

    assert not anyio.run(run, backend="trio")


@pytest.mark.real
def test_wires_are_counted() -> None:
    """While two runs are under way neither keeps the loop from the other."""

    async def run() -> list[int]:
        counts = [SpinWait.open]
        async with Wire({"p": Still()}):
            counts.append(SpinWait.open)
            async with Wire({"p": Still()}):
                counts.append(SpinWait.open)
        return [*counts, SpinWait.open]

    assert anyio.run(run) == [0, 1, 2, 0]
