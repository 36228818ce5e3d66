"""What one evaluation of a property told: it holds, it fails, or it was rejected; for sure, or as far as was tried.

Rejected is what an implication is whose left side is false: true, but nothing was tested. So it never becomes a
counterexample and never counts as a test: `and` passes it over, the other connectives hand it on.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Assignment: TypeAlias = tuple[tuple[str, object], ...]


class Truth(NamedTuple):
    """A truth, None where it was rejected; not `sure` where values were left untried.

    `values` are those of inner quantifiers that decided it: a counterexample, or the witness of `exists`.
    """

    truth: bool | None
    sure: bool = True
    values: Assignment = ()


HOLDS, FAILS, REJECTED = Truth(truth=True), Truth(truth=False), Truth(truth=None)


def all_hold(one: Truth, other: Truth) -> Truth:
    """Return the finding of `and`: what fails for sure decides, then what fails; what was rejected is passed over."""
    failing = [each for each in (one, other) if each.truth is False]
    if failing:
        return max(failing, key=lambda each: each.sure)
    rejected = one.truth is None and other.truth is None
    return Truth(None if rejected else True, one.sure and other.sure)


def one_holds(one: Truth, other: Truth) -> Truth:
    """Return the finding of `or`: what holds for sure decides, then what holds, then what was rejected."""
    holding = [each for each in (one, other) if each.truth]
    if holding:
        return max(holding, key=lambda each: each.sure)
    return _told(None if None in {one.truth, other.truth} else False, one, other)


def opposite(one: Truth) -> Truth:
    """Return the finding of `not`; the witness of what held is the counterexample now."""
    return one if one.truth is None else one._replace(truth=not one.truth)


def equal(one: Truth, other: Truth) -> Truth:
    """Return the finding of `if and only if`."""
    return _told(None if None in {one.truth, other.truth} else one.truth == other.truth, one, other)


def _told(truth: bool | None, one: Truth, other: Truth) -> Truth:  # noqa: FBT001 -- what is told
    return Truth(truth, one.sure and other.sure, one.values + other.values)
