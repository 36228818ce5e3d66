"""Systems that many runs observe at the same time."""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import anyio
import pytest

from otf import Bench
from otf.adapter.observed_rest.system import Rest
from otf.adapter.observed_rest.threads import Sleepers
from otf.core import Session, Wait
from otf.core.pacing import Strict
from otf.runner import observing
from otf.runner.lookout import Lookout
from otf.runner.observing import MOST, OBSERVED, PROMPT, SHARED, Observer
from otf.runner.wire import Wire
from otf.spec import Spec, Transition, goto
from otf.strategy import Script
from otf.trace.events import Event, Seen, Sent
from tests.runner.playing import Restless, answering, hub


def _echo(_state: int, _inp: str) -> list[Transition[int]]:
    return [goto(0, "a.answer")]


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="rests are observed on Linux only")


def looked(wanted: float) -> str:
    """Return why a system is not observed any more after a few looks."""

    async def run() -> str:
        async with hub(lambda _port, _data: [], "a")() as lines, Wire(lines) as wire:
            observer = Observer(wire, Restless())
            observer.wait(1.0, wanted)
            for _ in range(20):
                observer.look()
            return observer.why

    return anyio.run(run)


def test_what_others_keep_busy_is_judged_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that other runs drive as well need not rest: past the quiescence time the clock decides."""
    assert not looked(0.0)
    monkeypatch.setitem(observing.watched, 7, 2)
    assert looked(0.0) == SHARED
    assert not looked(100.0)


class Asleep(Restless):
    """A process whose threads all sleep; a timer is due at a moment."""

    def __init__(self, due: float) -> None:
        super().__init__()
        self.due, self.still = due, False
        self.sleepers = Sleepers()

    def look(self, quiet: object) -> Rest:
        """Return that all threads sleep."""
        del quiet
        still, self.still = self.still, True
        return Rest(time.monotonic(), time.monotonic(), self.due, still)


def test_the_sleep_before_an_answer_is_known() -> None:
    """Until the timer was due, however late the answer comes; a rest that was believed is none before an answer."""

    async def slept(after: float, rest: float) -> float:
        async with hub(lambda _port, _data: [], "a")() as lines, Wire(lines) as wire:
            began = clock[0]
            observer = Observer(wire, Asleep(began + 0.2))
            observer.wait(1.0, 8.0, rest=rest)
            assert observer.look() == (rest < 0.2)
            clock[0] = began + after
            return observer.slept()

    clock = [100.0]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(time, "monotonic", lambda: clock[0])
        assert anyio.run(slept, 0.1, 1.0) == pytest.approx(0.1)
        assert anyio.run(slept, 5.0, 1.0) == pytest.approx(0.2)
        assert anyio.run(slept, 5.0, 0.1) == 0.0


class _Computing(Restless):
    """A process that computes a second between two looks at the time it used."""

    seconds = 0.0

    def used(self) -> float:
        """Return the seconds so far."""
        self.seconds += 1.0
        return self.seconds


@pytest.mark.parametrize(("inputs", "why"), [(1, "it computes for longer than silence would be waited for"), (20, "")])
def test_outputs_do_not_prolong_how_long_a_system_may_compute(
    inputs: int, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that goes on for ever reports again and again; each report begins a new wait, but no new search."""
    monkeypatch.setattr(observing, "BUSY", -1.0)

    async def run() -> str:
        async with hub(lambda _port, _data: [], "a")() as lines, Wire(lines) as wire:
            observer = Observer(wire, _Computing())
            for output in range(20):
                observer.wait(float(output), 0.2, since=float(output % inputs))
                for _ in range(PROMPT):
                    observer.look()
            return observer.why

    assert anyio.run(run) == why


def test_only_so_many_runs_observe_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The looks of hundreds of runs would take longer than their waits."""
    from otf.models.conference import bench

    async def known(tested: Bench) -> list[str]:
        found = list[str]()
        async with tested.open() as lines, Wire(lines) as wire, observing.observing(tested, wire, (), found.append):
            return found

    tested = replace(bench(), silence="observed")
    assert anyio.run(known, tested) == [OBSERVED]
    monkeypatch.setitem(observing.watched, observing.ALL, MOST)
    assert anyio.run(known, tested) == [f"timed: {MOST} other runs observe their systems at this time"]


class _Heard(Observer):
    """Counts the outputs that a thread which wakes by itself must answer for."""

    count = 0

    def heard(self, since: float, *, answer: bool) -> None:
        """Count one."""
        del since, answer
        self.count += 1


def test_what_a_device_says_by_itself_is_no_answer_of_the_thread_that_says_it() -> None:
    """Such a thread wakes for nothing, if nothing else comes: an answer that comes late does, and what is wrong."""
    ticks = Spec(_echo, 0, ["a.ask"], emits=lambda _: [goto(0, "b.tick")])

    async def heard(*events: Event) -> list[int]:
        async with hub(lambda _port, _data: [], "a", "b")() as lines, Wire(lines) as wire:
            oracle = answering(spec=ticks, outputs=("a", "b")).oracle()
            session, observer = Session(oracle, Script([]), Strict(oracle.timing), steps=9), _Heard(wire, Restless())
            lookout, counts = Lookout(session, wire, observer), list[int]()
            for event in events:
                session.tell(event)
                if isinstance(event, Seen):
                    lookout.heard(answer=False)
                    counts.append(observer.count)
            return counts

    asked, tick = Sent("a.ask", "a", 0.0), Seen("b.tick", "b", 0.1)
    assert anyio.run(heard, asked, tick, Seen("a.answer", "a", 0.2), tick) == [0, 1, 1]
    assert anyio.run(heard, asked, Seen("a.answer", "a", 0.2), tick, Seen("a.answer", "a", 0.3)) == [1, 1, 2]


def test_a_system_that_speaks_for_ever_is_watched_until_the_wait_ends() -> None:
    """It may be seen to rest before; one that never rests keeps no input back."""

    async def run() -> float:
        async with hub(lambda _port, _data: [], "a")() as lines, Wire(lines) as wire:
            bench = answering()
            session = Session(bench.oracle(), Script([]), Strict(bench.timing), steps=1)
            lookout = Lookout(session, wire, Observer(wire, Restless()))
            while (silent := await lookout.silent(Wait(0.01, rest=True, restless=True))) is None:
                pass  # a machine that kept the system from running prolongs the wait
            return silent

    assert anyio.run(run) >= 0.01
