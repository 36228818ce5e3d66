"""Functions as values: a default, and a finite table of the arguments for which they give something else."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeGuard

from otf.errors import UsageError
from otf.values.asked import Asked
from otf.values.derived import Filtered, Mapped, Once
from otf.values.sameness import likeness
from otf.values.subsets import Subsets, Tables
from otf.values.text import show
from otf.values.tiers import Tiers, is_finite
from otf.values.tuples import together


@dataclass(frozen=True)
class FiniteFunction:
    """A function that gives `default` but for the rows of arguments in its table.

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
        """Return the value for these arguments."""
        return self._known.get(likeness(arguments), self.default)

    def __repr__(self) -> str:
        """Write it as a table."""
        rows = [f"{show(row[0] if len(row) == 1 else row)}: {show(value)}" for row, value in self.table]
        return "{" + ", ".join([*rows, f"else: {show(self.default)}"]) + "}"


def functions(asked: Asked) -> Tiers:
    """Return the functions of a type `Callable[[A, …], B]`, those with few exceptions first."""
    arguments = asked.arguments[0]
    if not _is_list(arguments):
        message = f"{asked.where}: the arguments of a function have to be declared: Callable[[int], bool]"
        raise UsageError(message)
    rows = together([asked.reader.read(part, f"{asked.where}({at})") for at, part in enumerate(arguments)])
    values = asked.part(1, "(…)")
    tables = Tables(Subsets(rows, f"{asked.where}(…)"), values)
    every = Mapped(Filtered(together([values, tables]), _plain, asked.where), _function, FiniteFunction)
    if not is_finite(rows):
        return every
    # where all arguments can be in the table the same function has several: one for each default
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
