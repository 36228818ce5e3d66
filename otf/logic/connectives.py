"""Logical connectives: not, and, or, if and only if, and the implication that rejects.

They follow Koopman and Plasmeijer, "Testing with Functions as Specifications", section 2. Whatever they join may be a
truth, another property, or a function: without arguments it is evaluated when it is needed, with typed arguments it
holds for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from otf.logic.finding import REJECTED, Truth, all_hold, equal, one_holds, opposite
from otf.logic.judging import Property, Testable, Waiting, judge

Join: TypeAlias = Callable[[Truth, Truth], Truth]


@dataclass(frozen=True)
class Not(Property):
    """The opposite of a property."""

    part: Testable

    def judged(self, tests: int) -> Waiting[Truth]:
        """Turn round what the part says."""
        return opposite((yield from judge(self.part, tests)))


@dataclass(frozen=True)
class Joined(Property):
    """Properties joined from left to right; what says `enough` for sure spares the rest."""

    parts: tuple[Testable, ...]
    join: Join
    enough: bool | None = None

    def judged(self, tests: int) -> Waiting[Truth]:
        """Join what the parts say."""
        total = yield from judge(self.parts[0], tests)
        for part in self.parts[1:]:
            if total.sure and total.truth is self.enough:
                break
            total = self.join(total, (yield from judge(part, tests)))
        return total


@dataclass(frozen=True)
class Implies(Property):
    """If the left side holds, the right side has to; otherwise nothing is tested."""

    condition: Testable
    part: Testable

    def judged(self, tests: int) -> Waiting[Truth]:
        """Ask the right side only where the left one holds."""
        condition = yield from judge(self.condition, tests)
        if not condition.truth:
            return REJECTED._replace(sure=condition.sure)
        finding = yield from judge(self.part, tests)
        return finding._replace(sure=finding.sure and condition.sure)


def implies(condition: Testable, part: Testable) -> Property:
    """Return "if `condition`, then `part`": what does not meet the condition is rejected, and not counted as a test.

    Write `lambda: ...` where the right side can only be evaluated if the left one holds.

    >>> from otf.logic import check
    >>> def prop(number: int): return implies(number != 0, lambda: number // number == 1)
    >>> check(prop, range(-2, 3))
    <proof after 4 tests, 1 rejection>
    """
    return Implies(condition, part)


def all_of(first: Testable, *others: Testable) -> Property:
    """Return "each of them"; rejected if all of them are."""
    return Joined((first, *others), all_hold, enough=False)


def any_of(first: Testable, *others: Testable) -> Property:
    """Return "at least one of them"."""
    return Joined((first, *others), one_holds, enough=True)


def not_(part: Testable) -> Property:
    """Return "it is not so"."""
    return Not(part)


def iff(one: Testable, other: Testable) -> Property:
    """Return "one holds if and only if the other does"."""
    return Joined((one, other), equal, enough=None)
