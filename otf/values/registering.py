"""The values of types that nothing tells: said once for all."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from otf.values.arguments import rows
from otf.values.derived import Mapped, Once
from otf.values.enumeration import Enumeration
from otf.values.front import enumerated
from otf.values.reader import name_of
from otf.values.registry import REGISTERED
from otf.values.sameness import fingerprint


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
