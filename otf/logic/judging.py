"""Properties, their connectives, and how they are evaluated.

A property is a bool, a `Property`, a function with typed arguments, or an awaitable. An evaluation is a generator: it
yields an awaitable, and gets the result sent back. So the same code serves ordinary and asynchronous properties, and
needs no event loop. The connectives are those of Koopman and Plasmeijer, "Testing with Functions as Specifications",
section 2.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from functools import reduce
from inspect import isawaitable, iscoroutine
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from otf.errors import OtfError, UsageError
from otf.logic.result import FAILS, HOLDS, REJECTED, Assignment, Truth, all_hold, equal, one_holds, opposite
from otf.values import Rows, rows, show

if TYPE_CHECKING:
    from otf.temporal import Formula

    ToFormula: TypeAlias = Callable[[object], Formula]

T = TypeVar("T")
Waiting: TypeAlias = Generator[Awaitable[Any], Any, T]
"""A generator that yields what its caller must await, receives the results, and returns a T."""

Join: TypeAlias = Callable[[Truth, Truth], Truth]


class Property(ABC):
    """A logical property, for instance from `for_all`; combine properties with `&` (and), `|` (or) and `~` (not).

    >>> from otf.logic import check, for_all
    >>> check(for_all([1, 2], lambda number: number > 0) & ~for_all([1, 2], lambda number: number > 1))
    <proof after 1 test>
    """

    @abstractmethod
    def judged(self, tests: int) -> Waiting[Truth]:
        """Evaluate the property; a quantifier in it tries at most `tests` values."""

    def __and__(self, other: Testable) -> Property:
        return all_of(self, other)

    def __or__(self, other: Testable) -> Property:
        return any_of(self, other)

    def __invert__(self) -> Property:
        return not_(self)

    def __bool__(self) -> bool:
        """Refuse: `not`, `and` and `or` would need the truth before the property is evaluated."""
        raise UsageError("a property is not True or False before it is checked: write ~, & and | for not, and, or")


Testable: TypeAlias = bool | Property | Callable[..., Any] | Awaitable[Any]
"""What `check` can test: a bool, a `Property`, an awaitable, or a function with typed arguments that returns these."""


class BrokenError(Exception):
    """A property raised an exception; `values` are the arguments for which the property raised it."""

    def __init__(self, error: Exception, values: Assignment = ()) -> None:
        super().__init__(error, values)
        self.error: Exception = error
        self.values: Assignment = values


@dataclass(frozen=True)
class Quantified(Property):
    """The property that a `function` is true for all, or for some, arguments in a `table`; see `for_all` and `exists`.

    Each row of the table is a tuple of arguments. `join` combines the results of two rows: all must hold for `for_all`,
    one must hold for `exists`. `usual` is the result for an empty table: true for `for_all`, false for `exists`. The
    evaluation ends at the first row whose result is the opposite of `usual`. If no row decides and some rows remain
    untried, the result is not sure. `req` lists the ids of the requirements that the property checks.

    >>> from otf.logic import exists, for_all
    >>> for_all([1], lambda number: False).usual.truth, exists([1], lambda number: True).usual.truth
    (True, False)
    """

    function: Callable[..., Any]
    table: Rows
    usual: Truth = HOLDS
    join: Callable[[Truth, Truth], Truth] = all_hold
    req: tuple[str, ...] = ()

    def judged(self, tests: int) -> Waiting[Truth]:
        """Try one row of arguments after another, until a row decides the result."""
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
    """Evaluate a property; a function holds if it holds for all its arguments.

    Raises BrokenError if the property raises an exception, and UsageError for anything that is not a property.
    """
    if isinstance(thing, Property):
        return (yield from thing.judged(tests))
    if isinstance(thing, bool) or getattr(thing, "dtype", None) == "bool":  # numpy has its own bools
        return HOLDS if thing else FAILS
    if isawaitable(thing):
        return (yield from judge((yield thing), tests))
    if callable(thing):
        return (yield from Quantified(thing, rows(thing)).judged(tests))
    raise UsageError(f"a property returns True, False or another property; this one returned {show(thing)}")


def applied(function: Callable[..., Any], row: tuple[Any, ...], tests: int) -> Waiting[Truth]:
    """Call a function with one tuple of arguments, and return the result as a `Truth`.

    Raise BrokenError if the function fails.
    """
    try:
        return (yield from judge(function(*row), tests))
    except (OtfError, BrokenError):
        raise
    except Exception as error:
        raise BrokenError(error) from error


def finish(steps: Waiting[T]) -> T:
    """Return the result of an evaluation without an event loop. Raises UsageError if the property is asynchronous."""
    try:
        waits_for = next(steps)
    except StopIteration as stop:
        result: T = stop.value
        return result
    if iscoroutine(waits_for):
        waits_for.close()
    raise UsageError("the property is asynchronous: write `await check_async(prop)`")


async def answered(steps: Waiting[T]) -> T:
    """Run an evaluation on the event loop: await each awaitable that the evaluation yields, and return its result."""
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


@dataclass(frozen=True)
class Not(Property):
    """The property that holds where another one fails."""

    part: Testable | Formula

    def temporal(self, of: ToFormula) -> Formula:
        """Return the opposite of the part, as a property of runs."""
        return ~of(self.part)

    def judged(self, tests: int) -> Waiting[Truth]:
        """Return the opposite of the part."""
        return opposite((yield from judge(self.part, tests)))


@dataclass(frozen=True)
class Joined(Property):
    """Properties joined by a connective, evaluated from left to right until one of them surely decides."""

    parts: tuple[Testable | Formula, ...]
    join: Join
    enough: bool | None = None

    def temporal(self, of: ToFormula) -> Formula:
        """Return the parts joined, as a property of runs."""
        parts = [*map(of, self.parts)]
        if self.join is equal:
            return reduce(lambda one, other: (one & other) | (~one & ~other), parts)
        return reduce(lambda one, other: one & other if self.join is all_hold else one | other, parts)

    def judged(self, tests: int) -> Waiting[Truth]:
        """Join the truths of the parts."""
        total = yield from judge(self.parts[0], tests)
        for part in self.parts[1:]:
            if total.sure and total.truth is self.enough:
                break
            total = self.join(total, (yield from judge(part, tests)))
        return total


@dataclass(frozen=True)
class Implies(Property):
    """The property that the right side holds if the left one does; if the left side fails, it rejects the values."""

    condition: Testable | Formula
    part: Testable | Formula

    def temporal(self, of: ToFormula) -> Formula:
        """Return it as a property of runs."""
        return ~of(self.condition) | of(self.part)

    def judged(self, tests: int) -> Waiting[Truth]:
        """Evaluate the left side, and the right side only if the left one holds."""
        condition = yield from judge(self.condition, tests)
        if not condition.truth:
            return REJECTED._replace(sure=condition.sure)
        finding = yield from judge(self.part, tests)
        return finding._replace(sure=finding.sure and condition.sure)


def implies(condition: Testable | Formula, part: Testable | Formula) -> Property:
    """Return the property "if `condition` holds, then `part` holds".

    `check` rejects values for which the condition is false, and does not count them as tests. If `part` can be
    evaluated only when the condition holds, pass it as `lambda: ...`.

    >>> from otf.logic import check
    >>> def prop(number: int): return implies(number != 0, lambda: number // number == 1)
    >>> check(prop, range(-2, 3))
    <proof after 4 tests, 1 rejection>
    """
    return Implies(condition, part)


def all_of(first: Testable | Formula, *others: Testable | Formula) -> Property:
    """Return the property that all given properties hold; `check` rejects values that all given properties reject.

    >>> from otf.logic import check
    >>> def prop(number: int): return all_of(number >= 0, number < 3)
    >>> check(prop, range(3))
    <proof after 3 tests>
    """
    return Joined((first, *others), all_hold, enough=False)


def any_of(first: Testable | Formula, *others: Testable | Formula) -> Property:
    """Return the property that at least one of the given properties holds.

    >>> from otf.logic import check
    >>> def prop(number: int): return any_of(number < 1, number > 1)
    >>> check(prop, range(3))
    <counterexample after 2 tests: number=1>
    """
    return Joined((first, *others), one_holds, enough=True)


def not_(part: Testable | Formula) -> Property:
    """Return the property that holds if and only if the given property fails.

    >>> from otf.logic import check, exists
    >>> check(not_(exists(range(5), lambda number: number > 9)))
    <proof after 1 test>
    """
    return Not(part)


def iff(one: Testable | Formula, other: Testable | Formula) -> Property:
    """Return the property that both given properties hold or both fail.

    >>> from otf.logic import check
    >>> def prop(number: int): return iff(number % 2 == 0, number & 1 == 0)
    >>> check(prop, range(10))
    <proof after 10 tests>
    """
    return Joined((one, other), equal, enough=None)
