"""A tester that sends by its own clock and is late: windows are wider by that, and what fails then is inconclusive."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from math import inf
from time import monotonic

import pytest

from otf.adapter import Arrival, Bench, Ending, Frame, Line, Port
from otf.adapter.line import Belated
from otf.adapters import Faults, inject
from otf.spec import Transition, goto
from otf.trace.events import Stalled
from tests.runner.playing import Played, Still, hub, opened, ping, play, spec, virtually
from tests.runner.words import Words

WHY = "the tester sent m1 late"


@dataclass
class Doubting(Still):
    """A line whose tester was late."""

    def doubt(self) -> str:
        """Return that."""
        return WHY

    def overdue(self) -> float:
        """Return that it is not late now."""
        return inf


def doubted(*arrivals: Arrival) -> Bench:
    """The bench of a system that answers so."""
    line = Doubting(list(arrivals))
    return Bench(spec(ping), codec=Words(), connect=opened(p=line), outputs=("p",), quiescence=1.0)


@pytest.mark.parametrize("arrivals", [[Frame(b"wrong")], []])
def test_what_fails_while_the_tester_is_late_is_inconclusive(arrivals: list[Arrival]) -> None:
    """The node may have noticed; the reason says what was seen."""
    verdict = play(doubted(*arrivals), "p.ping").verdict
    assert verdict.outcome == "inconclusive"
    assert verdict.why.startswith(f"p: {WHY}; seen: ")


def test_what_no_lateness_explains_fails() -> None:
    """A system that ends has ended."""
    assert play(doubted(Ending("exit status 3")), "p.ping").failure.kind == "ended"


def test_what_passes_passes() -> None:
    """A path in which nothing was wrong needs no excuse."""
    assert play(doubted(Frame(b"pong")), "p.ping").verdict.outcome == "pass"


@dataclass
class Overdue(Still):
    """A line whose tester is late by so many seconds, told once."""

    seconds: float = 0.0

    def doubt(self) -> str:
        """Return that nothing is in doubt: the lateness was small."""
        return ""

    def overdue(self) -> float:
        """Return since when it is late."""
        since, self.seconds = (monotonic() - self.seconds if self.seconds else inf), 0.0
        return since


def within_a_second(state: int, _inp: str) -> Iterator[Transition[int]]:
    """Answer within a second."""
    yield goto(state, "p.pong", within=(0.0, 1.0))


def answered(*, after: float, overdue: float) -> Played:
    """A run in which the answer comes after so many seconds, beside a tester that was late."""

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with hub(lambda _port, _data: [(after, "p", b"pong")], "p")() as lines:
            yield {**lines, "rest": Overdue(seconds=overdue)}

    timed = Bench(spec(within_a_second), codec=Words(), connect=connect, outputs=("p",), quiescence=0.1)
    return play(timed, "p.ping")


def test_windows_are_wider_by_what_the_tester_was_late() -> None:
    """It is a stall in the trace, and the run goes on behind an output that is late by less."""
    assert answered(after=1.3, overdue=0.0).failure.kind == "late"
    played = answered(after=1.3, overdue=0.5)
    assert played.verdict.outcome == "pass"
    (stall,) = [event for event in played.events if isinstance(event, Stalled)]
    assert stall.seconds == pytest.approx(0.5, abs=0.1)
    assert answered(after=1.9, overdue=0.5).failure.kind == "late"


def test_faults_on_a_line_hide_no_lateness() -> None:
    """What is late below the faults is late above them; a line without a clock of its own is never late."""

    async def overdue(line: Line) -> tuple[float, str]:
        connected = Bench(spec(ping), codec=Words(), ports={"p": Port(lambda: nullcontext(line), "still")})
        async with inject(connected, {"p": Faults()}).open() as found:
            above = found["p"]
            assert isinstance(above, Belated)
            return above.overdue(), above.doubt()

    assert virtually(lambda: overdue(Doubting())) == (inf, WHY)
    assert virtually(lambda: overdue(Still())) == (inf, "")
