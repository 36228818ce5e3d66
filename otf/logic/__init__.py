"""Logical properties: functions that return True or False for their arguments, and that `check` tests systematically.

The quantifiers `for_all` and `exists` try values in order, until a value decides or the number of tests is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar, overload

from otf.errors import UsageError
from otf.logic.judging import (
    BrokenError,
    Property,
    Quantified,
    Testable,
    Waiting,
    all_of,
    answered,
    any_of,
    applied,
    finish,
    iff,
    implies,
    not_,
)
from otf.logic.result import FAILS, HOLDS, Assignment, PropertyOutcome, PropertyResult, Truth, all_hold, one_holds
from otf.temporal import Formula, PropertyStep, always, never, now, sometimes, then, until, within
from otf.values import Values, ValueSource, block_start, fresh, rows, show, smallest

A = TypeVar("A")
B = TypeVar("B")
TESTS: Final = 1000
"""How many tests `check` makes, unless the caller gives another number."""

TRIES: Final = 10  # rows to evaluate for each requested test, including rejected rows


@overload
def check(
    prop: Callable[[A], object], one: ValueSource[A], /, *, tests: int = ..., seed: int | None = ...
) -> PropertyResult: ...
@overload
def check(
    prop: Callable[[A, B], object],
    one: ValueSource[A],
    other: ValueSource[B],
    /,
    *,
    tests: int = ...,
    seed: int | None = ...,
) -> PropertyResult: ...
@overload
def check(
    prop: Testable, *sources: object, tests: int = ..., seed: int | None = ..., values: Values | None = ...
) -> PropertyResult: ...
def check(
    prop: Testable,
    *sources: object,
    tests: int = TESTS,
    seed: int | None = None,
    values: Values | None = None,
) -> PropertyResult:
    """Check a property: a function from typed arguments to True or False, or a `Property` of `otf.logic`.

    `check` tries small values first, varies all arguments evenly, and stops after `tests` tests. `sources` replace the
    declared types of the first arguments; a source is a type, an iterable or a Hypothesis strategy. `values` maps a
    type to the values that `check` tries wherever the type occurs in an argument. `seed` selects another order. If the
    property raises an exception, its arguments are a counterexample.

    The result is true if the property is proven or passed, so `assert check(prop)` is a test. `check` raises UsageError
    if an argument of the property has no values to try. Koopman and Plasmeijer describe such checks in "Testing with
    Functions as Specifications", section 2.

    >>> def absolute(number: int) -> bool: return abs(number) == number
    >>> check(absolute)
    <counterexample after 3 tests: number=-1>
    >>> check(absolute, range(10))
    <proof after 10 tests>
    """
    subject = quantify(prop, sources, values)
    return replace(finish(checking(subject, tests, seed, waits=False)), req=subject.req)


async def check_async(
    prop: Testable,
    *sources: object,
    tests: int = TESTS,
    seed: int | None = None,
    values: Values | None = None,
) -> PropertyResult:
    """Check a property as `check` does; the property may be an `async def`, or return an awaitable.

    `check_async` tries one tuple of arguments after the other on the caller's event loop. It takes the arguments of
    `check`, and raises UsageError as `check` does.

    >>> import anyio
    >>> async def below_two(number: int) -> bool:
    ...     await anyio.sleep(0)
    ...     return number < 2
    >>> anyio.run(check_async, below_two)
    <counterexample after 4 tests: number=2>
    """
    subject = quantify(prop, sources, values)
    return replace(await answered(checking(subject, tests, seed, waits=True)), req=subject.req)


def quantify(prop: Testable, sources: Sequence[object] = (), values: Values | None = None) -> Quantified:
    """Return a property as a `Quantified`: its function, and a table of arguments to try.

    >>> def below_two(number: int) -> bool: return number < 2
    >>> quantify(below_two).table.names
    ('number',)
    """
    universal = isinstance(prop, Quantified) and prop.usual.truth
    if isinstance(prop, Quantified) and universal and sources:
        return Quantified(prop.function, rows(prop.function, sources, values), req=prop.req)
    if callable(prop) and not isinstance(prop, Property):
        return Quantified(prop, rows(prop, sources, values))
    if sources or values is not None:
        raise UsageError(f"{show(prop)} has no arguments, or already has values for them: leave out sources and values")
    return prop if isinstance(prop, Quantified) and universal else Quantified(lambda: prop, rows(lambda: prop))


def checking(subject: Quantified, tests: int, seed: int | None, *, waits: bool) -> Waiting[PropertyResult]:
    """Check a property in a generator, which yields each awaitable for its caller to await, and returns the result.

    Pass `waits=False` if the property is not asynchronous; Hypothesis can then search for a simpler counterexample.

    >>> subject = quantify(lambda number: number < 2, [[0, 1]])
    >>> try: next(checking(subject, TESTS, None, waits=False))
    ... except StopIteration as end: print(end.value)
    proof after 2 tests
    """
    if tests < 1:
        raise UsageError(f"tests={tests}: give a number of tests from 1")
    tally, table = Tally(), subject.table
    left = iter(table.values.placed(seed))
    for place, row in islice(left, TRIES * tests):
        trial = yield from tried(subject, row, tests)
        if trial.fails:
            found = table.named(place) + trial.finding.values
            least = None if waits else simplest(subject, tests)
            values, shrunk = least or (yield from minimal(subject, place, trial, tests, seed))
            return tally.refuted(by_name(values), by_name(found), shrunk.error)
        tally.add(trial.finding)
        if tally.tests == tests:
            break
    return tally.result(complete=table.values.complete and next(left, None) is None, witness=not table.names)


@overload
def for_all(one: ValueSource[A], function: Callable[[A], object], /) -> Quantified: ...
@overload
def for_all(one: ValueSource[A], other: ValueSource[B], function: Callable[[A, B], object], /) -> Quantified: ...
@overload
def for_all(*sources_and_function: object, values: Values | None = None) -> Quantified: ...
def for_all(*sources_and_function: Any, values: Values | None = None) -> Quantified:
    """Return the property that a function is true for all values: `for_all(range(3), lambda i: ...)`.

    Pass the function last. The arguments before the function are the values for the function's first parameters: types,
    iterables, Hypothesis strategies, or results of `every`. The function's other parameters take the values of their
    declared types; `values` replaces the values of a type. `for_all` raises UsageError for a parameter of the function
    that has neither values nor a type with values.

    >>> from otf.logic import check
    >>> check(for_all(range(3), bool, lambda number, up: number + up >= number))
    <proof after 6 tests>
    """
    *sources, function = _checked(sources_and_function)
    return Quantified(function, rows(function, sources, values), HOLDS, all_hold)


@overload
def exists(one: ValueSource[A], function: Callable[[A], object], /) -> Quantified: ...
@overload
def exists(one: ValueSource[A], other: ValueSource[B], function: Callable[[A, B], object], /) -> Quantified: ...
@overload
def exists(*sources_and_function: object, values: Values | None = None) -> Quantified: ...
def exists(*sources_and_function: Any, values: Values | None = None) -> Quantified:
    """Return the property that a function is true for at least one value; `exists` takes the arguments of `for_all`.

    It raises UsageError for the same mistakes.

    >>> from otf.logic import check
    >>> check(exists(int, lambda number: number * number == 49))
    <proof after 1 test: number=7>
    """
    *sources, function = _checked(sources_and_function)
    return Quantified(function, rows(function, sources, values), FAILS, one_holds)


def _checked(given: tuple[Any, ...]) -> tuple[Any, ...]:
    if not given or not callable(given[-1]):
        raise UsageError(f"the function comes last: for_all(range(3), lambda i: ...), not {show(given)}")
    return given


__all__ = [
    "TESTS",
    "Formula",
    "Property",
    "PropertyOutcome",
    "PropertyResult",
    "PropertyStep",
    "Quantified",
    "Testable",
    "Waiting",
    "all_of",
    "always",
    "any_of",
    "check",
    "check_async",
    "checking",
    "exists",
    "for_all",
    "iff",
    "implies",
    "never",
    "not_",
    "now",
    "quantify",
    "sometimes",
    "then",
    "until",
    "within",
]


T = TypeVar("T")
OFFERED: Final = 1000  # values of an enumeration from which Hypothesis may choose


class Trial(NamedTuple):
    """The result of a property for one tuple of arguments: a `Truth`, and the exception, if the property raised one."""

    finding: Truth
    error: Exception | None = None

    @property
    def fails(self) -> bool:
        """Return whether the row is a counterexample."""
        return self.finding.truth is False and self.finding.sure


def tried(subject: Quantified, row: tuple[Any, ...], tests: int) -> Waiting[Trial]:
    """Evaluate a property for one tuple of arguments; a property that raises an exception fails."""
    try:
        return Trial((yield from applied(subject.function, row, tests)))
    except BrokenError as broken:
        return Trial(FAILS._replace(values=broken.values), broken.error)


def by_name(values: Assignment) -> Mapping[str, object]:
    """Return a dictionary from the names of arguments to their values; if a name occurs twice, the second gets a mark.

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
    """The numbers of tuples of arguments that `check` has tested, rejected and left undecided so far."""

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
        """Return the verdict; `complete`: no row is left; `witness`: the last row's values prove the property."""
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


def minimal(
    subject: Quantified, place: int, trial: Trial, tests: int, seed: int | None
) -> Waiting[tuple[Assignment, Trial]]:
    """Return the failing tuple of arguments with the smallest values, and its values by name.

    A search without a seed tries small values first, so `minimal` returns the tuple that the search found. A search
    with a seed shuffles blocks of tuples; `minimal` then tries the smaller tuples of the failing tuple's block.
    """
    table = subject.table
    start = place if seed is None else block_start(place)
    for earlier, row in islice(enumerate(table.values), start, place):
        again = yield from tried(subject, row, tests)
        if again.fails:
            return table.named(earlier) + again.finding.values, again
    return table.named(place) + trial.finding.values, trial


def simplest(subject: Quantified, tests: int) -> tuple[Assignment, Trial] | None:
    """Return the simplest failing arguments that Hypothesis finds; None if it finds none, or has no strategy."""
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
