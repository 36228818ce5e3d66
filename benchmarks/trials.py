"""Trials of the promise: thousands of conforming systems, testers without a rule, seeded faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Final

from benchmarks.campaigns import PATHS, TESTERS, Campaign, Run, Tester
from benchmarks.controls import CONTROLS
from benchmarks.seeded import FIELDS, Found, hunt
from benchmarks.subjects import SUBJECTS

BOUND: Final = ("strict", "eager")  # modes in which faults must be found, and in which the relation `any` is defined


@dataclass(frozen=True)
class Case:
    """The name of a path, from which everything in it is drawn."""

    subject: str
    mode: str
    seed: int
    campaign: int
    path: int

    def campaign_of(self, tester: Tester) -> Campaign:
        """Return the campaign from its beginning."""
        random = Random(f"{self.seed}/{self.subject}/{self.mode}/{self.campaign}")
        return Campaign(SUBJECTS[self.subject](random), tester, random)

    def again(self, tester: Tester) -> Run:
        """Return the path once more, with its events."""
        campaign = self.campaign_of(tester)
        for number in range(1, self.path):
            campaign.run(number)
        return campaign.run(self.path, recorded=True)


@dataclass
class Cell:
    """The results of all paths with one subject and one tester."""

    subject: str
    mode: str
    runs: int = 0
    steps: int = 0
    seconds: float = 0.0
    largest: int = 0
    verdicts: Counter[str] = field(default_factory=Counter[str])
    alarms: list[Case] = field(default_factory=list[Case])

    def add(self, case: Case, run: Run) -> None:
        """Count a path."""
        self.runs += 1
        self.steps += run.steps
        self.seconds += run.seconds
        self.largest = max(self.largest, run.largest)
        self.verdicts[run.verdict.outcome] += 1
        if run.verdict.failed:
            self.alarms.append(case)


def tried(subject: str, mode: str, tester: Tester, campaigns: int, seed: int) -> Cell:
    """Return the results of a number of campaigns."""
    cell = Cell(subject, mode)
    for number in range(campaigns):
        campaign = Case(subject, mode, seed, number, 0).campaign_of(tester)
        for path, run in enumerate(campaign.runs(), 1):
            cell.add(Case(subject, mode, seed, number, path), run)
    return cell


def sound(runs: int, seed: int, subjects: Iterable[str] = SUBJECTS) -> Iterator[Cell]:
    """Yield the results of conforming systems in all modes: at least this many paths, the same for each subject."""
    cells = [(subject, mode) for subject in subjects for mode in TESTERS if subject != "random, any" or mode in BOUND]
    campaigns = -(-runs // (len(cells) * PATHS))
    for subject, mode in cells:
        yield tried(subject, mode, TESTERS[mode], campaigns, seed)


@dataclass(frozen=True)
class Controlled:
    """False alarms of a tester without one rule, and with it."""

    name: str
    runs: int
    without: int
    kept: int


def controlled(name: str, runs: int, seed: int) -> Controlled:
    """Return the results of a negative control in at least this many paths."""
    control = CONTROLS[name]
    campaigns = -(-runs // (len(control.subjects) * PATHS))
    without, kept = (
        [tried(subject, name, tester, campaigns, seed) for subject in control.subjects]
        for tester in (control.without, control.kept)
    )
    return Controlled(name, sum(each.runs for each in without), alarms(without), alarms(kept))


def alarms(cells: Iterable[Cell]) -> int:
    """Return how many conforming systems were failed."""
    return sum(len(cell.alarms) for cell in cells)


def hunted(count: int, seed: int) -> Iterator[list[Found]]:
    """Yield the results of a number of seeded faults of each kind in each subject."""
    for name, kinds in FIELDS:
        for kind in kinds:
            yield list(hunt(name, kind, count, seed))
