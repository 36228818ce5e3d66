"""Cancellation and trouble at any moment: the system is stopped, and all events until then are recorded."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import NoReturn

import anyio
import pytest

from otf.adapter import Arrival, Bench, Line
from otf.adapters.inprocess import open_inprocess
from otf.core import Session
from otf.core.pacing import Strict
from otf.errors import ContactError, OtfError, UsageError
from otf.runner import drive
from otf.strategy import Script
from otf.trace.events import Event
from otf.trace.verdict import Verdict
from tests.runner.playing import Still, answering, conduct, opened, play, virtually

LOOPS = pytest.mark.parametrize("loop", ["asyncio", "trio"])
INPUTS = ["p.ping"] * 3


@dataclass
class Watched:
    """A system that takes a while to start and to stop; it answers after a quarter of its quiescence time."""

    second: float = 1.0
    story: list[str] = field(default_factory=list[str])
    events: list[Event] = field(default_factory=list[Event])
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    cancel_at: int = -1
    verdict: Verdict | None = None

    @asynccontextmanager
    async def connect(self) -> AsyncGenerator[Mapping[str, Line], None]:
        """Start it, and stop it whatever happens."""
        self.story.append("starts")
        try:
            await anyio.sleep(self.second)
            async with open_inprocess(lambda: lambda _frame: [(self.second / 4, b"pong")]) as line:
                self.story.append("is there")
                yield {"p": line}
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(self.second)
            self.story.append("is gone")

    async def run(self, seconds: float = float("inf")) -> None:
        """Drive it with three inputs until it is cancelled, after so many seconds or at the event `cancel_at`."""
        bench = answering(connect=self.connect, ports={}, outputs=("p",), quiescence=self.second, latency=0, busy=0)
        session = Session(bench.oracle(), Script(INPUTS), Strict(bench.timing), steps=3)
        with self.scope as scope:
            scope.deadline = anyio.current_time() + seconds
            self.verdict = await drive(bench, session, self.take)

    def take(self, event: Event, _raw: bytes | None = None, /, **_more: object) -> None:
        """Record an event."""
        self.events.append(event)
        if len(self.events) == self.cancel_at:
            self.scope.cancel()


def _cancelled(seconds: float) -> Watched:
    async def run() -> Watched:
        watched = Watched()
        await watched.run(seconds)
        return watched

    return virtually(run)


@cache
def _whole() -> Watched:
    return _cancelled(float("inf"))


def test_undisturbed() -> None:
    """The run that is disturbed below: nine events in 3.75 seconds, after a second of starting."""
    assert _whole().story == ["starts", "is there", "is gone"]
    assert [event.at for event in _whole().events] == [0, 0.25, 1.25, 1.25, 1.5, 2.5, 2.5, 2.75, 3.75]
    assert _whole().verdict == Verdict("pass")


@pytest.mark.parametrize("eighth", range(38))
def test_cancelled_at_any_time(eighth: int) -> None:
    """Whenever a run is cancelled, its system is stopped, and all events until then are recorded."""
    moment = (eighth + 0.5) / 8
    watched = _cancelled(moment)
    assert watched.story == [says for says in _whole().story if says != "is there" or moment > 1]
    assert watched.events == [event for event in _whole().events if event.at + 1 <= moment]
    assert watched.verdict is None


@LOOPS
@pytest.mark.parametrize("number", range(1, 10))
def test_cancelled_at_any_event(loop: str, number: int) -> None:
    """Who takes the events may cancel the run at any of them: nothing is recorded after the next wait."""

    async def run() -> Watched:
        watched = Watched(second=0.002, cancel_at=number)
        await watched.run()
        return watched

    watched = anyio.run(run, backend=loop)
    assert watched.story == _whole().story
    assert number <= len(watched.events) <= number + 1
    assert (watched.verdict is None) == (number < len(_whole().events))


# What goes wrong while the ports are opened


def _raising(error: Exception) -> Bench:
    def connect() -> NoReturn:
        raise error

    return answering(connect=connect, ports={})


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (ContactError("nobody is there"), ContactError, "^nobody is there$"),
        (OSError(98, "Address already in use"), ContactError, "could not open its ports: OSError.*already in use"),
        (
            KeyError("host"),
            UsageError,
            r"raised while it opened.*test_stopping.py, line \d+: KeyError: 'host'",
        ),
    ],
)
def test_a_bench_that_cannot_be_opened(error: Exception, kind: type[OtfError], says: str) -> None:
    """An exception of the bench's own code while it opens its ports is an error of the bench, with its place."""
    with pytest.raises(kind, match=says):
        play(_raising(error), "p.ping")


def test_a_bench_that_opens_something_else() -> None:
    """A `connect` that returns no mapping of lines is an error."""
    bench = answering(connect=lambda: nullcontext([Still()]), ports={})
    with pytest.raises(UsageError, match=r"the bench's connect returned \[Still.*, not a mapping from the names"):
        play(bench, "p.ping")


# What goes wrong in the reading of a line


@dataclass
class Broken(Still):
    """A line whose reading raises."""

    reader: int = -1

    def descriptors(self) -> tuple[int, ...]:
        """Return something that is readable."""
        return (self.reader,)

    def receive(self) -> list[Arrival]:
        """Raise."""
        raise UsageError("this line was never right")


@pytest.mark.real
@LOOPS
def test_a_line_that_raises_when_it_is_read(loop: str) -> None:
    """An error of a line ends the run, and comes out as it is, not in a group."""
    reader, writer = os.pipe()
    os.close(writer)
    try:
        bench = answering(connect=opened(p=Broken(reader=reader)), ports={}, outputs=("p",))
        with pytest.raises(UsageError, match="never right"):
            anyio.run(lambda: conduct(bench, ["p.ping"]), backend=loop)
    finally:
        os.close(reader)
