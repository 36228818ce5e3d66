"""Random specs, tried: `python -m benchmarks.simulated --runs N --seed S --processes P --json FILE`.

Conforming systems made from random specs with Accept, windows, named timers, memory, several ports, cyclic messages,
and systems that never rest; strictly, eagerly, in bursts. No failure may be among them: each is a false alarm, named by
what draws it again (`--again NAME`), with the smallest spec for which the same events still fail.

`--mutants N`: N runs of systems that are wrong in one place. An exact solver decides which runs no behaviour of the
spec explains. A run of these that the monitor passes is a miss; a run with an explanation that it fails is a false
alarm.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from multiprocessing import Pool
from pathlib import Path
from typing import Final, TypeVar

from benchmarks.campaigns import PATHS, TESTERS
from benchmarks.proven import Case, Proofs, proofs
from benchmarks.proven import tell as tell_proofs
from benchmarks.simulating import Rehearsal, RunName, Simulated, named
from benchmarks.smaller import smallest, told

NEEDED: Final = ("Accept", "window", "two input ports", "cyclic", "named timer", "never rests")
SHARE: Final = 0.1  # of the runs have each of these features, or the simulation proves too little
LISTED: Final = 20  # names of runs
SHOWN: Final = 2  # false alarms of each kind and mode

Result = TypeVar("Result")


@dataclass
class Score:
    """The results of many runs; `stuck` runs did not end, or never sent an input."""

    runs: int = 0
    events: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])
    reasons: Counter[str] = field(default_factory=Counter[str])
    met: Counter[str] = field(default_factory=Counter[str])
    alarms: list[Simulated] = field(default_factory=list[Simulated])
    stuck: list[RunName] = field(default_factory=list[RunName])

    def add(self, run: Simulated) -> None:
        """Count a run."""
        self.runs += 1
        self.events += len(run.events)
        self.outcomes["stuck" if run.stuck else run.verdict.outcome] += 1
        if run.verdict.why:
            self.reasons[run.verdict.why] += 1
        self.met.update(run.met)
        if run.verdict.failed:
            self.alarms.append(run)
        elif run.stuck:
            self.stuck.append(run.name)

    def join(self, other: Score) -> None:
        """Add the counts of another."""
        self.runs += other.runs
        self.events += other.events
        for mine, more in ((self.outcomes, other.outcomes), (self.reasons, other.reasons), (self.met, other.met)):
            mine.update(more)
        self.alarms += other.alarms
        self.stuck += other.stuck


def scored(name: RunName) -> Score:
    """Return the results of one campaign."""
    score = Score()
    for run in Rehearsal(name).runs():
        score.add(run)
    return score


def conform(runs: int, seed: int, processes: int = 1) -> Score:
    """Return the results of at least this many runs of conforming systems, the same number in each mode."""
    whole = Score()
    for score in spread(scored, names(runs, seed), processes):
        whole.join(score)
    return whole


def prove(runs: int, seed: int, processes: int = 1) -> Proofs:
    """Return the results of at least this many runs of mutants, the same number in each mode."""
    whole = Proofs()
    for found in spread(proofs, names(runs, seed, mutant=True), processes):
        whole.join(found)
    return whole


def names(runs: int, seed: int, *, mutant: bool = False) -> list[RunName]:
    """Return the campaigns of at least this many runs."""
    campaigns = -(-runs // (len(TESTERS) * PATHS))
    return [RunName(mode, seed, number, mutant=mutant) for number in range(campaigns) for mode in TESTERS]


def spread(work: Callable[[RunName], Result], names: Sequence[RunName], processes: int) -> Iterator[Result]:
    """Yield the results of each campaign, in their order, with any number of processes."""
    if processes == 1:
        yield from map(work, names)
        return
    with Pool(processes) as pool:
        yield from pool.imap(work, names, chunksize=10)


def again(name: RunName) -> tuple[Rehearsal, Simulated]:
    """Return a run once more, with its campaign."""
    rehearsal = Rehearsal(name)
    return rehearsal, next(islice(rehearsal.runs(), name.path - 1, None))


def shortest(alarms: Sequence[Simulated]) -> Iterator[tuple[str, list[Simulated]]]:
    """Yield the false alarms of each kind and mode, the shortest first."""

    def kind(run: Simulated) -> str:
        assert run.verdict.failure is not None
        return f"{run.verdict.failure.kind}, {run.name.mode}"

    for title, found in groupby(sorted(alarms, key=kind), kind):
        yield title, sorted(found, key=lambda run: len(run.events))


def show(name: RunName) -> None:
    """Print a run: its times, the smallest spec with the same verdict, its events, its verdict."""
    rehearsal, run = again(name)
    times, world = rehearsal.timing, rehearsal.bounds
    print(f"\n{name}: Q {times.quiescence:.6g} s, L {times.latency:.6g} s, R {times.busy:.6g} s, {world.chance}")
    if rehearsal.change:
        print(f"  wrong: {rehearsal.change}")
    for line in told(smallest(rehearsal, run)):
        print(f"    {line}")
    for event in run.events[-40:]:
        print(f"  {event}")
    print(f"  {run.verdict.outcome} {run.verdict.failure or run.verdict.why}{', stuck' if run.stuck else ''}")


def listed(names: Iterable[RunName]) -> str:
    """Return some names on a line."""
    return ", ".join(map(str, islice(names, LISTED)))


def tell(score: Score, seconds: float) -> None:
    """Print the figures of conforming systems."""
    if not score.runs:
        return
    print(f"{score.runs:,} runs with {score.events:,} events in {seconds:.0f} s: {score.runs / seconds:,.0f} runs/s")
    for what, count in (*score.outcomes.most_common(), *score.reasons.most_common()):
        print(f"  {count:10,}  {what}")
    print("had in them:")
    for what, count in score.met.most_common():
        low = " (too few)" if what in NEEDED and count < SHARE * score.runs else ""
        print(f"  {count / score.runs:10.1%}  {what}{low}")
    for title, found in shortest(score.alarms):
        print(
            f"\nFALSE ALARMS: {len(found):,} of the kind {title}: {', '.join(str(run.name) for run in found[:LISTED])}"
        )
        for run in found[:SHOWN]:
            show(run.name)
    if score.stuck:
        print(f"\nSTUCK: {len(score.stuck):,}: {listed(score.stuck)}")


def tell_cases(title: str, cases: Sequence[Case]) -> None:
    """Print some cases, the shortest first."""
    if not cases:
        return
    ordered = sorted(cases, key=lambda case: len(case.run.events))
    print(f"\n{title}: {len(cases):,}: {listed(case.run.name for case in ordered)}")
    for mode in TESTERS:
        for case in [each for each in ordered if each.run.name.mode == mode][:SHOWN]:
            show(case.run.name)


def figures(score: Score, found: Proofs) -> dict[str, object]:
    """Return the figures for a file."""
    return {
        "runs": score.runs,
        "events": score.events,
        "false_alarms": len(score.alarms),
        "stuck": len(score.stuck),
        "outcomes": dict(score.outcomes),
        "met": dict(score.met),
        "alarms": [str(run.name) for run in score.alarms],
        "mutants": found.runs,
        "proven": found.proven,
        "missed": [str(case.run.name) for case in found.missed],
        "mutant_false_alarms": [str(case.run.name) for case in found.alarms],
        "judged": {f"{outcome}, {decision}": count for (outcome, decision), count in sorted(found.both.items())},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulated", description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000, help="runs of conforming systems")
    parser.add_argument("--mutants", type=int, default=0, help="runs of wrong systems")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--again", type=named, help="print the run of this name, and no other")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    chosen = parser.parse_args(arguments)
    if chosen.again:
        show(chosen.again)
        return
    begun = time.perf_counter()
    score = conform(chosen.runs, chosen.seed, chosen.processes)
    tell(score, time.perf_counter() - begun)
    found = prove(chosen.mutants, chosen.seed, chosen.processes)
    tell_proofs(found)
    tell_cases("FALSE ALARMS WITH MUTANTS", found.alarms)
    tell_cases("MISSED", found.missed)
    if chosen.json:
        chosen.json.write_text(json.dumps(figures(score, found), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
