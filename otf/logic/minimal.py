"""A smaller counterexample than the one that was found first."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from otf.logic.finding import Assignment
from otf.logic.judging import Quantified, Waiting
from otf.logic.running import finish
from otf.logic.trying import Trial, tried
from otf.values import block_start, fresh, smallest

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
