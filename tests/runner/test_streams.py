"""Lines of bytes: a frame that is coming is not a silence, a broken one no output, a broken line no failure."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import anyio
import pytest

from otf.adapter import Arrival, Bench, Ending, Frame, LineLost, Trouble
from otf.adapter.line import NEVER
from otf.core import Barrier
from otf.runner import Wire
from otf.spec import Transition, goto
from tests.runner.playing import Still, on_still, opened, play, spec
from tests.runner.words import Words


@dataclass
class Trickling(Still):
    """A line on which the bytes of an answer come one by one, `pause` seconds apart, once something was sent."""

    answer: bytes = b"pong"
    pause: float = 0.5
    began: float | None = None
    wake: Callable[[], None] = lambda: None

    async def send(self, data: bytes) -> None:
        """Begin to answer."""
        await super().send(data)
        self.began = anyio.current_time()

    def _come(self) -> int:
        return 0 if self.began is None else int((anyio.current_time() - self.began) / self.pause)

    def stirred(self) -> float:
        """Return when the last byte came, unless all have."""
        come = self._come()
        return NEVER if self.began is None or not 0 < come <= len(self.answer) else self.began + come * self.pause

    def receive(self) -> list[Arrival]:
        """Return the answer when its last byte has come; no call from outside is needed."""
        if self._come() < len(self.answer):
            return []
        self.began = None
        return [Frame(self.answer)]


def pings(state: int, inp: str) -> Iterator[Transition[int]]:
    """Answer `p.ping` with `p.pong`."""
    if inp == "p.ping":
        yield goto(state + 1, "p.pong")


def on(line: Still, barrier: Barrier | None = None) -> Bench:
    """A bench with this line."""
    connect = opened(p=line)
    return Bench(spec(pings), codec=Words(), connect=connect, outputs=("p",), quiescence=1.0, barrier=barrier)


def test_bytes_of_a_frame_are_no_silence() -> None:
    """An answer that takes four times the quiescence time to come, byte by byte, is awaited: the line is slow."""
    played = play(on(Trickling(pause=0.9)), "p.ping")
    assert played.verdict.outcome == "pass"
    assert [event.at >= 3.6 for event in played.events[1:2]] == [True]
    assert played.verdict.late == ()


def test_a_frame_that_never_ends_is_a_missing_output() -> None:
    """A frame that has begun is awaited for a bounded time; then the outstanding output is missing."""
    played = play(on(Trickling(answer=b"x" * 100_000)), "p.ping")
    assert played.failure.kind == "missing"
    assert played.events[-1].at < 60


def test_a_broken_frame_is_an_output_that_does_not_decode() -> None:
    """What the framing could not make whole is never shown to the codec: its beginning may look right."""
    played = play(on_still(Frame(b"pong", "longer than 4 bytes")), "p.ping")
    assert played.script == ["0 > p.ping", "1 < p garbled 706f6e67"]
    assert played.failure.kind == "undecodable"
    assert "longer than 4 bytes" in played.failure.seen


def test_trouble_of_the_line_is_inconclusive() -> None:
    """Data that the line itself has lost is not a failure of the system, whatever follows; earlier verdicts count."""
    played = play(on_still(Trouble("3 datagrams were dropped"), Ending("gone")), "p.ping")
    assert (played.verdict.outcome, played.verdict.why) == (
        "inconclusive",
        "the line was at fault: p: 3 datagrams were dropped",
    )
    assert played.script == ["0 > p.ping"]


def test_a_failure_before_the_trouble_stays_one() -> None:
    """A wrong output that came before the line was at fault fails the run."""
    assert play(on_still(Frame(b"wrong"), Trouble("gone")), "p.ping").verdict.outcome == "fail"


@dataclass
class Ponging(Still):
    """A line that has an answer to a barrier's ping when nothing can be sent any more."""

    wake: Callable[[], None] = lambda: None

    def arm(self, wake: Callable[[], None]) -> None:
        """Take whom to wake."""
        self.wake = wake

    async def send(self, data: bytes) -> None:
        """Answer the first input at once, and a ping only when the next input is refused."""
        if len(self.sent) > 1:
            self.arrivals = [Frame(b"here"), Ending("gone")]
            raise LineLost("gone")
        self.arrivals = [Frame(b"pong")] if data == b"ping" else []
        self.wake()
        await super().send(data)


def test_answers_to_pings_that_come_with_the_end_are_not_judged() -> None:
    """When a line is lost, earlier arrivals are handled as always: an answer to a ping is no output."""
    barrier = Barrier({"p": "p.there?"}, lambda _port, output: output == "p.here")
    played = play(on(Ponging(), barrier), "p.ping", "p.ping")
    assert played.script == ["0 > p.ping", "0 < p.pong", "1 quiet", "1 p ended: gone"]
    assert played.failure.kind == "ended"


@dataclass
class Moving(Still):
    """A line whose descriptor changes while it is watched."""

    pipes: list[tuple[int, int]] = field(default_factory=lambda: [os.pipe(), os.pipe()])
    now: int = 0
    wake: Callable[[], None] = lambda: None

    def descriptors(self) -> tuple[int, ...]:
        """Return the present one."""
        return (self.pipes[self.now][0],)

    def arm(self, wake: Callable[[], None]) -> None:
        """Take whom to wake."""
        self.wake = wake

    def receive(self) -> list[Arrival]:
        """Read it."""
        os.set_blocking(self.pipes[self.now][0], False)
        try:
            return [Frame(os.read(self.pipes[self.now][0], 100))]
        except BlockingIOError:
            return []


@pytest.mark.real
@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_a_new_descriptor_is_watched(loop: str) -> None:
    """A line that was connected again gives notice, and arrivals on its new descriptor wake the runner."""
    line = Moving()

    async def run() -> list[bytes]:
        async with Wire({"p": line}) as wire:
            line.now = 1
            line.wake()
            wire.arrived()
            os.write(line.pipes[1][1], b"hello")
            with anyio.fail_after(10):
                await wire.wait(wire.now + 10)
            return [each.what.data for each in wire.arrived() if isinstance(each.what, Frame)]

    try:
        assert anyio.run(run, backend=loop) == [b"hello"]
    finally:
        for pipe in line.pipes:
            os.close(pipe[0])
            os.close(pipe[1])
