"""Checked steps per CPU second: otf, a loop written by hand, AALpy and Hypothesis, on the same systems.

`python -m benchmarks.speed`: medians of five rounds, all contenders in turn. Walks of 1000
steps, every output checked, inputs uniformly random; trace and coverage off unless the name says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import anyio

from benchmarks.loops import Loop
from benchmarks.machines import ConferenceMachine, VendingMachine
from benchmarks.measure import Contender, command, positive, rates, save, table
from benchmarks.peers import aalpy_walk, hypothesis_walk, mealy
from benchmarks.turns import turns
from otf.core import Model, Oracle, Routes
from otf.core.walk import Walk
from otf.models.conference import Sizes, conference
from otf.models.conference.codec import ConferenceCodec
from otf.models.conference.spec import inputs
from otf.models.vending import INPUTS, VENDING
from otf.spec import Spec, total
from otf.strategy import Strategy

STEPS = 1000


@dataclass(frozen=True)
class Subject:
    """A system to test: its spec, its inputs, a maker of copies, and the most states that AALpy's machine may have."""

    spec: Spec[Any, Any]
    inputs: Sequence[Any]
    machine: Callable[[], Any]
    routes: Routes
    limit: int


def subjects() -> dict[str, Subject]:
    """Return the two systems of the comparison."""
    sizes, codec = Sizes(3, 3, 3, 3), ConferenceCodec(1, 3)
    whole = total(conference(sizes))
    # without the partial spec behind it, so that ignored inputs count as specified and are enabled like the others
    completed = Spec(whole.step, whole.initial, whole.inputs, name="conference")
    return {
        "vending": Subject(VENDING, INPUTS, VendingMachine, Routes(), 3000),
        "conference": Subject(
            completed, list(inputs(sizes)), lambda: ConferenceMachine(3), Routes(codec.ports, codec.port), 1000
        ),
    }


def contenders(subject: Subject, walks: int) -> dict[str, Contender]:
    """Return all contenders, each as a function that makes a number of walks and returns the steps."""
    loop = Loop(subject.spec, subject.inputs, subject.machine)
    oracle = Oracle(Model(subject.spec, subject.routes))
    machine = mealy(subject.spec, subject.inputs, subject.limit)
    return {
        "otf": lambda: _otf(oracle, subject.machine, walks),
        "otf_loop_turn": lambda: anyio.run(_otf_turns, oracle, subject.machine, walks),
        "otf_default_strategy": lambda: _otf_strategy(oracle, subject.machine, max(1, walks // 10), keep=False),
        "otf_strategy_and_events": lambda: _otf_strategy(oracle, subject.machine, max(1, walks // 10), keep=True),
        "loop": lambda: loop.checked(walks, STEPS),
        "loop_turn": lambda: loop.turning(walks, STEPS),
        "bare": lambda: loop.bare(walks, STEPS),
        "aalpy": lambda: aalpy_walk(machine, subject.inputs, subject.machine, walks, STEPS),
        "hypothesis": lambda: hypothesis_walk(subject.spec, subject.inputs, subject.machine, 20_000),
    }


def _otf(oracle: Oracle, machine: Callable[[], Any], walks: int) -> int:
    random = Random(1)
    for _ in range(walks):
        verdict = Walk(oracle, machine().step).uniform(random, STEPS)
        assert not verdict.failed, verdict
    return walks * STEPS


async def _otf_turns(oracle: Oracle, machine: Callable[[], Any], walks: int) -> int:
    random = Random(1)
    for _ in range(walks):
        assert not (await turns(oracle, machine().step, random, STEPS)).failed
    return walks * STEPS


def _otf_strategy(oracle: Oracle, machine: Callable[[], Any], walks: int, *, keep: bool) -> int:
    strategy = Strategy("alternating", "uioco", 1)
    for number in range(1, walks + 1):
        walk = Walk(oracle, machine().step)
        walk.chosen(strategy.path(number), STEPS)
        assert not walk.end().failed
        if keep:
            list(walk.events())
    return walks * STEPS


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and write it where `--json` says."""
    parser = command("speed", __doc__)
    parser.add_argument("--walks", type=positive, default=100, help="walks in a round")
    chosen = parser.parse_args(arguments)
    found = {name: rates(contenders(subject, chosen.walks)) for name, subject in subjects().items()}
    for name, each in found.items():
        table(f"{name}: checked steps per CPU second", each, "loop")
    save(found, chosen.json)


if __name__ == "__main__":
    main()
