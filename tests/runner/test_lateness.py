"""Whose fault it is when an output comes too late: the system's, or that of a tester that did not look."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from itertools import count
from math import inf
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from otf.adapter import Arrival, Frame
from otf.adapters.inprocess import InprocessLine, Reply
from otf.core import Monitor, Session, Symbol, View
from otf.core.burst import Burst
from otf.core.pacing import Strict
from otf.core.stalls import CpuUse
from otf.core.timer_waits import Timers
from otf.runner import Wire, drive, lookout
from otf.runner.lookout import Lookout
from otf.runner.wire import Arrived
from otf.spec import Spec, Transition, goto, start
from otf.strategy import Script
from otf.trace.events import Event, Seen, Sent, Stalled
from otf.trace.record import as_recorded
from otf.trace.verdict import Verdict
from tests.always import always
from tests.runner.playing import Still, answering, hub, on_function, on_still, spec, virtually


def _within_a_second(state: int, _inp: str) -> Iterator[Transition[int]]:
    yield goto(state, "p.pong", within=(0.0, 1.0))


def _busy_for(seconds: float, after: float) -> tuple[Verdict, list[tuple[Event, dict[str, Any]]]]:
    """Drive a system that answers after so many seconds with a tester that is busy for a while after it has sent."""
    recorded: list[tuple[Event, dict[str, Any]]] = []

    def record(event: Event, _raw: bytes | None = None, /, **more: Any) -> None:  # noqa: ANN401 -- JSON data
        recorded.append((event, more))
        clock = trio.lowlevel.current_clock()
        if isinstance(event, Sent) and isinstance(clock, MockClock):
            clock.jump(seconds)

    async def run() -> Verdict:
        bench = answering((after, b"pong"), spec=spec(_within_a_second), latency=0.01, busy=0.0)
        session = Session(bench.oracle(), Script(["p.ping"]), Strict(bench.timing), steps=1)
        return await drive(bench, session, record)

    return virtually(run), recorded


def test_an_output_that_comes_too_late() -> None:
    """An answer after two seconds, with one second allowed, fails: the tester looked all the time."""
    verdict, recorded = _busy_for(0.0, after=2.0)
    assert verdict.failure is not None
    assert verdict.failure.kind == "late"
    assert [more["slack"] for event, more in recorded if isinstance(event, Seen)] == [0.0]


def test_what_is_judged_is_what_the_trace_says() -> None:
    """Times are those that a trace has, in microseconds: its replay has no other ties."""
    verdict, recorded = _busy_for(0.123456789123, after=0.023456789123)
    assert verdict.outcome == "pass"
    assert len(recorded) >= 3
    for event, more in recorded:
        assert event == as_recorded(event)
        assert round(more.get("slack", 0.0), 6) == more.get("slack", 0.0)


def test_a_tester_that_comes_too_late() -> None:
    """An answer that the tester found late may have been there in time: the path goes on."""
    verdict, recorded = _busy_for(3.0, after=0.5)
    assert verdict.outcome == "pass"
    assert [more["slack"] for event, more in recorded if isinstance(event, Seen)] == [3.0]


def _pong(_state: str, _inp: str) -> Iterator[Transition[str]]:
    yield goto("pinged", "p.pong", timers=[start("tick", 2.0, 9.0)])


def _tick(state: str) -> Iterator[Transition[str]]:
    if state == "pinged":
        yield goto("idle", "p.tick", after="tick")


_TICKING = Spec(_pong, "idle", ["p.ping"], _tick)


class _Slow(Script):
    """A strategy that takes twenty seconds to choose the fourth input: the third tick is not waited for."""

    _chosen = 0

    def choose(self, view: View) -> Symbol | None:
        """Return the next input."""
        self._chosen += 1
        clock = trio.lowlevel.current_clock()
        if self._chosen == 4 and isinstance(clock, MockClock):
            clock.jump(20.0)
        return super().choose(view)


def test_a_tester_that_comes_too_late_before_it_sends() -> None:
    """Before the next input goes out, a busy tester looks whether an overdue output is there."""
    events: list[Event] = []

    def record(event: Event, _raw: bytes | None = None, /, **_more: Any) -> None:  # noqa: ANN401 -- JSON data
        events.append(event)

    async def run() -> Verdict:
        bench = answering((0.0, b"pong"), (5.0, b"tick"), spec=_TICKING, latency=0.01, busy=0.0)
        session = Session(bench.oracle(), _Slow(["p.ping"] * 4), Strict(bench.timing), steps=4)
        return await drive(bench, session, record)

    assert virtually(run).outcome == "pass"
    outputs = [event.output if isinstance(event, Seen) else "" for event in events if isinstance(event, Seen | Sent)]
    assert outputs[:10] == [*(["", "p.pong", "p.tick"] * 3), ""]


def test_a_tester_that_asks_its_model_for_long_before_it_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the system said meanwhile waits at the port: nothing is missing."""
    would, asked = Monitor.would, 0

    def slow(monitor: Monitor, event: Event) -> bool:
        nonlocal asked
        found, clock = would(monitor, event), trio.lowlevel.current_clock()
        asked += isinstance(event, Sent)
        if asked == 2 and isinstance(clock, MockClock):
            asked += 1
            clock.jump(20.0)
        return found

    monkeypatch.setattr(Monitor, "would", slow)

    async def run() -> Verdict:
        bench = answering((0.0, b"pong"), (5.0, b"tick"), spec=_TICKING, latency=0.01, busy=0.0)
        pacing = Strict(bench.timing, Timers(between=False))
        session = Session(bench.oracle(), Script(["p.ping"] * 2), pacing, steps=2)
        return await drive(bench, session, always(None))

    assert virtually(run).outcome == "pass"
    assert asked > 2


def test_a_tester_that_judges_for_long_what_came_before_it_sends(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the system said while three ticks were judged waits at the port: nothing is missing."""
    would, slow = Monitor.would, 0.0

    def late(monitor: Monitor, event: Event) -> bool:
        nonlocal slow
        allowed, clock = would(monitor, event), trio.lowlevel.current_clock()
        if isinstance(event, Sent) and event.input == "p.last" and not slow and isinstance(clock, MockClock):
            clock.jump(3.0)
            slow = 0.5
        return allowed

    def record(event: Event, _raw: bytes | None = None, /, **_more: Any) -> None:  # noqa: ANN401 -- JSON data
        clock = trio.lowlevel.current_clock()
        if isinstance(event, Seen) and isinstance(clock, MockClock):
            clock.jump(slow)

    monkeypatch.setattr(Monitor, "would", late)

    def reply(frame: bytes) -> list[Reply]:
        return [(0.0, b"pong"), *((float(at), b"tick") for at in range(1, 9))] if frame == b"ping" else []

    async def run() -> Verdict:
        model = Spec(_ping_alone, "idle", ["p.ping", "p.pang", "p.last"], _beating)
        system = on_function(lambda: reply, spec=model, quiescence=0.1, latency=0.01, busy=0.0)
        pacing = Burst(system.timing, 1, Timers(between=False))
        session = Session(system.oracle(), Script(["p.ping", "p.pang", "p.last"]), pacing, steps=3)
        return await drive(system, session, record)

    assert virtually(run).outcome == "pass"


def test_the_end_of_the_time_comes_while_a_backlog_is_judged() -> None:
    """A tester that judges more slowly than a system speaks would never look at its clock."""
    judged = 0

    def record(event: Event, _raw: bytes | None = None, /, **_more: Any) -> None:  # noqa: ANN401 -- JSON data
        nonlocal judged
        clock = trio.lowlevel.current_clock()
        if isinstance(event, Seen) and isinstance(clock, MockClock):
            judged += 1
            clock.jump(0.1)

    async def run() -> Verdict:
        bench = answering(*[(0.0, b"tick")] * 500, spec=spec(_forever, "p.ping"), latency=0.01, busy=0.0)
        session = Session(bench.oracle(), Script(["p.ping"]), Strict(bench.timing), steps=1)
        with trio.move_on_after(3.0):
            return await drive(bench, session, record)
        return Verdict("pass")

    virtually(run)
    assert 20 < judged < 100


def _forever(state: int, _inp: str) -> Iterator[Transition[int]]:
    yield goto(state, *["p.tick"] * 500)


@pytest.mark.parametrize("after", [0.5, 1.6])
def test_a_tester_that_was_stopped_while_it_waited(after: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it finds as it goes on may have been there for as long, or its system was stopped as well: no failure."""
    monkeypatch.setattr(lookout, "in_real_time", lambda: True)
    monkeypatch.setattr(lookout, "cpu_use", always(CpuUse(known=True)))

    async def run() -> Verdict:
        clock = trio.lowlevel.current_clock()
        assert isinstance(clock, MockClock)
        bench = answering((after, b"pong"), spec=spec(_within_a_second), latency=0.01, busy=0.0)
        session = Session(bench.oracle(), Script(["p.ping"]), Strict(bench.timing), steps=1)
        async with trio.open_nursery() as others:
            others.start_soon(_stops, clock)
            return await drive(bench, session, record)

    events = list[Event]()

    def record(event: Event, _raw: bytes | None = None, /, **_more: Any) -> None:  # noqa: ANN401 -- JSON data
        events.append(event)

    verdict = virtually(run)
    assert verdict.outcome == "pass"
    assert [each.seconds for each in events if isinstance(each, Stalled)] == [pytest.approx(1.0, abs=0.02)]


async def _stops(clock: MockClock) -> None:
    await trio.sleep(0.3)
    clock.jump(1.0)


@pytest.mark.parametrize("look", range(20))
def test_a_tester_that_was_stopped_while_it_looked_at_the_machine(look: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it finds there may have come at any time since its last look at the ports."""
    looks, slacks = count(), list[float]()

    def cpu_use(*_: object, **_more: object) -> CpuUse:
        clock = trio.lowlevel.current_clock()
        assert isinstance(clock, MockClock)
        if next(looks) == look:
            clock.jump(20.0)
        return CpuUse(known=True)

    def record(event: Event, _raw: bytes | None = None, /, **more: Any) -> None:  # noqa: ANN401 -- JSON data
        if isinstance(event, Seen):
            slacks.append(more["slack"])

    async def run() -> Verdict:
        connect = hub(lambda _port, _data: [(0.0, "p", b"pong"), (5.0, "p", b"tick")], "p")
        bench = on_still(spec=_TICKING, latency=0.9, busy=0.0, connect=connect)
        session = Session(bench.oracle(), Script(["p.ping"] * 2), Strict(bench.timing), steps=2)
        return await drive(bench, session, record)

    monkeypatch.setattr(lookout, "in_real_time", lambda: True)
    monkeypatch.setattr(lookout, "cpu_use", cpu_use)
    assert virtually(run).outcome == "pass"
    assert next(looks) > look
    assert slacks


@pytest.mark.parametrize("look", range(3))
def test_a_tester_that_was_stopped_when_it_had_looked_at_its_ports(look: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it finds next may have come at any time since it looked, not since it went on."""
    looks, poll = count(), Wire.poll

    def stopped(wire: Wire) -> None:
        poll(wire)
        clock = trio.lowlevel.current_clock()
        assert isinstance(clock, MockClock)
        if next(looks) == look:
            clock.jump(20.0)

    async def run() -> Verdict:
        connect = hub(lambda _port, _data: [(0.0, "p", b"pong"), (5.0, "p", b"tick")], "p")
        bench = on_still(spec=_TICKING, latency=0.9, busy=0.0, connect=connect)
        session = Session(bench.oracle(), Script(["p.ping"] * 2), Strict(bench.timing), steps=2)
        return await drive(bench, session, always(None))

    monkeypatch.setattr(Wire, "poll", stopped)
    assert virtually(run).outcome == "pass"
    assert next(looks) > look


def test_what_comes_right_behind_what_was_found_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """TCP may have held it back at the other end until the tester read: it is read at once, and may be as old."""
    held = [[Frame(b"pong")], [Frame(b"pong")], [], [Frame(b"pong")]]

    async def slacks() -> list[float]:
        clock, seen = trio.lowlevel.current_clock(), list[float]()
        assert isinstance(clock, MockClock)
        oracle = answering(spec=spec(_within_a_second), latency=0.01, busy=0.0).oracle()
        session = Session(oracle, Script(["p.ping"]), Strict(oracle.timing), steps=1)
        async with hub(lambda _port, _data: [], "p")() as lines, Wire(lines) as wire:
            lookout = Lookout(session, wire)
            session.tell(Sent("p.ping", "p", 0.0))
            assert session.monitor.would(Seen("p.pong", "p", 0.0))
            monkeypatch.setattr(lines["p"], "receive", lambda: held.pop(0) if held else [])
            for late in (1.0, 0.25):
                clock.jump(late)
                await lookout.look(wire.now + 0.5)
                for arrived in wire.arrived():
                    lookout.taken(arrived)
                    seen.append(session.monitor.slack)
        return seen

    assert virtually(slacks) == [1.0, 1.0, 0.25]


def _then(state: str) -> Iterator[Transition[str]]:
    if state == "asked":
        yield goto("first", "p.first", within=(0.0, 2.0))
    if state == "first":
        yield goto("idle", "p.then", within=(0.0, 0.002))


def test_a_tester_that_lost_its_processor_when_it_was_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it finds next may have come since then, though its wait was not over yet."""
    sleep, lost = Wire.sleep, [0.0]

    async def stopped(wire: Wire, until: float) -> None:
        await sleep(wire, until)
        clock = trio.lowlevel.current_clock()
        assert isinstance(clock, MockClock)
        if wire.waiting and not lost[0]:
            wire.poll()
            clock.jump(0.008)
            lost[0] = 0.008

    async def run() -> Verdict:
        connect = hub(lambda _port, _data: [(1.001, "p", b"first"), (1.002, "p", b"then")], "p")
        model = Spec(lambda _state, _inp: [goto("asked")], "idle", ["p.ping"], _then)
        bench = on_still(spec=model, latency=0.001, busy=0.0, quiescence=3.0, connect=connect)
        session = Session(bench.oracle(), Script(["p.ping"]), Strict(bench.timing), steps=1)
        return await drive(bench, session, always(None))

    monkeypatch.setattr(lookout, "in_real_time", lambda: True)
    monkeypatch.setattr(lookout, "own_use", lambda: (0.0, lost[0]))
    monkeypatch.setattr(lookout, "cpu_use", always(CpuUse(known=True)))
    monkeypatch.setattr(Wire, "sleep", stopped)
    assert virtually(run).outcome == "pass"
    assert lost == [0.008]


def test_a_tester_that_waits_for_a_processor_in_each_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """While nothing came, it delayed nothing: many short waits excuse no answer that is late by half a second."""
    turns = count()
    monkeypatch.setattr(lookout, "in_real_time", lambda: True)

    def use(*_args: object, **_more: object) -> CpuUse:
        return CpuUse(known=True, own=0.01 * next(turns))

    monkeypatch.setattr(lookout, "cpu_use", use)
    monkeypatch.setattr(lookout, "own_use", lambda: (0.0, 0.01 * next(turns)))
    verdict, _ = _busy_for(0.0, after=1.5)
    assert verdict.failure is not None
    assert verdict.failure.kind == "late"
    assert next(turns) > 100


def test_a_tester_that_is_late_in_time() -> None:
    """A tester that was busy, and found the answer in time all the same, has nothing to complain of."""
    assert _busy_for(0.75, after=0.5)[0].outcome == "pass"


def test_a_system_that_is_later_than_the_tester() -> None:
    """A tester's second does not excuse a system's nine."""
    verdict, _ = _busy_for(1.0, after=9.0)
    assert verdict.failure is not None
    assert verdict.failure.kind == "late"


@pytest.mark.parametrize(("doubt", "outcome"), [(0.0, "fail"), (0.5, "fail"), (1.5, "pass"), (inf, "pass")])
def test_a_reader_that_did_not_wait_for_the_tester(doubt: float, outcome: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It found the answer after two seconds, and the tester after three: how long it may have waited itself decides."""
    keep = Wire.keep

    def read(wire: Wire, port: str, arrivals: list[Arrival], at: float) -> None:
        found = [replace(each, received=wire.zero + 2.0, doubt=doubt) for each in arrivals if isinstance(each, Frame)]
        keep(wire, port, [*found], at)

    monkeypatch.setattr(Wire, "keep", read)
    assert _busy_for(3.0, after=2.0)[0].outcome == outcome


def _beating(state: str) -> Iterator[Transition[str]]:
    if state == "pinged":
        yield goto(state, "p.tick", after="tick", timers=(start("tick", 0.9, 1.1),))


def test_a_tick_after_one_that_the_tester_found_late_is_not_early() -> None:
    """The first tick came while the tester was busy, and was found late, but in time: the second is in time, too."""
    events: list[Event] = []

    def record(event: Event, _raw: bytes | None = None, /, **_more: Any) -> None:  # noqa: ANN401 -- JSON data
        clock = trio.lowlevel.current_clock()
        if isinstance(event, Seen) and event.output == "p.pong" and isinstance(clock, MockClock):
            clock.jump(1.09)
        events.append(event)

    def pong(_state: str, _inp: str) -> Iterator[Transition[str]]:
        yield goto("pinged", "p.pong", timers=(start("tick", 0.9, 1.1),))

    async def run() -> Verdict:
        model = Spec(pong, "idle", ["p.ping"], _beating)
        replies = [(0.0, b"pong"), *((at, b"tick") for at in (0.92, 1.84, 2.76, 3.68))]
        ticks = answering(*replies, spec=model, latency=0.01, busy=0.0)
        session = Session(ticks.oracle(), Script(["p.ping"]), Strict(ticks.timing, Timers(last=True)), steps=1)
        return await drive(ticks, session, record)

    assert virtually(run).outcome == "pass"
    assert [event.at for event in events if isinstance(event, Seen)][:3] == [0.0, 1.09, 1.84]


class Held(Still):
    """A line whose reader stands still for a second before it reads."""

    def receive(self) -> list[Arrival]:
        """Return what is there after the second."""
        clock = trio.lowlevel.current_clock()
        assert isinstance(clock, MockClock)
        clock.jump(1.0)
        return super().receive()


def test_what_was_read_after_a_stall_may_have_come_in_it() -> None:
    """It has the time at which reading ended, and how long that took: it is neither early nor late for that."""

    async def run() -> list[Arrived]:
        async with Wire({"p": Held([Frame(b"tick")])}) as wire:
            wire.poll()
            return wire.arrived()

    (arrived,) = virtually(run)
    assert (arrived.at, arrived.took) == (1.0, 1.0)


def test_what_was_read_between_two_looks_may_have_come_since_the_last() -> None:
    """The event loop reads whenever it has its turn, as while a path begins: ten ticks found at once are not early."""

    async def run() -> float:
        async with Wire({"p": Still([Frame(b"tick")])}) as wire:
            bench = answering((0.0, b"pong"), spec=spec(_within_a_second))
            session = Session(bench.oracle(), Script(["p.ping"]), Strict(bench.timing), steps=1)
            lookout, clock = Lookout(session, wire), trio.lowlevel.current_clock()
            assert isinstance(clock, MockClock)
            clock.jump(1.0)
            wire.poll()
            (arrived,) = wire.arrived()
            lookout.taken(arrived)
            return session.monitor.slack

    assert virtually(run) == 1.0


def test_what_came_before_the_first_look_may_be_as_old_as_the_run() -> None:
    """To start a path takes time, in which a device speaks: its first ticks, found at once, are not early."""

    async def run() -> float:
        clock = trio.lowlevel.current_clock()
        assert isinstance(clock, MockClock)
        async with Wire({"p": Still([Frame(b"tick")])}) as wire:
            bench = answering(spec=replace(_TICKING, initial="pinged", timers=(start("tick", 0.9, 1.1),)))
            session = Session(bench.oracle(), Script([]), Strict(bench.timing), steps=1)
            clock.jump(2.0)
            lookout = Lookout(session, wire)
            (arrived,) = wire.arrived()
            lookout.taken(arrived)
            return session.monitor.slack

    assert virtually(run) == 2.0


def held(seconds: float, frame: bytes = b"") -> Callable[[InprocessLine, bytes], Awaitable[None]]:
    """Return a `send` after which the tester stands still, where it has sent this frame or any."""
    send = InprocessLine.send

    async def sends(line: InprocessLine, data: bytes) -> None:
        await send(line, data)
        clock = trio.lowlevel.current_clock()
        assert isinstance(clock, MockClock)
        clock.jump(seconds if frame in {data, b""} else 0.0)

    return sends


def test_a_tester_that_stands_still_after_it_has_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system had the input at once, and its timer ran meanwhile: a tick in time is not early."""
    monkeypatch.setattr(InprocessLine, "send", held(0.5))

    def pong(_state: str, _inp: str) -> Iterator[Transition[str]]:
        yield goto("pinged", "p.pong", timers=(start("tick", 0.9, 1.1),))

    async def run() -> Verdict:
        replies = [(0.0, b"pong"), *((at, b"tick") for at in (0.95, 1.95, 2.95))]
        ticks = answering(*replies, spec=Spec(pong, "idle", ["p.ping"], _beating), latency=0.01, busy=0.0)
        session = Session(ticks.oracle(), Script(["p.ping"]), Strict(ticks.timing, Timers(last=True)), steps=1)
        return await drive(ticks, session, always(None))

    assert virtually(run).outcome == "pass"


def _ping_alone(state: str, inp: str) -> Iterator[Transition[str]]:
    if inp == "p.ping":
        yield goto("pinged", "p.pong", timers=(start("tick", 0.9, 1.1),))
    else:
        yield goto(state)


def _reply(frame: bytes) -> list[Reply]:
    return [(0.0, b"pong"), (0.92, b"tick")] if frame == b"ping" else []


def test_an_answer_between_two_inputs_of_a_burst(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands after both in the trace, and its timer runs from when it came: the tick is not early."""
    keep = Wire.keep

    def read(wire: Wire, port: str, arrivals: list[Arrival], at: float) -> None:
        came = {b"pong": 0.0, b"tick": 0.92}
        frames = [each for each in arrivals if isinstance(each, Frame)]
        keep(wire, port, [replace(each, received=wire.zero + came[each.data]) for each in frames], at)

    monkeypatch.setattr(InprocessLine, "send", held(0.5, b"ping"))
    monkeypatch.setattr(Wire, "keep", read)

    async def run() -> Verdict:
        model = Spec(_ping_alone, "idle", ["p.ping", "p.pang"], _tick)
        system = on_function(lambda: _reply, spec=model, latency=0.01, busy=0.0)
        pacing = Burst(system.timing, 2, Timers(last=True))
        session = Session(system.oracle(), Script(["p.ping", "p.pang"]), pacing, steps=2)
        return await drive(system, session, always(None))

    assert virtually(run).outcome == "pass"


@pytest.mark.parametrize("burst", [1, 2])
def test_a_tester_that_stands_still_before_its_write(burst: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It had looked, and nothing was overdue: an output that came between the look and the write is in time."""
    would = Monitor.would

    def late(monitor: Monitor, event: Event) -> bool:
        allowed = would(monitor, event)
        clock = trio.lowlevel.current_clock()
        if isinstance(event, Sent) and event.input == "p.last" and isinstance(clock, MockClock):
            clock.jump(3.0)
        return allowed

    monkeypatch.setattr(Monitor, "would", late)

    async def run() -> Verdict:
        model = Spec(_ping_alone, "idle", ["p.ping", "p.pang", "p.last"], _tick)
        system = on_function(lambda: _reply, spec=model, quiescence=0.1, latency=0.01, busy=0.0)
        pacing = Burst(system.timing, burst, Timers(between=False))
        session = Session(system.oracle(), Script(["p.ping", "p.pang", "p.last"]), pacing, steps=3)
        return await drive(system, session, always(None))

    assert virtually(run).outcome == "pass"


def test_what_one_look_found_is_not_newer_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ticks came while a write took long; the look after it found both, and another look follows at once."""
    monkeypatch.setattr(InprocessLine, "send", held(1.8, b"pang"))
    monkeypatch.setattr(Wire, "prompt", always(value=True))

    def reply(frame: bytes) -> list[Reply]:
        return [(0.0, b"pong"), (0.92, b"tick"), (1.84, b"tick"), (2.76, b"tick")] if frame == b"ping" else [b"pung"]

    def step(state: str, inp: str) -> Iterator[Transition[str]]:
        yield from _ping_alone(state, inp) if inp == "p.ping" else [goto(state, "p.pung")]

    async def run() -> Verdict:
        model = Spec(step, "idle", ["p.ping", "p.pang"], _beating)
        system = on_function(lambda: reply, spec=model, quiescence=0.1, latency=0.01, busy=0.0)
        pacing = Strict(system.timing, Timers(between=False))
        session = Session(system.oracle(), Script(["p.ping", "p.pang"]), pacing, steps=2)
        return await drive(system, session, always(None))

    assert virtually(run).outcome == "pass"
