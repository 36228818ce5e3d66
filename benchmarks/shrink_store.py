"""Shrinking where data is stored: a key-value store with 250 inputs, ids that never come again, and timers.

`python -m benchmarks.shrink_store`. Twenty faulty stores; random paths find each fault, and the search shrinks it. How
few inputs show a fault is known by construction. The goal: all found, each shrunk to within one input of that in under
20 seconds. `count` needs 201 inputs. `--fault` names one of them.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

import anyio

from benchmarks.measure import command, positive, save
from benchmarks.store_mutants import MUTANTS, bench
from otf.adapter import Bench
from otf.campaign import Budget, PathResult, Settings, Shrinker, Shrunk
from otf.campaign.paths import PathRun
from otf.campaign.settings import header
from otf.core import Symbol, View

STEPS: Final = 600  # of a path
PATHS: Final = 100
SECONDS: Final = 20.0
CLOSE: Final = 1  # inputs above the fewest


@dataclass(frozen=True)
class StoreRow:
    """The result for one fault: the length of the failing path, of the result and of the shortest, and the cost."""

    fault: str
    seed: int
    found: int
    length: int
    optimum: int
    seconds: float
    transitions: int
    resets: int
    minimal: bool

    @property
    def good(self) -> bool:
        """Return whether the result is close to the optimum, and was found in time."""
        return self.length <= self.optimum + CLOSE and self.seconds < SECONDS


class Drawn:
    """Draws from the enabled inputs, which the store all specifies."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def choose(self, view: View) -> Symbol:
        """Return the next input."""
        return self._random.choice(view.model.enabled_inputs(view.nodes[0]))


def failing(tested: Bench, settings: Settings) -> PathResult | None:
    """Return the first failing path that random testing finds, None if it finds none."""
    oracle = tested.oracle()
    settings.out.mkdir(parents=True)
    for number in range(1, settings.traces + 1):
        trace = settings.out / f"path-{number:04}.jsonl"
        path = PathRun(tested, oracle, header(tested, settings, number), trace)
        chooser = Drawn(Random(f"{settings.seed}/{number}"))
        result = anyio.run(partial(path.run, chooser, settings.steps))
        if result.verdict.failed:
            return result
    return None


def shrink(tested: Bench, settings: Settings, path: PathResult, jobs: int = 1) -> Shrunk:
    """Return the shrunk trace of a failing path."""
    head = header(tested, settings, path.number, strategy="script")
    budget = Budget(transitions=10**9, resets=10**9, seconds=3 * SECONDS)
    shrinker = Shrinker(bench=tested, oracle=tested.oracle(), header=head, budget=budget, jobs=jobs)
    return anyio.run(partial(shrinker.run, path))


def measured(fault: str, seed: int) -> StoreRow | None:
    """Return the row of a fault, None if it was not found."""
    tested = bench(fault=fault)
    with TemporaryDirectory() as folder:
        settings = Settings(out=Path(folder) / "out", traces=PATHS, steps=STEPS, seed=seed)
        path = failing(tested, settings)
        if path is None:
            return None
        began = perf_counter()
        shrunk = shrink(tested, settings, path)
        took = perf_counter() - began
    cost = shrunk.transitions, shrunk.resets, shrunk.minimal
    return StoreRow(fault, seed, path.steps, shrunk.steps, MUTANTS[fault].optimum, round(took, 2), *cost)


def options() -> ArgumentParser:
    """Return the parser of the command line."""
    parser = command("shrink_store", __doc__)
    parser.add_argument("--seeds", type=positive, default=1, help="failing paths of each fault")
    parser.add_argument("--fault", choices=[*MUTANTS], help="one of the faults (all)")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each fault, and save the rows."""
    chosen = options().parse_args(arguments)
    print(
        f"{'fault':12}{'seed':>5}{'path':>7}{'result':>8}{'optimum':>9}{'seconds':>9}{'transitions':>13}{'starts':>8}"
    )
    rows = list[StoreRow]()
    missed = 0
    for fault in [chosen.fault] if chosen.fault else MUTANTS:
        for seed in range(chosen.seeds):
            row = measured(fault, seed)
            if row is None:
                missed += 1
                print(f"{fault:12}{seed:5}   not found")
                continue
            rows.append(row)
            line = f"{fault:12}{seed:5}{row.found:7}{row.length:8}{row.optimum:9}{row.seconds:9.1f}"
            print(f"{line}{row.transitions:13,}{row.resets:8}{'' if row.good else '   falls short'}", flush=True)
    good = sum(row.good for row in rows)
    print(f"{good} of {len(rows) + missed} within {CLOSE} input of the optimum in under {SECONDS:.0f} s")
    save({"good": good, "missed": missed, "rows": [asdict(row) for row in rows]}, chosen.json)


if __name__ == "__main__":
    main()
