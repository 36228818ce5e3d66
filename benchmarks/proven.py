"""Mutants, judged twice: by the monitor, and by an exact solver that knows nothing of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from benchmarks.simulating import Rehearsal, RunName, Simulated
from benchmarks.solver import Decision, decided

LONG: Final = 60  # events; of longer runs the solver is not asked


class Case(NamedTuple):
    """A run, the change in its system, and the decision of the solver."""

    run: Simulated
    change: str
    decision: Decision


@dataclass
class Proofs:
    """The results of many runs of mutants; `long` runs were too long for the solver."""

    runs: int = 0
    long: int = 0
    both: Counter[tuple[str, Decision]] = field(default_factory=Counter[tuple[str, Decision]])
    missed: list[Case] = field(default_factory=list[Case])
    alarms: list[Case] = field(default_factory=list[Case])

    def add(self, rehearsal: Rehearsal, run: Simulated) -> None:
        """Count a run."""
        self.runs += 1
        if len(run.events) > LONG:
            self.long += 1
            return
        decision = decided(rehearsal.blueprint, run.events, rehearsal.bounds.latency, rehearsal.bounds.busy)
        self.both[run.verdict.outcome, decision] += 1
        case = Case(run, rehearsal.change, decision)
        if decision == "impossible" and not run.verdict.failed:
            self.missed.append(case)
        if decision == "explained" and run.verdict.failed:
            self.alarms.append(case)

    def join(self, other: Proofs) -> None:
        """Add the counts of another."""
        self.runs += other.runs
        self.long += other.long
        self.both.update(other.both)
        self.missed += other.missed
        self.alarms += other.alarms

    @property
    def proven(self) -> int:
        """Return the number of runs for which it is proven that no behaviour of the spec explains them."""
        return sum(count for (_, decision), count in self.both.items() if decision == "impossible")


def proofs(name: RunName) -> Proofs:
    """Return the results of one campaign against a mutant."""
    found, rehearsal = Proofs(), Rehearsal(name)
    for run in rehearsal.runs():
        found.add(rehearsal, run)
    return found


def tell(found: Proofs) -> None:
    """Print the figures of mutants."""
    print(f"\n{found.runs:,} runs of mutants; {found.long:,} with more than {LONG} events are left aside")
    for (outcome, decision), count in sorted(found.both.items()):
        print(f"  {count:10,}  {outcome}, {decision}")
    share = len(found.missed) / max(1, found.proven)
    print(f"  of {found.proven:,} proven failures {len(found.missed):,} are missed ({share:.1%})")
