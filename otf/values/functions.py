"""Functions as values: a default result, and a finite table of arguments with other results."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeGuard

from otf.errors import UsageError
from otf.values.derived import Filtered, Mapped, Once
from otf.values.request import TypeRequest
from otf.values.sameness import likeness
from otf.values.subsets import Subsets, Tables
from otf.values.text import show
from otf.values.tiers import Tiers, is_finite
from otf.values.tuples import together


@dataclass(frozen=True)
class FiniteFunction:
    """A function that returns `default`, except for the rows of arguments in its table.

    >>> even = FiniteFunction((((0,), True), ((2,), True)), False)
    >>> even(2), even(3), even
    (True, False, {0: True, 2: True, else: False})
    """

    table: tuple[tuple[tuple[Any, ...], Any], ...]
    default: Any

    @cached_property
    def _known(self) -> Mapping[Hashable, Any]:
        return {likeness(row): value for row, value in self.table}

    def __call__(self, *arguments: object) -> Any:  # noqa: ANN401 -- a value of the type that was declared
        """Return the result for these arguments."""
        return self._known.get(likeness(arguments), self.default)

    def __repr__(self) -> str:
        """Return its table as text."""
        rows = [f"{show(row[0] if len(row) == 1 else row)}: {show(value)}" for row, value in self.table]
        return "{" + ", ".join([*rows, f"else: {show(self.default)}"]) + "}"


def functions(request: TypeRequest) -> Tiers:
    """Return the functions of a type `Callable[[A, …], B]`, those with a small table first."""
    arguments = request.arguments[0]
    if not _is_list(arguments):
        message = f"{request.where}: declare the types of the function's arguments: Callable[[int], bool]"
        raise UsageError(message)
    rows = together([request.reader.read(part, f"{request.where}({at})") for at, part in enumerate(arguments)])
    values = request.part(1, "(…)")
    tables = Tables(Subsets(rows, f"{request.where}(…)"), values)
    every = Mapped(Filtered(together([values, tables]), _plain, request.where), _function, FiniteFunction)
    if not is_finite(rows):
        return every
    # if the table can hold all arguments, the same function can be written with each default
    whole = list(rows.walk())
    return Once(every, lambda function: tuple(likeness(function(*row)) for row in whole))


def _is_list(arguments: object) -> TypeGuard[list[object]]:
    return isinstance(arguments, list)


def _plain(made: tuple[Any, tuple[tuple[Any, ...], tuple[Any, ...]]]) -> bool:
    default, (_, values) = made
    usual = likeness(default)
    return all(likeness(value) != usual for value in values)


def _function(made: tuple[Any, tuple[tuple[Any, ...], tuple[Any, ...]]]) -> FiniteFunction:
    default, (rows, values) = made
    return FiniteFunction(tuple(zip(rows, values, strict=True)), default)
