"""The quantifiers "for all" and "there is", over the arguments of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from otf.errors import UsageError
from otf.logic.judging import Quantified
from otf.logic.result import FAILS, HOLDS, all_hold, one_holds
from otf.values import Values, ValueSource, rows, show

A = TypeVar("A")
B = TypeVar("B")


@overload
def for_all(one: ValueSource[A], function: Callable[[A], object], /) -> Quantified: ...
@overload
def for_all(one: ValueSource[A], other: ValueSource[B], function: Callable[[A, B], object], /) -> Quantified: ...
@overload
def for_all(*sources_and_function: object, values: Values | None = None) -> Quantified: ...
def for_all(*sources_and_function: Any, values: Values | None = None) -> Quantified:
    """Return the property that a function holds for all values: `for_all(range(3), lambda i: ...)`.

    The function is the last argument. Before it come the sources of its first arguments: types, iterables, Hypothesis
    strategies, or results of `every`. Its other arguments take all values of their declared types, or of the sources
    in `values`.

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
    """Return the property that a function holds for at least one value; the arguments are those of `for_all`.

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
