"""Timers behind another that expires again and again: they are awaited too, in a share of the time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest

from otf.core import Model, Monitor, Oracle, Routes, Session, Timing
from otf.core.pacing import Strict
from otf.core.timer_waits import Timers
from otf.simulate import System, TimeBounds, World, conduct
from otf.spec import Idle, Spec, Transition, goto, start
from otf.strategy import Script
from otf.trace.clock import overdue_timer
from otf.trace.events import Event, Quiet, Seen, Sent, Stalled

TIMING = Timing(quiescence=0.05, latency=0.01, busy=0.01)


def _step(state: str, inp: str) -> Iterator[Transition[str]]:
    """A device that is on sends a beat each second, and barks if it is not fed for five."""
    if inp == "power":
        yield goto("on", "up", timers=[start("beat", 0.9, 1.1), start("dog", 4.9, 5.1)])
    elif state == "on":
        yield goto("on", "ok", timers=[start("dog", 4.9, 5.1)])


def _emits(state: str, *, barks: bool = True) -> Iterator[Transition[str]]:
    if state == "on":
        yield goto("on", "beat", after="beat", timers=[start("beat", 0.9, 1.1)])
        if barks:
            yield goto("on", "bark", after="dog", timers=[start("dog", 4.9, 5.1)])


DEVICE: Spec[str, str] = Spec(_step, "off", ["power", "feed"], _emits)
DEAF: Spec[str, str] = Spec(_step, "off", ["power", "feed"], lambda state: _emits(state, barks=False))


def _run(
    system: Spec[Any, str],
    *inputs: str,
    timers: Timers,
    model: Spec[Any, str] = DEVICE,
    gaps: Sequence[float] = (),
) -> tuple[str, list[Event]]:
    """Drive a system by the model of a correct one."""
    oracle = Oracle(Model(model, Routes(("p",), lambda _value: "p")), timing=TIMING)
    world = World(System(system, lambda _output: "p", Random(1)), TimeBounds(latency=0.01, busy=0.01), Random(1))
    strict, events = Strict(TIMING, timers, gaps=gaps), list[Event]()
    session = Session(oracle, Script(inputs), strict, steps=len(inputs))
    return conduct(session, world, lambda _value: "p", events.append).outcome, events


def _barks(events: list[Event]) -> int:
    return sum(isinstance(event, Seen) and event.output == "bark" for event in events)


def test_a_beat_does_not_hide_a_dead_watchdog() -> None:
    """The beat comes five times as often, and the watchdog is waited for all the same."""
    assert _run(DEVICE, "power", "feed", timers=Timers())[0] == "pass"
    assert _run(DEAF, "power", "feed", timers=Timers())[0] == "fail"


def test_a_run_that_is_driven_again_waits_for_all_timers_at_its_end() -> None:
    """Not only for the one that is due first."""
    again = Timers(last=True, between=False)
    assert _run(DEAF, "power", timers=again)[0] == "fail"
    verdict, events = _run(DEVICE, "power", timers=Timers(last=True, between=False))
    assert (verdict, _barks(events)) == ("pass", 1)


def test_a_stall_prolongs_the_wait_for_a_timer() -> None:
    """A stall may have delayed the bark of the dog: a run that ended before that would pass a dead one."""
    oracle = Oracle(Model(DEVICE, Routes(("p",), lambda _value: "p")), timing=TIMING)
    monitor, timers = Monitor(oracle), Timers(last=True)
    came = [("up", 0.01), ("beat", 1.0), ("beat", 2.0), ("beat", 3.0), ("beat", 4.0), ("beat", 5.2)]
    seen: list[Event] = [Seen(what, "p", at) for what, at in came]
    waits = list[bool]()
    for event in [Sent("power", "p", 0.0), *seen[:-1], Stalled(1.0, 5.05), seen[-1]]:
        assert monitor.tell(event) is None
        waits.append(timers.due(monitor, event.at, 0.0, sends=False) is not None)
    assert waits[1:] == [True] * 7


def test_an_input_that_starts_the_timer_again_ends_no_wait() -> None:
    """A wait goes on until the timer has expired: the next input comes after it."""
    verdict, events = _run(DEVICE, "power", "feed", "feed", timers=Timers())
    assert verdict == "pass"
    barks = [event.at for event in events if isinstance(event, Seen) and event.output == "bark"]
    fed = [event.at for event in events if isinstance(event, Sent)]
    assert barks[0] > 4.9
    assert fed[1] > barks[0]


@pytest.mark.parametrize(("inputs", "seconds"), [(40, 30.0), (400, 140.0)])
def test_distant_timers_take_a_share_of_the_time(inputs: int, seconds: float) -> None:
    """Ten seconds at first, then no more than half of all time, however many inputs there are."""
    timers = Timers()
    _, events = _run(DEVICE, "power", *["feed"] * inputs, timers=timers)
    assert _barks(events) >= 2
    assert events[-1].at < seconds


def _judged(*events: Event) -> str:
    oracle = Oracle(Model(DEVICE, Routes(("p",), lambda _value: "p")), timing=TIMING)
    monitor = Monitor(oracle)
    for event in (Sent("power", "p", 0.0), Seen("up", "p", 0.01), *events):
        monitor.tell(event)
    assert monitor.verdict is not None
    assert monitor.verdict.failure is not None
    return f"{monitor.verdict.failure.signature}; seen: {monitor.verdict.failure.seen}"


def test_an_output_that_overtakes_an_overdue_one_does_not_take_its_blame() -> None:
    """The beat is missing, whatever came when it was overdue; a beat that comes then is late."""
    missing = "missing: str --str--> expected str, seen silence; seen: nothing before 'bark'"
    assert _judged(Seen("bark", "p", 5.0)) == missing
    assert _judged(Seen("beat", "p", 5.0)).startswith("late: str --str--> expected str, seen str; seen: 'beat'")
    assert _judged(Quiet(5.0)).startswith("missing: ")


def test_time_that_the_tester_lets_pass_is_no_input() -> None:
    """A wait that was added does not make another failure of one that comes by itself."""
    idle: list[Event] = [Quiet(0.1), Sent(Idle(60.0), "p", 0.2), Seen("beat", "p", 1.0), Quiet(1.1), Quiet(60.2)]
    assert _judged(*idle) == "missing: str --no input--> expected str, seen silence; seen: nothing more"


def _numbered(number: int) -> Iterator[Transition[int]]:
    yield goto((number + 1) % 256, f"beat {number}", after="beat", timers=[start("beat", 0.9, 1.1)])


BEATS: Spec[int, str] = Spec(
    lambda number, _: [goto(number, "ok")], 0, ["ping"], _numbered, timers=[start("beat", 0, 1.1)]
)


def test_a_numbered_beat_does_not_keep_a_run_alive() -> None:
    """After the last input each timer is awaited once, though each beat has a number and so leads to a new state."""
    _, events = _run(BEATS, "ping", timers=Timers(last=True), model=BEATS)
    assert events[-1].at < 5


def test_numbers_of_a_beat_make_no_new_states_to_wait_in() -> None:
    """Of 200 inputs few wait for the next beat: states without its number are waited in ever more rarely."""
    _, events = _run(BEATS, *["ping"] * 200, timers=Timers(), model=BEATS)
    assert events[-1].at < 200 * 0.1 + 12


def test_a_run_is_driven_again_with_the_gaps_that_it_had() -> None:
    """Where the original waited for the dog, so does the re-run, and nowhere else but at its end."""
    again = Timers(last=True, between=False)
    _, events = _run(DEVICE, "power", "feed", "feed", timers=again, gaps=[0.0, 6.0])
    sent = [event.at for event in events if isinstance(event, Sent)]
    assert sent[1] - sent[0] < 0.5
    assert 6.0 <= sent[2] - sent[1] < 7.2
    assert _barks([event for event in events if event.at < sent[2]]) == 1


@pytest.mark.parametrize("between", [(), ("feed",), ("feed", "power")])
def test_a_missing_beat_is_that_of_its_timer_whatever_was_sent_before(between: tuple[str, ...]) -> None:
    """The shrinker knows it by that."""
    monitor = Monitor(Oracle(Model(DEVICE, Routes(("p",), lambda _value: "p")), timing=TIMING))
    monitor.tell(Sent("power", "p", 0.0))
    monitor.tell(Seen("up", "p", 0.01))
    for at, inp in enumerate(between):
        monitor.tell(Sent(inp, "p", 0.9 + at / 10))
        monitor.tell(Seen("ok" if inp == "feed" else "up", "p", 0.91 + at / 10))
    verdict = monitor.tell(Quiet(3.0))
    assert verdict is not None
    assert overdue_timer(verdict.failure) == "due 0.9 to 1.1 s after the timer 'beat' was started"
