"""Truths and verdicts: the results of evaluating a property once, and of checking it.

An implication rejects a value if the left side is false: then it tested nothing. So a rejection is never a
counterexample and never counts as a test; `and` ignores it, and the other connectives pass it on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from otf.values import show

Assignment: TypeAlias = tuple[tuple[str, object], ...]


class Truth(NamedTuple):
    """The result of evaluating a property: `truth` is True, False, or None if the property rejects its arguments.

    `sure` is false if values remain untried. `values` are the arguments of inner quantifiers that decided the truth: a
    counterexample to `for_all`, or an example for `exists`.
    """

    truth: bool | None
    sure: bool = True
    values: Assignment = ()


HOLDS, FAILS, REJECTED = Truth(truth=True), Truth(truth=False), Truth(truth=None)


def all_hold(one: Truth, other: Truth) -> Truth:
    """Return the result of "both properties hold", given the results of the two properties.

    If both results are failures, return a sure one. The combined result is rejected only if both results are rejected.
    """
    failing = [each for each in (one, other) if each.truth is False]
    if failing:
        return max(failing, key=lambda each: each.sure)
    rejected = one.truth is None and other.truth is None
    return Truth(None if rejected else True, one.sure and other.sure)


def one_holds(one: Truth, other: Truth) -> Truth:
    """Return the result of "at least one holds". If both results hold, return a sure one."""
    holding = [each for each in (one, other) if each.truth]
    if holding:
        return max(holding, key=lambda each: each.sure)
    return _combined(None if None in {one.truth, other.truth} else False, one, other)


def opposite(one: Truth) -> Truth:
    """Return the truth of "does not hold"; a witness becomes a counterexample, and a counterexample a witness."""
    return one if one.truth is None else one._replace(truth=not one.truth)


def equal(one: Truth, other: Truth) -> Truth:
    """Return the truth of "both hold or both fail"."""
    return _combined(None if None in {one.truth, other.truth} else one.truth == other.truth, one, other)


def _combined(truth: bool | None, one: Truth, other: Truth) -> Truth:  # noqa: FBT001 -- the truth itself
    return Truth(truth, one.sure and other.sure, one.values + other.values)


class PropertyOutcome(StrEnum):
    """The outcome of a check of a property: a proof, a pass, a counterexample, or undecided.

    >>> from otf.logic import check
    >>> check(lambda number: number < 2, range(2)).outcome is PropertyOutcome.PROOF
    True
    """

    PROOF = "proof"
    """The property holds for all values."""

    PASSED = "passed"
    """The property holds for all tried values; others remain."""

    COUNTEREXAMPLE = "counterexample"
    """The property fails for the values in the result."""

    NOTHING = "nothing tested"
    """The property rejected all tried values."""


@dataclass(frozen=True, slots=True)
class PropertyResult:
    """The result of `check`: the `outcome` with its evidence; a result is true if the outcome is PROOF or PASSED.

    `tests` is the number of tuples of arguments that `check` tested. `rejections` is the number of tuples that an
    implication rejected. `undecided` is the number of tuples for which an inner quantifier ran out of tests. `values`
    are the arguments of the smallest counterexample, or the arguments that prove an `exists`. `found` contains the
    arguments of the first counterexample. `error` is the exception that the property raised for `values`. `req` lists
    the ids of the requirements that the property checks.

    >>> from otf.logic import check
    >>> result = check(lambda number: number < 2, range(5))
    >>> bool(result), result.outcome.value, result.tests, dict(result.values)
    (False, 'counterexample', 3, {'number': 2})
    """

    outcome: PropertyOutcome
    tests: int
    rejections: int = 0
    undecided: int = 0
    values: Mapping[str, object] = field(default_factory=dict[str, object])
    found: Mapping[str, object] = field(default_factory=dict[str, object])
    error: Exception | None = None
    req: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return whether the property is proven or passed: `assert check(prop)` is a test."""
        return self.outcome in {PropertyOutcome.PROOF, PropertyOutcome.PASSED}

    def __str__(self) -> str:
        """Return the verdict as one line."""
        counts = [_number(self.tests, "test")] if self.tests or self else []
        counts += [_number(self.rejections, "rejection")] if self.rejections else []
        counts += [f"{self.undecided:,} undecided"] if self.undecided else []
        after = {PropertyOutcome.PASSED: " ", PropertyOutcome.NOTHING: ": "}.get(self.outcome, " after ")
        shown = ", ".join(f"{name}={show(value)}" for name, value in self.values.items())
        raised = f" raised {type(self.error).__name__}: {self.error}" if self.error else ""
        broken = "violates " if self.outcome is PropertyOutcome.COUNTEREXAMPLE else ""
        cited = f" ({broken}{', '.join(self.req)})" if self.req else ""
        line = [self.outcome, after if counts else "", ", ".join(counts), ": " if shown else "", shown, raised, cited]
        return "".join(line)

    def __repr__(self) -> str:
        """Return the line, which a failing `assert` prints."""
        return f"<{self}>"


def _number(count: int, of: str) -> str:
    return f"{count:,} {of}{'' if count == 1 else 's'}"
