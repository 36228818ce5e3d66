"""The cost of broken assumptions: `python -m benchmarks.assumptions`.

Conforming systems in worlds that break one assumption each, unknown to the tester. The page
docs/topics-promise.md explains the figures.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any, Final

from benchmarks.campaigns import PATHS, TESTERS, Campaign
from benchmarks.measure import positive
from benchmarks.subjects import SUBJECTS
from benchmarks.unreliable import Net, UnreliableWorld
from otf.simulate import Emission, World
from otf.simulate.system import SystemMove


class Deaf(World):
    """Loses an input that arrives while the system is busy."""

    def _reach(self, inp: object, port: str) -> None:
        if self._free <= self.now:
            super()._reach(inp, port)


class Mingling(World):
    """Sends each output at its time, even while the system does something else."""

    def _emit(self, outputs: Sequence[Emission], moment: float) -> None:
        self._at(moment, partial(super()._emit, outputs, moment))


class Parallel(Mingling):
    """Takes an input at once, although earlier inputs are not answered yet."""

    def _serve(self) -> None:
        while self._waiting:
            self._take(self._waiting.pop(0)[1])


class Interrupting(Mingling):
    """Emits a spontaneous output in the middle of an answer."""

    def _arm(self, entered: float) -> None:
        free, self._free = self._free, self.now
        super()._arm(entered)
        self._free = free

    def _spontaneous(self, number: int, way: SystemMove, plan: int) -> None:
        free, self._free = self._free, self.now
        super()._spontaneous(number, way, plan)
        self._free = free

    def _pause(self) -> float:
        soon = self.random.random() < 1 / 2
        return self._between(0.0, self.bounds.busy) if soon else super()._pause()


def slow(*args: Any, latency: float = 1, busy: float = 1, **more: Any) -> World:
    """Return a world whose delays exceed their bounds by a factor."""
    world = World(*args, **more)
    bounds = world.bounds
    world.bounds = replace(bounds, latency=latency * bounds.latency, busy=busy * bounds.busy)
    return world


def through(net: Net, *args: Any, **more: Any) -> World:
    """Return a world with a net that is not in the model."""
    return UnreliableWorld(*args, **more, net=net)


@dataclass(frozen=True)
class Breach:
    """A broken assumption: the world that breaks it, and a subject to which that matters."""

    world: Callable[..., World]
    subject: str


CPES: Final = frozenset({"cpe2", "cpe3"})
BREACHES: Final[Mapping[str, Breach]] = {
    "none": Breach(World, "conference"),
    "a port loses one message in five": Breach(partial(through, Net(CPES, CPES, lose=0.2)), "conference"),
    "a port doubles one in five": Breach(partial(through, Net(CPES, CPES, copy=0.2)), "conference"),
    "a port holds up one in five": Breach(partial(through, Net(CPES, CPES, hold=0.2)), "conference"),
    "messages take up to 4 L": Breach(partial(slow, latency=4), "conference"),
    "the system is busy for up to 4 R": Breach(partial(slow, busy=4), "conference"),
    "inputs that come while it is busy are lost": Breach(Deaf, "conference"),
    "inputs are taken before others are answered": Breach(Parallel, "random, deterministic"),
    "unasked outputs come in the middle of answers": Breach(Interrupting, "random, restless"),
}


def verdicts(name: str, mode: str, paths: int, seed: int) -> Counter[str]:
    """Return the outcomes of at least this many paths."""
    breach, found = BREACHES[name], Counter[str]()
    for number in range(-(-paths // PATHS)):
        random = Random(f"{seed}/{name}/{mode}/{number}")
        campaign = Campaign(SUBJECTS[breach.subject](random), TESTERS[mode], random)
        campaign.make = breach.world
        found.update(run.verdict.outcome for run in campaign.runs())
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table: how many paths of a hundred fail."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.assumptions", description=__doc__)
    parser.add_argument("--paths", type=positive, default=1_000, help="paths for each breach and mode")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    print(f"{'of 100 conforming paths fail':48}" + "".join(f"{mode:>10}" for mode in TESTERS))
    for name in BREACHES:
        rows = [verdicts(name, mode, chosen.paths, chosen.seed) for mode in TESTERS]
        print(f"{name:48}" + "".join(f"{100 * row['fail'] / row.total():10.1f}" for row in rows), flush=True)


if __name__ == "__main__":
    main()
