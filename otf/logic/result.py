"""What checking a property came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from otf.values import show


class PropertyOutcome(StrEnum):
    """The verdict on a property."""

    PROOF = "proof"
    PASSED = "passed"
    COUNTEREXAMPLE = "counterexample"
    NOTHING = "nothing tested"


@dataclass(frozen=True, slots=True)
class PropertyResult:
    """The verdict on a property, and what it rests on; true where the property was proven, or passed.

    `tests` counts the rows of arguments that told something, `rejections` those that an implication rejected,
    `undecided` those where a quantifier inside left it open. `values` are the arguments of the counterexample, as small
    as could be found, or the witness of a proof by `exists`; `found` are those that were found first. `error` is what
    the property raised with `values`.
    """

    outcome: PropertyOutcome
    tests: int
    rejections: int = 0
    undecided: int = 0
    values: Mapping[str, object] = field(default_factory=dict[str, object])
    found: Mapping[str, object] = field(default_factory=dict[str, object])
    error: Exception | None = None

    def __bool__(self) -> bool:
        """Return whether the property stands: `assert check(prop)` is a test."""
        return self.outcome in {PropertyOutcome.PROOF, PropertyOutcome.PASSED}

    def __str__(self) -> str:
        """Say it in a line."""
        counts = [_number(self.tests, "test")] if self.tests or self else []
        counts += [_number(self.rejections, "rejection")] if self.rejections else []
        counts += [f"{self.undecided:,} undecided"] if self.undecided else []
        after = {PropertyOutcome.PASSED: " ", PropertyOutcome.NOTHING: ": "}.get(self.outcome, " after ")
        shown = ", ".join(f"{name}={show(value)}" for name, value in self.values.items())
        raised = f" raised {type(self.error).__name__}: {self.error}" if self.error else ""
        return "".join([self.outcome, after if counts else "", ", ".join(counts), ": " if shown else "", shown, raised])

    def __repr__(self) -> str:
        """Show the line, which is what a failing `assert` prints."""
        return f"<{self}>"


def _number(count: int, of: str) -> str:
    return f"{count:,} {of}{'' if count == 1 else 's'}"
