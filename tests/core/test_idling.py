"""Waits that a campaign chooses as inputs: what needs two inputs within one timer is found."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random
from typing import Final

import pytest

from otf.core import Model, Monitor, Oracle, Routes, Session, Timing
from otf.core.idling import Idling
from otf.core.pacing import Eager, Strict
from otf.core.timed_ways import TimedWays
from otf.core.timer_waits import FIRST, Timers
from otf.simulate import System, TimeBounds, World, conduct
from otf.spec import Idle, Spec, Transition, goto, start, stop
from otf.strategy import Strategy
from otf.trace.events import Event, Quiet, Seen, Sent, Stalled

TIMING: Final = Timing(quiescence=0.006, latency=0.002, busy=0.002)
LEASE: Final = start("lease", 0.36, 0.5)
SHORT: Final = start("lease", 0.39, 0.41)
LONG: Final = start("lease", 0.78, 0.82)


@dataclass(frozen=True, slots=True)
class Lease:
    """What a server with a fault remembers, besides who holds the lease."""

    holder: str = ""
    renewed: int = 0
    runs: bool = False


def _step(state: str, inp: str) -> Iterator[Transition[str]]:
    """Two clients take, renew and return a lease, which ends by itself."""
    who = inp[0]
    match inp[1]:
        case "t" if not state:
            yield goto(who, "granted", timers=[LEASE])
        case "n" if state == who:
            yield goto(state, "renewed", timers=[LEASE])
        case "r" if state == who:
            yield goto("", "returned", timers=[stop("lease")])
        case _:
            yield goto(state, "refused")


def _emits(state: str) -> Iterator[Transition[str]]:
    if state:
        yield goto("", "ended", after="lease")


INPUTS: Final = ["at", "an", "ar", "bt", "bn", "br"]
MODEL: Final = Spec(_step, "", INPUTS, _emits)


def _faulty(fault: str) -> Spec[Lease, str]:
    """Return the server; `fault` is none, twice (a second renewal) or kept (the time of a lease that was returned)."""

    def step(state: Lease, inp: str) -> Iterator[Transition[Lease]]:
        for way in _step(state.holder, inp):
            then, timers = replace(state, holder=way.state), [SHORT] if LEASE in way.timers else [*way.timers]
            match inp[1]:
                case "t" if timers:
                    then = replace(then, renewed=0, runs=False)
                    timers = [] if state.runs else timers
                case "n" if timers:
                    then = replace(then, renewed=state.renewed + 1)
                    timers = [LONG] if fault == "twice" and then.renewed == 2 else timers
                case "r" if timers and fault == "kept":
                    then, timers = replace(then, runs=True), []
                case _:
                    pass
            yield goto(then, *way.outputs, timers=timers)

    def emits(state: Lease) -> Iterator[Transition[Lease]]:
        if state.holder or state.runs:
            yield goto(Lease(), *["ended"] * bool(state.holder), after="lease")

    return Spec(step, Lease(), INPUTS, emits)


def _port(_value: object) -> str:
    return "p"


def _campaign(fault: str, seconds: float, *, waits: bool = True, strict: bool = False) -> tuple[bool, list[Event]]:
    """Drive paths of 200 inputs for so many seconds; return whether one failed, and all events."""
    oracle, random, events = Oracle(Model(MODEL, Routes(("p",), _port)), timing=TIMING), Random(1), list[Event]()
    strategy, timers, idling = Strategy("alternating", "uioco", 1), Timers(between=not waits), Idling()
    proven, spent, number = set[Hashable](), 0.0, 0
    while spent < seconds:
        number += 1
        world = World(System(_faulty(fault), _port, random), TimeBounds(latency=0.002, busy=0.002), random)
        given = idling if waits else None
        pacing = Strict(TIMING, timers, idling=given) if strict else Eager(TIMING, proven, timers, given)
        session = Session(oracle, strategy.path(number), pacing, steps=200)
        if conduct(session, world, _port, events.append).failed:
            return True, events
        spent += world.now
    return False, events


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("fault", ["twice", "kept"])
def test_what_needs_two_inputs_within_one_timer_is_found(fault: str, *, strict: bool) -> None:
    """A lease that lasts longer after two renewals, and one that keeps the time of another which was returned."""
    # of twelve seeds the slowest took 36.9 s
    assert _campaign(fault, 40.0, strict=strict)[0]


def test_waits_at_the_first_visits_alone_miss_it() -> None:
    """All inputs go right after the one that started the lease."""
    assert not _campaign("kept", 10.0, waits=False)[0]


def test_waits_take_half_of_the_time() -> None:
    """Beyond the first ten seconds; and no wait comes first, or right after another."""
    failed, events = _campaign("none", 30.0)
    sent = [event.input for event in events if isinstance(event, Sent)]
    waited = sum(inp.seconds for inp in sent if isinstance(inp, Idle))
    assert not failed
    assert 10 < waited < 15 + FIRST
    assert not any(
        isinstance(one, Idle) and isinstance(then, Idle) for one, then in zip(["", *sent], sent, strict=False)
    )
    assert not isinstance(sent[0], Idle)


def test_a_heartbeat_is_heard_without_waits() -> None:
    """It comes while inputs go on, and none delays it; where each path ends before it comes, it is awaited."""
    beat = start("beat", 0.1, 0.3)
    spec = Spec(
        lambda state, _inp: [goto(state, "ok")],
        0,
        ["go"],
        lambda state: [goto(state, "beat", after="beat", timers=[beat])],
        timers=[beat],
    )
    assert [_idles(spec, steps) for steps in ([500], [500] * 3)] == [1, 1]
    assert _idles(spec, [5] * 20) > 1


def _idles(spec: Spec[int, str], paths: Sequence[int]) -> int:
    oracle, random, idling, events = (
        Oracle(Model(spec, Routes(("p",), _port)), timing=TIMING),
        Random(1),
        Idling(),
        list[Event](),
    )
    strategy, proven = Strategy("alternating", "uioco", 1), set[Hashable]()
    for number, steps in enumerate(paths, start=1):
        world = World(System(spec, _port, random), TimeBounds(latency=0.002, busy=0.002), random)
        pacing = Eager(TIMING, proven, Timers(between=False), idling)
        session = Session(oracle, strategy.path(number), pacing, steps=steps)
        assert conduct(session, world, _port, events.append).outcome == "pass"
    return sum(isinstance(event, Sent) and isinstance(event.input, Idle) for event in events)


def test_a_timer_that_an_input_did_not_stop() -> None:
    """The rest of its time is waited, though nothing is due; a lamp that goes on to go out is found."""
    runs = start("out", 0.39, 0.41)

    def lamp(*, stops: bool) -> Spec[str, str]:
        ends = [stop("out")] if stops else []
        return Spec(
            lambda state, _inp: [goto("", "click", timers=ends) if state else goto("lit", "click", timers=[runs])],
            "",
            ["press"],
            lambda state: [goto("", "out", after="out")] * (bool(state) or not stops),
        )

    oracle, random, idling = Oracle(Model(lamp(stops=True), Routes(("p",), _port)), timing=TIMING), Random(1), Idling()
    strategy, found = Strategy("alternating", "uioco", 1), list[str]()
    for number, stops in enumerate((True, False), start=1):
        world = World(System(lamp(stops=stops), _port, random), TimeBounds(latency=0.002, busy=0.002), random)
        session = Session(oracle, strategy.path(number), Eager(TIMING, set(), Timers(between=False), idling), steps=400)
        found.append(conduct(session, world, _port, lambda _: None).outcome)
        idling = Idling()
    assert found == ["pass", "fail"]


def test_without_timers_nothing_waits() -> None:
    """A model without times is driven as fast as ever."""
    lamp: Spec[object, str] = Spec(lambda lit, _inp: [goto(not lit, "click")], 0, ["press"])
    oracle, random, idling, events = Oracle(Model(lamp, Routes(("p",), _port))), Random(1), Idling(), list[Event]()
    world = World(System(lamp, _port, random), TimeBounds(), random)
    session = Session(oracle, Strategy("random", "uioco", 1).path(1), Eager(oracle.timing, idling=idling), steps=20)
    assert conduct(session, world, _port, events.append).outcome == "pass"
    assert not any(isinstance(event, Sent) and isinstance(event.input, Idle) for event in events)
    assert not idling.told


def test_a_stall_prolongs_a_wait() -> None:
    """Where the machine stalls, a timer may end later: an input that comes before would excuse one that never ends."""
    oracle, idling = Oracle(Model(MODEL, Routes(("p",), _port)), timing=TIMING), Idling()
    monitor, take = Monitor(oracle), oracle.model.symbol("at")
    for event in (Sent("at", "p", 0.0), Seen("granted", "p", 0.001), Quiet(0.01)):
        monitor.tell(event)
    wait = idling.choose(monitor, oracle.start().nodes, take, 0.01)
    assert wait is not None
    for then in (Sent(wait.value, "", 0.01), Stalled(0.1, 0.4), Quiet(0.53)):
        monitor.tell(then)
    more = idling.choose(monitor, monitor.states, wait, 0.53)
    assert more is not None
    assert isinstance(more.value, Idle)
    assert 0 < more.value.seconds < 0.2
    # one more stall, longer than half of the second wait, but not of both
    for then in (Sent(more.value, "", 0.53), Stalled(0.08, 0.61), Quiet(0.62)):
        monitor.tell(then)
    last = idling.choose(monitor, monitor.states, more, 0.62)
    assert last is not None
    assert isinstance(last.value, Idle)
    assert last.value.seconds > more.value.seconds / 2


def test_a_timer_without_effect_is_not_waited_for() -> None:
    """It runs in a state that has no transition for it."""
    spec = Spec(lambda state, _inp: [goto(state, "ok", timers=[LEASE])], 0, ["go"], lambda _state: [])
    oracle, idling = Oracle(Model(spec, Routes(("p",), _port)), timing=TIMING), Idling()
    monitor, inp = Monitor(oracle), oracle.model.symbol("go")
    for event in (Sent("go", "p", 0.0), Seen("ok", "p", 0.001), Quiet(0.01)):
        monitor.tell(event)
    assert monitor.belief.timed
    assert idling.choose(monitor, oracle.start().nodes, inp, 0.01) is None


def _after_looks(ways: TimedWays | None) -> set[object]:
    """Drive a lamp that goes out by itself; return the inputs after which it was waited while it was lit."""
    runs, told = start("out", 0.39, 0.41), dict[tuple[Hashable, ...], int]()
    spec = Spec(
        lambda lit, inp: [
            goto(lit, "ok")
            if inp != "press"
            else goto(0, "off", timers=[stop("out")])
            if lit
            else goto(1, "on", timers=[runs])
        ],
        0,
        ["press", "look", "feel"],
        lambda lit: [goto(0, "out", after="out")] * lit,
    )
    oracle, random, events = Oracle(Model(spec, Routes(("p",), _port)), timing=TIMING), Random(1), list[Event]()
    strategy = Strategy("alternating", "uioco", 1)
    idling = Idling(told, ways)
    world = World(System(spec, _port, random), TimeBounds(latency=0.002, busy=0.002), random)
    session = Session(oracle, strategy.path(1), Eager(TIMING, set(), Timers(between=False), idling), steps=60)
    assert conduct(session, world, _port, events.append).outcome == "pass"
    sent = [event.input for event in events if isinstance(event, Sent)]
    return {one for one, then in pairwise(sent) if isinstance(then, Idle) and then.seconds > 0.3}


def test_a_wait_follows_each_input_without_effect() -> None:
    """A faulty system may stop a timer there; a strategy that draws its inputs gets none in their place."""
    strategy = Strategy("alternating", "uioco", 1)
    assert _after_looks(TimedWays(strategy.visits.inputs, {})) == {"press", "look", "feel"}
    assert _after_looks(None) < {"press", "look", "feel"}
