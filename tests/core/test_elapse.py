"""Inputs that only wait, as the oracle sees them: nothing is entered anew, and no net loses them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from otf.channels import duplicating, lossy, reordering
from otf.core import Model, Monitor, Session, Timing, Wait
from otf.core.pacing import Strict
from otf.simulate import System, World, conduct
from otf.spec import Elapse, Spec, Transition, goto, total
from otf.strategy import Script
from otf.trace.events import Event, Quiet, Seen, Sent
from tests.core.scripts import ROUTES
from tests.core.timed import TIMING, TRUE, timed

WAIT = Elapse(0.5)


def lamp(*, known: bool = False) -> Spec[str, Any]:
    """Return a lamp that goes off (x) 1 to 1.1 s after it went on; `known`: it goes off silently at each wait."""

    def step(_state: str, inp: object) -> Iterator[Transition[str]]:
        if inp == "a":
            yield goto("on")
        elif known:
            yield goto("off")

    def emits(state: str) -> Iterator[Transition[str]]:
        if state == "on":
            yield goto("off", "x", within=(1.0, 1.1))

    return Spec(step, "off", ["a", WAIT], emits)


def always_a(_value: object) -> str:
    """Return the only port with a net."""
    return "A"


def judged(spec: Spec[Any, Any], *events: Event) -> str:
    """Return the outcome of these events, or the kind of the failure."""
    monitor = Monitor(timed(spec))
    for event in events:
        monitor.tell(event)
    verdict = monitor.end()
    return verdict.outcome if verdict.failure is None else verdict.failure.kind


@pytest.mark.parametrize("completed", [False, True])
def test_the_timers_of_the_state_run_on(completed: bool) -> None:
    """A wait does not enter the state anew: what was due after 1 s is due then, also in a completed spec."""
    begin: list[Event] = [Sent("a", "A", 0.0), Sent(WAIT, "", 0.5), Quiet(1.0)]
    spec = total(lamp()) if completed else lamp()
    assert judged(spec, *begin, Seen("x", "P", 1.2)) == "pass"
    assert judged(spec, *begin, Seen("x", "P", 1.7)) == "late"


def test_the_model_may_say_what_a_wait_does() -> None:
    """Where the step function yields transitions, they are made."""
    begin: list[Event] = [Sent("a", "A", 0.0), Quiet(0.4), Sent(WAIT, "", 0.5), Quiet(1.2)]
    assert judged(lamp(known=True), *begin, Seen("x", "P", 1.3)) == "unasked"
    assert judged(total(lamp(known=True)), *begin, Sent("a", "A", 1.5), Quiet(2.0)) == "pass"


@pytest.mark.parametrize("net", [lossy, duplicating, reordering])
def test_no_net_has_it(net: Callable[..., Spec[Any, Any]]) -> None:
    """A wait goes through no net: it is not lost, not doubled and not delayed."""
    spec = net(lamp(known=True), inputs=["A"], port=always_a)
    ways = list(spec.step(spec.initial, WAIT))
    assert [getattr(way, "state", None) for way in ways] == [spec.initial]
    model = Model(net(lamp(), inputs=["A"], port=always_a), ROUTES)
    (move,) = model.moves(model.initial, model.symbol(WAIT))
    assert move.stays


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("known", [False, True])
def test_a_simulated_world_waits(seed: int, known: bool) -> None:
    """In a simulated world the wait passes in virtual time, and a conforming system passes."""
    oracle = timed(lamp(known=known))
    world = World(System(lamp(known=known), lambda _: "P", Random(seed)), TRUE, Random(seed))
    session = Session(oracle, Script(["a", WAIT, WAIT, WAIT, "a"]), Strict(TIMING), steps=5)
    assert conduct(session, world, lambda inp: "" if isinstance(inp, Elapse) else "A").outcome == "pass"
    assert world.now > 3 * WAIT.seconds


@pytest.mark.parametrize(("speed", "wall"), [(1.0, 10.0), (20.0, 0.5)])
def test_the_seconds_are_those_of_the_system(speed: float, wall: float) -> None:
    """Where the clocks of the system run 20 times as fast, ten of its seconds pass in half a second."""
    spec: Spec[int, object] = Spec(lambda state, _inp: [goto(state)], 0, [Elapse(10.0)])
    session = Session(timed(spec, Timing(0.01, 0.001, 0.001, speed)), Script([Elapse(10.0)]), Strict(TIMING), steps=1)
    session.command()
    session.tell(Sent(Elapse(10.0), "", 1.0))
    assert session.elapses
    wait = session.command()
    assert isinstance(wait, Wait)
    assert wait.until == pytest.approx(1.0 + wall)
