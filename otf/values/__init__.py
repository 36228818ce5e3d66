"""Values: comparing and showing them, and enumerating the values of a type or the arguments of a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import Parameter
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from otf.errors import UsageError
from otf.values.all_values import REGISTERED, Values, ValueSource, enumerated, every, is_type, name_of, ready
from otf.values.bounds import Alphabet, Among, Char, Range, Size
from otf.values.builtin import PRINTABLE
from otf.values.classes import argument_types, is_class, parameters
from otf.values.derived import Mapped, Once, together
from otf.values.enumeration import Enumeration, Flat, block_start, given, is_enumeration
from otf.values.identity import fingerprint, fresh, key, likeness
from otf.values.strategies import is_strategy, smallest
from otf.values.subsets import FiniteFunction
from otf.values.text import as_text, became, changes, message_of, show, showing


@dataclass(frozen=True)
class Rows:
    """All tuples of arguments with which a function can be called; the function `rows` returns a `Rows`.

    `names` contains the names of the function's parameters. `values` contains the tuples of arguments. `columns`
    contains, for each parameter, the enumeration of its arguments.

    >>> def area(width: int, height: int) -> int: return width * height
    >>> table = rows(area, [[1, 2], [3]])
    >>> table.names, list(table.values)
    (('width', 'height'), [(1, 3), (2, 3)])
    """

    names: tuple[str, ...]
    values: Enumeration[tuple[Any, ...]]
    columns: tuple[Enumeration[Any], ...] = ()

    def named(self, place: int) -> tuple[tuple[str, Any], ...]:
        """Return the tuple of arguments at position `place`, each argument with its name.

        Each call builds the tuple anew, because the function may have changed its arguments.
        """
        return tuple(zip(self.names, self.values.at(place), strict=True))


def rows(function: Callable[..., Any], sources: Sequence[object] = (), values: Values | None = None) -> Rows:
    """Return all tuples of arguments with which a function can be called.

    The declared types of the parameters say which arguments to try. `sources` replace the types of the first
    parameters. A source is a type, an iterable, an `Enumeration` or a Hypothesis strategy. `values` gives sources by
    type, as for `every`. A parameter with a default keeps its default unless the parameter has a source. `rows` raises
    UsageError for a parameter that has neither a type nor a source.

    >>> def hypotenuse(a: int, b: int) -> float: ...
    >>> rows(hypotenuse, [range(3, 5)]).values.first(3)
    [(3, 0), (3, 1), (4, 0)]
    """
    who, parameters = name_of_function(function), _parameters(function)
    if len(sources) > len(parameters):
        raise UsageError(f"{who} has {len(parameters)} arguments, but values for {len(sources)} were given")
    open_ones = [each.name for each in parameters[len(sources) :] if each.default is Parameter.empty]
    kinds = _declared(function, who, open_ones) if open_ones else []
    names = (*(each.name for each in parameters[: len(sources)]), *open_ones)
    columns = [
        enumerated(source, values, f"{who}, {name}") for name, source in zip(names, [*sources, *kinds], strict=True)
    ]
    return Rows(names, Enumeration(together([each.tiers for each in columns])), tuple(columns))


def name_of_function(function: object) -> str:
    """Return the name of a function, also of one inside a `partial`; for an object without a name, return its text.

    >>> name_of_function(partial(max, 1)), name_of_function(5)
    ('max', '5')
    """
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__name__", None) or show(function)


def _parameters(function: Callable[..., Any]) -> list[Parameter]:
    try:
        found = parameters(function).values()
    except ValueError as error:
        raise UsageError(
            f"{name_of_function(function)} has no readable signature; write a function around it"
        ) from error
    named = [each.name for each in found if each.kind is Parameter.KEYWORD_ONLY and each.default is Parameter.empty]
    if named:
        raise UsageError(
            f"{name_of_function(function)}: its argument {named[0]} is keyword-only; write a function around it"
        )
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
    """Define the values of a type for the whole program, with another type, an iterable, a strategy or a function.

    If the source is a function with typed arguments, otf calls the function with arguments of these types, and each
    call makes one value. Without a source, otf makes the values of a class by calling the class. `register` raises
    UsageError for a source that gives no values.

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


__all__ = [
    "PRINTABLE",
    "Alphabet",
    "Among",
    "Char",
    "Enumeration",
    "FiniteFunction",
    "Flat",
    "Range",
    "Rows",
    "Size",
    "ValueSource",
    "Values",
    "as_text",
    "became",
    "block_start",
    "changes",
    "enumerated",
    "every",
    "fresh",
    "given",
    "is_enumeration",
    "is_strategy",
    "is_type",
    "key",
    "likeness",
    "message_of",
    "name_of_function",
    "ready",
    "register",
    "rows",
    "show",
    "showing",
    "smallest",
]
