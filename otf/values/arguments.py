"""Rows of arguments for a function, from the types that it declares or from what is given instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, signature
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from otf.errors import UsageError
from otf.values.classes import argument_types, is_class
from otf.values.derived import Mapped, Once
from otf.values.enumeration import Enumeration
from otf.values.front import REGISTERED, Values, enumerated, name_of
from otf.values.sameness import fingerprint
from otf.values.text import show
from otf.values.tuples import together


@dataclass(frozen=True)
class Rows:
    """What a function is called with: the names of its arguments, and the rows of their values.

    `columns` are the enumerations that the rows were put together from, if they were.
    """

    names: tuple[str, ...]
    values: Enumeration[tuple[Any, ...]]
    columns: tuple[Enumeration[Any], ...] = ()

    def named(self, place: int) -> tuple[tuple[str, Any], ...]:
        """Return the row at a place, with the names: made anew, since the function may have changed what it got."""
        return tuple(zip(self.names, self.values.at(place), strict=True))


def rows(function: Callable[..., Any], sources: Sequence[object] = (), values: Values | None = None) -> Rows:
    """Return the rows for a function; `sources` stand instead of the types of the first arguments.

    An argument that has a default is left to it, unless a source is given for it.

    >>> def hypotenuse(a: int, b: int) -> float: ...
    >>> rows(hypotenuse, [range(3, 5)]).values.first(3)
    [(3, 0), (3, 1), (4, 0)]
    """
    who, asked = name_of_function(function), _parameters(function)
    if len(sources) > len(asked):
        raise UsageError(f"{who} has {len(asked)} arguments, and values for {len(sources)} were given")
    open_ones = [each.name for each in asked[len(sources) :] if each.default is Parameter.empty]
    kinds = _declared(function, who, open_ones) if open_ones else []
    names = (*(each.name for each in asked[: len(sources)]), *open_ones)
    columns = [
        enumerated(source, values, f"{who}, {name}") for name, source in zip(names, [*sources, *kinds], strict=True)
    ]
    return Rows(names, Enumeration(together([each.tiers for each in columns])), tuple(columns))


def name_of_function(function: object) -> str:
    """Return how a function is called."""
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__name__", None) or show(function)


def _parameters(function: Callable[..., Any]) -> list[Parameter]:
    try:
        found = signature(function).parameters.values()
    except ValueError as error:
        raise UsageError(
            f"{name_of_function(function)} does not tell its arguments; write a function around it"
        ) from error
    named = [each.name for each in found if each.kind is Parameter.KEYWORD_ONLY and each.default is Parameter.empty]
    if named:
        raise UsageError(f"{name_of_function(function)}: its argument {named[0]} can only be given by name")
    return [each for each in found if each.kind in {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}]


def _declared(function: Callable[..., Any], who: str, names: list[str]) -> list[object]:
    hints = argument_types(_bare(function), names, who)
    for name in names:
        if name not in hints:
            raise UsageError(f"{who}: declare the type of its argument {name}, or give its values")
    return [hints[name] for name in names]


def _bare(function: Any) -> Any:  # noqa: ANN401 -- anything that can be called
    while isinstance(function, partial):
        function = function.func
    if is_class(function):
        maker: Any = function
        return maker.__init__
    return function if hasattr(function, "__globals__") else function.__call__


def register(kind: object, source: object = None) -> None:
    """Say once for all which values a type has: another type, an iterable, a strategy, or how a value is made.

    A function with typed arguments makes a value of each row of arguments; without a source, the class does.

    >>> class Even(int): ...
    >>> def even(half: int) -> Even: return Even(2 * half)
    >>> register(Even, even)
    >>> enumerated(Even).first(4)
    [0, 2, -2, 4]
    """
    makes: Any = kind if source is None else source
    if makes is kind or isinstance(makes, FunctionType | MethodType | BuiltinFunctionType):
        REGISTERED[kind] = lambda: _made(makes)
    else:
        values = enumerated(source, where=name_of(kind))
        REGISTERED[kind] = lambda: values


def _made(makes: Any) -> Enumeration[Any]:  # noqa: ANN401 -- a function or a class
    made = Mapped(rows(makes).values.tiers, lambda row: makes(*row), fixed=False)
    return Enumeration(Once(made, fingerprint))
