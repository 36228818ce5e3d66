"""Sessions that test simulated worlds, by a tester that takes its time."""

from __future__ import annotations

from random import Random

from otf.core import Model, Oracle, Routes, Session, Timing
from otf.core.pacing import Strict
from otf.simulate import System, TimeBounds, World, conduct
from otf.spec import Spec, Transition, goto
from otf.strategy import Script
from otf.trace.events import Event, Quiet, Seen, Sent

TIMING = Timing(1.0, 0.0, 0.0)


def _line(_value: object) -> str:
    return "line"


def _spontaneous(state: int) -> list[Transition[int]]:
    return [goto(1, "ready")] if state == 0 else []


def events(spec: Spec[int, str], pause: float) -> list[Event]:
    """Return what a tester sees and does that thinks so long before it does anything; it sends go twice."""
    random, found = Random(2), list[Event]()
    world = World(System(spec, _line, random), TimeBounds(0.0, 0.0, spontaneous=1.0, chance="extreme"), random)
    oracle = Oracle(Model(spec, Routes(("line",), _line)), timing=TIMING)
    session = Session(oracle, Script(["go", "go"]), Strict(TIMING), steps=2)
    assert conduct(session, world, _line, found.append, lambda: pause).outcome == "pass"
    return found


def test_a_tester_thinks_before_it_sends_and_before_it_believes_in_silence() -> None:
    """Half a second each time."""
    spec = Spec[int, str](lambda state, _inp: [goto(state, "done")], 0, ["go"])
    assert events(spec, 0.5) == [
        Sent("go", "line", 0.5),
        Seen("done", "line", 0.5),
        Quiet(2.0),
        Sent("go", "line", 2.5),
        Seen("done", "line", 2.5),
        Quiet(4.0),
    ]


def test_what_comes_while_the_tester_thinks_may_change_its_mind() -> None:
    """It listens, and waits for silence once more before it sends."""
    spec = Spec[int, str](lambda state, _inp: [goto(state)], 0, ["go"], _spontaneous)
    found = events(spec, 0.75)
    assert found[:4] == [Quiet(1.75), Seen("ready", "line", 2.0), Quiet(3.75), Sent("go", "line", 3.75)]
