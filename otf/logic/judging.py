"""Evaluating whatever a property may be: a truth, a property, a function with typed arguments, or one to be awaited.

Evaluation is a generator that yields what has to be awaited, and is sent the result. So one piece of code serves
ordinary and asynchronous properties, and knows of no event loop.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from inspect import isawaitable
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, TypeVar

from otf.errors import OtfError, UsageError
from otf.values import Rows, rows, show

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


T = TypeVar("T")
Waiting: TypeAlias = Generator[Awaitable[Any], Any, T]


class Property(ABC):
    """A logical property, put together by `implies`, `for_all` and the like; `&`, `|` and `~` are and, or, not."""

    @abstractmethod
    def judged(self, tests: int) -> Waiting[Truth]:
        """Evaluate it; a quantifier tries at most `tests` values."""

    def __and__(self, other: Testable) -> Property:
        from otf.logic.judging import all_of

        return all_of(self, other)

    def __or__(self, other: Testable) -> Property:
        from otf.logic.judging import any_of

        return any_of(self, other)

    def __invert__(self) -> Property:
        from otf.logic.judging import not_

        return not_(self)

    def __bool__(self) -> bool:
        """Refuse: `not`, `and` and `or` would ask at once what only an evaluation can tell."""
        raise UsageError("a property is not True or False before it is checked: write ~, & and | for not, and, or")


Testable: TypeAlias = bool | Property | Callable[..., Any] | Awaitable[Any]


class BrokenError(Exception):
    """A property raised an error; `values` are those of the quantifiers around it."""

    def __init__(self, error: Exception, values: Assignment = ()) -> None:
        super().__init__(error, values)
        self.error: Exception = error
        self.values: Assignment = values


@dataclass(frozen=True)
class Quantified(Property):
    """What a function says of all rows of arguments, or of some; `usual` is what it is without any row.

    Where the opposite is found for sure, nothing else matters. Values left untried leave a doubt.
    """

    function: Callable[..., Any]
    table: Rows
    usual: Truth = HOLDS
    join: Callable[[Truth, Truth], Truth] = all_hold

    def judged(self, tests: int) -> Waiting[Truth]:
        """Try rows until one decides."""
        total: Truth | None = None
        tried = iter(self.table.values)
        for place, row in enumerate(islice(tried, tests)):
            found = yield from self._found(row, place, tests)
            total = found if total is None else self.join(total, found)
            if total.sure and total.truth is (not self.usual.truth):
                return total
        total = self.usual if total is None else total
        complete = self.table.values.complete and next(tried, None) is None  # a row is a tuple
        return total if complete else total._replace(sure=False)

    def _found(self, row: tuple[Any, ...], place: int, tests: int) -> Waiting[Truth]:
        try:
            finding = yield from applied(self.function, row, tests)
        except BrokenError as broken:
            raise BrokenError(broken.error, self.table.named(place) + broken.values) from broken.error
        decides = finding.truth is (not self.usual.truth)
        return finding._replace(values=self.table.named(place) + finding.values if decides else ())


def judge(thing: object, tests: int) -> Waiting[Truth]:
    """Evaluate a property; a function holds if it does for all its arguments. Raises BrokenError if it raised."""
    if isinstance(thing, Property):
        return (yield from thing.judged(tests))
    if isinstance(thing, bool) or getattr(thing, "dtype", None) == "bool":  # numpy has truths of its own
        return HOLDS if thing else FAILS
    if isawaitable(thing):
        return (yield from judge((yield thing), tests))
    if callable(thing):
        return (yield from Quantified(thing, rows(thing)).judged(tests))
    raise UsageError(f"a property says True or False, or is put together from such; this one said {show(thing)}")


def applied(function: Callable[..., Any], row: tuple[Any, ...], tests: int) -> Waiting[Truth]:
    """Evaluate what a function says of one row of arguments. Raises BrokenError where it raises."""
    try:
        return (yield from judge(function(*row), tests))
    except (OtfError, BrokenError):
        raise
    except Exception as error:
        raise BrokenError(error) from error


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
