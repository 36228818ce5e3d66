"""Systems that speak by themselves: asked for quiescence by a ping, and waited for at the end of a run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from otf.core import Barrier, Model, Oracle, Ping, Routes, Send, Session, Stop, Timing, Wait
from otf.core.pacing import Strict
from otf.core.timer_waits import Timers
from otf.spec import Spec, Transition, goto
from otf.strategy import Script
from otf.trace.events import Quiet, Seen, Sent

TIMING = Timing(quiescence=1.0, latency=0.125, busy=0.25)
BARRIER = Barrier({"A": "ping"}, lambda _port, output: output == "pong")


def _search(state: str, inp: str) -> Iterator[Transition[str]]:
    """Return the spec of an engine: it searches, and reports spontaneously when it is done."""
    if (state, inp) == ("idle", "go"):
        yield goto("searching")


def _found(state: str) -> Iterator[Transition[str]]:
    if state == "searching":
        yield goto("searching", "info")
        yield goto("idle", "found", within=(0.0, 5.0))


ENGINE: Spec[str, str] = Spec(_search, "idle", ["go"], _found)


def _session(timers: Timers, barrier: Barrier | None = None) -> Session:
    oracle = Oracle(Model(ENGINE, Routes(("A",), lambda _value: "A")), timing=TIMING)
    return Session(oracle, Script(["go"]), Strict(TIMING, timers), steps=1, barrier=barrier)


def test_what_came_unasked_is_followed_by_a_ping() -> None:
    """Not only after an input: whether more comes is asked again, and not waited for."""
    run = _session(Timers(), BARRIER)
    assert isinstance(run.command(), Send)
    run.tell(Sent("go", "A", 0.0))
    for at in (0.1, 0.3):
        assert run.command() == Ping("A", "ping")
        run.pinged("A", at)
        assert run.pong(Seen("pong", "A", at + 0.1))
        assert run.proven(at + 0.1) == Quiet(at + 0.1)
        run.tell(Seen("info", "A", at + 0.15))


def test_a_timer_is_waited_for_without_pings() -> None:
    """No answer would end that wait: pings would go to and fro without end."""
    run = _session(Timers(last=True), BARRIER)
    assert isinstance(run.command(), Send)
    run.tell(Sent("go", "A", 0.0))
    assert run.command() == Ping("A", "ping")
    run.pinged("A", 0.1)
    assert run.pong(Seen("pong", "A", 0.2))
    assert run.proven(0.2) is not None
    assert isinstance(run.command(), Wait)


@pytest.mark.parametrize(("last", "waits"), [(False, False), (True, True)])
def test_what_must_come_after_the_last_input_is_waited_for_where_that_is_asked(*, last: bool, waits: bool) -> None:
    """A run that failed by such a silence fails again only if somebody listens."""
    run = _session(Timers(last=last))
    assert isinstance(run.command(), Send)
    run.tell(Sent("go", "A", 0.0))
    assert isinstance(run.command(), Wait)
    assert run.silence(2.0) is not None
    after = run.command()
    assert isinstance(after, Wait if waits else Stop)
    if isinstance(after, Wait):
        run.silence(after.until)
        run.silence(after.until + 20.0)
        assert run.verdict is not None
        assert run.verdict.failed
