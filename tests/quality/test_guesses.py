"""Simulated systems that answer wrongly at one transition and are right behind it: no alarm behind a guess."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from otf.core import Model, Oracle, Pacing, Routes, Session, Timing
from otf.core.pacing import Eager, Strict
from otf.simulate import System, TimeBounds, World, conduct
from otf.spec import Spec, Transition, goto
from otf.strategy import Strategy
from otf.trace.events import Event
from otf.trace.verdict import Verdict

STATES, INPUTS, OUTPUTS = range(5), "abc", "uvw"
WRONG = "wrong"
RUNS = 200
BOUNDS = TimeBounds()
TIMING = Timing(0.02, BOUNDS.latency, BOUNDS.busy)
PACINGS: dict[str, Callable[[], Pacing]] = {"strict": lambda: Strict(TIMING), "eager": lambda: Eager(TIMING)}


def table(chance: Random) -> dict[tuple[int, str], list[tuple[int, tuple[str, ...]]]]:
    """Return a random table, with choices of the system, silent transitions, and entries that are left open."""
    entries = ((state, inp) for state in STATES for inp in INPUTS if chance.random() < 0.9)
    return {
        entry: [
            (chance.choice(STATES), tuple(chance.choices(OUTPUTS, k=chance.choice((0, 1, 1, 2)))))
            for _ in range(chance.choice((1, 1, 2)))
        ]
        for entry in entries
    }


def always(nodes: object, inp: object, failure: object) -> bool:
    """Go on past each failure."""
    del nodes, inp, failure
    return True


def run(seed: int, pacing: Pacing, *, moves: bool) -> tuple[Verdict, list[Event]]:
    """Return the verdict on a system that is wrong at one entry: there it goes on, or stays where it is."""
    chance = Random(seed)
    entries = table(chance)
    wrong = chance.choice([*entries])

    def step(state: int, inp: str) -> list[Transition[int]]:
        return [goto(then, *outputs) for then, outputs in entries.get((state, inp), [])]

    def faulty(state: int, inp: str) -> list[Transition[int]]:
        ways = step(state, inp)
        return [goto(each.state if moves else state, WRONG) for each in ways] if (state, inp) == wrong else ways

    oracle = Oracle(Model(Spec(step, 0, [*INPUTS]), Routes(("P",), lambda _: "P")), timing=TIMING)
    world = World(System(Spec(faulty, 0, [*INPUTS]), lambda _: "P", chance), BOUNDS, chance)
    chooser = Strategy("random", "uioco", seed).path(1)
    session = Session(oracle, chooser, pacing, steps=60, goes_past=always)
    events = list[Event]()
    return conduct(session, world, lambda _: "P", events.append), events


@pytest.mark.parametrize("moves", [True, False], ids=["as if the expected had come", "as if nothing had happened"])
@pytest.mark.parametrize("pacing", PACINGS)
def test_behind_a_guess_that_is_right_there_is_no_alarm(pacing: str, moves: bool) -> None:
    """Of 200 runs each, all failures are those of the wrong transition; most runs go on past some."""
    past = 0
    for seed in range(RUNS):
        verdict, _ = run(seed, PACINGS[pacing](), moves=moves)
        failures = () if verdict.failure is None else (verdict.failure, *verdict.behind)
        assert [failure.seen for failure in failures if failure.seen != f"'{WRONG}'"] == [], seed
        past += len(failures) > 1
    assert past > RUNS / 4
