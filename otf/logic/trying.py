"""Trying a property on a row of arguments, and counting what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from otf.logic.finding import FAILS, Assignment, Truth
from otf.logic.judging import BrokenError, Quantified, Waiting, applied
from otf.logic.result import PropertyOutcome, PropertyResult


class Trial(NamedTuple):
    """What came of one row: the finding, and what was raised."""

    finding: Truth
    error: Exception | None = None

    @property
    def fails(self) -> bool:
        """Tell whether it is a counterexample."""
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
