"""What it is worth that a counter is not a state: `python -m benchmarks.late.counters`.

The fault `doubled` of the node shows only to who unlocks it and then waits. It is looked for in virtual time, on paths
of 50 inputs, by three models: counters are seen, they are declared, or each number is a state of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from statistics import median
from typing import Any, Final

from benchmarks.late import node
from benchmarks.measure import command, positive, save
from otf.compose import cyclic
from otf.core import Model, Oracle, Routes, Session, Timing
from otf.core.pacing import Eager
from otf.core.timer_waits import Timers
from otf.simulate import System, TimeBounds, World, conduct
from otf.spec import Spec, Transition, start
from otf.strategy import Strategy

STEPS: Final = 50
MOST: Final = 200  # paths
TIMING: Final = Timing(quiescence=0.02, latency=0.005, busy=0.002)
LATE: Final = start("session", 1.9 * node.SESSION, 2.1 * node.SESSION)
MODELS: Final = {
    "seen": node.SPEC,
    "declared": replace(node.SPEC, counters=("number", "period")),
    "states of their own": replace(node.SPEC, counters=()),
}


def doubled(state: node.Lock, inp: Any) -> Iterator[Transition[node.Lock]]:
    """Yield what a request causes in the node with the fault."""
    for way in node.step(state, inp):
        late = way.state.open and node.ALIVE in way.timers
        yield replace(way, timers=(LATE,)) if late else way


def _port(_value: object) -> str:
    return "bus"


FAULTY: Final = cyclic(
    Spec(doubled, node.Lock(), node.inputs, node.emits, name="node"),
    "status",
    node.status,
    every=node.CYCLE,
    jitter=0.01,
    wraps=16,
)


def steps(model: Spec[Any, Any], seed: int) -> int:
    """Return after how many inputs the fault was found."""
    oracle, sent = Oracle(Model(model, Routes(("bus",), _port)), timing=TIMING), 0
    strategy, timers, proven, random = Strategy("alternating", "uioco", seed), Timers(), set[Any](), Random(seed)
    for path in range(1, MOST + 1):
        world = World(System(FAULTY, _port, random), TimeBounds(latency=0.004, busy=0.001), random)
        session = Session(oracle, strategy.path(path), Eager(TIMING, proven, timers), steps=STEPS)
        failed = conduct(session, world, _port).failed
        sent += session.monitor.sent
        if failed:
            return sent
    return MOST * STEPS


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and print a row for each model."""
    parser = command("late.counters", __doc__)
    parser.add_argument("--seeds", type=positive, default=10)
    chosen, found = parser.parse_args(arguments), dict[str, list[int]]()
    for name, model in MODELS.items():
        found[name] = sorted(steps(model, seed) for seed in range(chosen.seeds))
        print(f"counters {name:20} median {median(found[name]):6.0f} inputs, each {found[name]}", flush=True)
    save(found, chosen.json)


if __name__ == "__main__":
    main()
