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
from typing import Any, TypeAlias, TypeVar

from otf.errors import OtfError, UsageError
from otf.logic.finding import FAILS, HOLDS, Assignment, Truth, all_hold
from otf.values import Rows, rows, show

T = TypeVar("T")
Waiting: TypeAlias = Generator[Awaitable[Any], Any, T]


class Property(ABC):
    """A logical property, put together by `implies`, `for_all` and the like; `&`, `|` and `~` are and, or, not."""

    @abstractmethod
    def judged(self, tests: int) -> Waiting[Truth]:
        """Evaluate it; a quantifier tries at most `tests` values."""

    def __and__(self, other: Testable) -> Property:
        from otf.logic.connectives import all_of

        return all_of(self, other)

    def __or__(self, other: Testable) -> Property:
        from otf.logic.connectives import any_of

        return any_of(self, other)

    def __invert__(self) -> Property:
        from otf.logic.connectives import not_

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
