"""Trying a property: on one row of arguments, on smaller ones after a failure, and the counts of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import iscoroutine
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

from otf.errors import UsageError
from otf.logic.judging import BrokenError, Quantified, Waiting, applied
from otf.logic.result import FAILS, Assignment, PropertyOutcome, PropertyResult, Truth
from otf.values import block_start, fresh, smallest

T = TypeVar("T")
OFFERED: Final = 1000  # values of an enumeration from which Hypothesis may choose


class Trial(NamedTuple):
    """The result for one row: the truth, and the exception that was raised."""

    finding: Truth
    error: Exception | None = None

    @property
    def fails(self) -> bool:
        """Return whether the row is a counterexample."""
        return self.finding.truth is False and self.finding.sure


def tried(subject: Quantified, row: tuple[Any, ...], tests: int) -> Waiting[Trial]:
    """Evaluate a property on a row; an exception makes it fail."""
    try:
        return Trial((yield from applied(subject.function, row, tests)))
    except BrokenError as broken:
        return Trial(FAILS._replace(values=broken.values), broken.error)


def by_name(values: Assignment) -> Mapping[str, object]:
    """Return values by name; an argument of an inner quantifier gets a mark if its name is taken.

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
    """The counts of all rows so far, none of them a counterexample."""

    tests: int = 0
    rejections: int = 0
    undecided: int = 0
    sure: bool = True
    witness: Assignment = ()

    def add(self, finding: Truth) -> None:
        """Count the result of a row."""
        self.sure = self.sure and finding.sure
        self.witness = finding.values
        if finding.truth is None:
            self.rejections += 1
        elif finding.truth:
            self.tests += 1
        else:
            self.undecided += 1

    def result(self, *, complete: bool, witness: bool) -> PropertyResult:
        """Return the verdict; `complete`: no row is left; `witness`: the values of the last row prove the property."""
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
        """Return the verdict for a counterexample, which counts as a test."""
        return PropertyResult(
            PropertyOutcome.COUNTEREXAMPLE, self.tests + 1, self.rejections, self.undecided, values, found, error
        )


def finish(steps: Waiting[T]) -> T:
    """Return the result of an evaluation. Raises UsageError if the property needs an event loop."""
    try:
        waits_for = next(steps)
    except StopIteration as stop:
        result: T = stop.value
        return result
    if iscoroutine(waits_for):
        waits_for.close()
    raise UsageError("the property is asynchronous: write `await check_async(prop)`")


async def answered(steps: Waiting[T]) -> T:
    """Return the result of an evaluation: await what it yields, and send it the result or the exception."""
    try:
        waits_for = next(steps)
        while True:
            try:
                answer = await waits_for
            except Exception as error:  # noqa: BLE001 -- every exception of a property is a counterexample
                waits_for = steps.throw(error)
            else:
                waits_for = steps.send(answer)
    except StopIteration as stop:
        result: T = stop.value
        return result


def minimal(
    subject: Quantified, place: int, trial: Trial, tests: int, seed: int | None
) -> Waiting[tuple[Assignment, Trial]]:
    """Return the first row that fails in the order of the enumeration, with its values by name.

    Without a seed it was found in that order. With a seed, all rows of earlier blocks have been tried; this tries the
    earlier rows of its own block.
    """
    table = subject.table
    start = place if seed is None else block_start(place)
    for earlier, row in islice(enumerate(table.values), start, place):
        again = yield from tried(subject, row, tests)
        if again.fails:
            return table.named(earlier) + again.finding.values, again
    return table.named(place) + trial.finding.values, trial


def simplest(subject: Quantified, tests: int) -> tuple[Assignment, Trial] | None:
    """Return the simplest failing row that Hypothesis finds; None if no source is a strategy, or it finds none."""
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
