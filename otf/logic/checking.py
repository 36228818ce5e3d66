"""Checking a property: values in their order, until one fails, none is left, or enough were tried."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final, TypeVar, overload

from otf.errors import UsageError
from otf.logic.judging import Property, Quantified, Testable, Waiting
from otf.logic.result import PropertyResult
from otf.logic.trying import Tally, answered, by_name, finish, minimal, simplest, tried
from otf.values import Values, ValueSource, rows, show

A = TypeVar("A")
B = TypeVar("B")
TESTS: Final = 1000
TRIES: Final = 10  # rows looked at for each test that is asked for, the rejected ones included


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
    """Check a property: a function that says True or False of its typed arguments, or one of those of `otf.logic`.

    All values of the arguments are tried, small before large and fairly interleaved, at most `tests` that are not
    rejected. `sources` stand instead of the types of the first arguments: another type, an iterable, a Hypothesis
    strategy. `values` does so for a type wherever it occurs. `seed` tries another order. What the property raises is a
    counterexample. The result is true where the property was proven or passed, so that `assert check(prop)` is a test.
    Source: Koopman and Plasmeijer, "Testing with Functions as Specifications", section 2.

    >>> def absolute(number: int) -> bool: return abs(number) == number
    >>> check(absolute)
    <counterexample after 3 tests: number=-1>
    >>> check(absolute, range(10))
    <proof after 10 tests>
    """
    subject = quantified(prop, sources, values)
    return finish(checking(subject, tests, seed, waits=False))


async def check_async(
    prop: Testable,
    *sources: object,
    tests: int = TESTS,
    seed: int | None = None,
    values: Values | None = None,
) -> PropertyResult:
    """Check a property as `check` does, which may be an `async def`, or say something that has to be awaited.

    One row of values is tried after the other, all on the loop of the caller.

    >>> import anyio
    >>> async def below_two(number: int) -> bool:
    ...     await anyio.sleep(0)
    ...     return number < 2
    >>> anyio.run(check_async, below_two)
    <counterexample after 4 tests: number=2>
    """
    return await answered(checking(quantified(prop, sources, values), tests, seed, waits=True))


def quantified(prop: Testable, sources: Sequence[object] = (), values: Values | None = None) -> Quantified:
    """Return a property as a function of rows of arguments."""
    universal = isinstance(prop, Quantified) and prop.usual.truth
    if isinstance(prop, Quantified) and universal and sources:
        return Quantified(prop.function, rows(prop.function, sources, values))
    if callable(prop) and not isinstance(prop, Property):
        return Quantified(prop, rows(prop, sources, values))
    if sources or values is not None:
        raise UsageError(f"{show(prop)} has no arguments that values could be given for, or has them already")
    return prop if isinstance(prop, Quantified) and universal else Quantified(lambda: prop, rows(lambda: prop))


def checking(subject: Quantified, tests: int, seed: int | None, *, waits: bool) -> Waiting[PropertyResult]:
    """Check a property, yielding what has to be awaited; `waits` says that this may happen."""
    if tests < 1:
        raise UsageError(f"tests={tests}: at least one value has to be tried")
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
