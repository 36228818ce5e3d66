"""Trying a property on a row of arguments, and counting what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import iscoroutine
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

from otf.errors import UsageError
from otf.logic.judging import FAILS, Assignment, BrokenError, Quantified, Truth, Waiting, applied
from otf.logic.result import PropertyOutcome, PropertyResult
from otf.values import block_start, fresh, smallest


class Trial(NamedTuple):
    """What came of one row: the finding, and what was raised."""

    finding: Truth
    error: Exception | None = None

    @property
    def fails(self) -> bool:
        """Return whether it is a counterexample."""
        return self.finding.truth is False and self.finding.sure


def tried(subject: Quantified, row: tuple[Any, ...], tests: int) -> Waiting[Trial]:
    """Evaluate a property on a row; what raises fails."""
    try:
        return Trial((yield from applied(subject.function, row, tests)))
    except BrokenError as broken:
        return Trial(FAILS._replace(values=broken.values), broken.error)


def by_name(values: Assignment) -> Mapping[str, object]:
    """Return values by name; an inner quantifier's argument gets a mark where its name is taken.

    >>> by_name((("x", 1), ("y", 2), ("x", 3)))
    {'x': 1, 'y': 2, "x'": 3}
    """
    found: dict[str, object] = {}
    for name, value in values:
        while name in found:
            name += "'"  # noqa: PLW2901 -- another name for the same value
        found[name] = value
    return found


@dataclass
class Tally:
    """What came of all rows up to now, none of them a counterexample."""

    tests: int = 0
    rejections: int = 0
    undecided: int = 0
    sure: bool = True
    witness: Assignment = ()

    def add(self, finding: Truth) -> None:
        """Count what a row said."""
        self.sure = self.sure and finding.sure
        self.witness = finding.values
        if finding.truth is None:
            self.rejections += 1
        elif finding.truth:
            self.tests += 1
        else:
            self.undecided += 1

    def result(self, *, complete: bool, witness: bool) -> PropertyResult:
        """Return the verdict; `complete`: no row is left untried."""
        outcome = PropertyOutcome.PROOF if complete and self.sure else PropertyOutcome.PASSED
        return PropertyResult(
            outcome if self.tests else PropertyOutcome.NOTHING,
            self.tests,
            self.rejections,
            self.undecided,
            by_name(self.witness) if witness else {},
        )

    def refuted(
        self, values: Mapping[str, object], found: Mapping[str, object], error: Exception | None
    ) -> PropertyResult:
        """Return the verdict on a property with a counterexample, which counts as a test."""
        return PropertyResult(
            PropertyOutcome.COUNTEREXAMPLE, self.tests + 1, self.rejections, self.undecided, values, found, error
        )


T = TypeVar("T")


def finish(steps: Waiting[T]) -> T:
    """Return what an evaluation comes to. Raises UsageError where something would have to be awaited."""
    try:
        waits_for = next(steps)
    except StopIteration as stop:
        result: T = stop.value
        return result
    if iscoroutine(waits_for):
        waits_for.close()
    raise UsageError("the property is asynchronous: write `await check_async(prop)`")


async def answered(steps: Waiting[T]) -> T:
    """Await whatever an evaluation asks for, and give it what comes, or what is raised."""
    try:
        waits_for = next(steps)
        while True:
            try:
                answer = await waits_for
            except Exception as error:  # noqa: BLE001 -- whatever a property raises is a counterexample
                waits_for = steps.throw(error)
            else:
                waits_for = steps.send(answer)
    except StopIteration as stop:
        result: T = stop.value
        return result


OFFERED: Final = 1000  # values of an enumeration that Hypothesis may choose from


def minimal(
    subject: Quantified, place: int, trial: Trial, tests: int, seed: int | None
) -> Waiting[tuple[Assignment, Trial]]:
    """Return the first row that fails in the order of the enumeration, with its values by name.

    In that order it was found first. In a perturbed order, all rows before its block were tried; those of the block
    that come before it are tried now.
    """
    table = subject.table
    start = place if seed is None else block_start(place)
    for earlier, row in islice(enumerate(table.values), start, place):
        again = yield from tried(subject, row, tests)
        if again.fails:
            return table.named(earlier) + again.finding.values, again
    return table.named(place) + trial.finding.values, trial


def simplest(subject: Quantified, tests: int) -> tuple[Assignment, Trial] | None:
    """Return the simplest row that fails by the measure of Hypothesis, if a strategy is among the sources."""
    columns = subject.table.columns
    if all(column.origin is None for column in columns):
        return None

    def fails(row: tuple[Any, ...]) -> bool:
        return finish(tried(subject, fresh(row), tests)).fails

    row = smallest([column.strategy(OFFERED) for column in columns], fails)
    if row is None:
        return None
    trial = finish(tried(subject, fresh(row), tests))
    return tuple(zip(subject.table.names, row, strict=True)) + trial.finding.values, trial
