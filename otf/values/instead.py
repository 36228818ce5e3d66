"""Values that somebody gives instead of those of a type."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sized
from typing import Any, TypeGuard

from otf.errors import UsageError
from otf.values.enumeration import Enumeration
from otf.values.flat import Flat
from otf.values.sameness import fingerprint
from otf.values.strategies import drawn, is_strategy
from otf.values.text import show


def given(source: Any, where: str) -> Enumeration[Any]:  # noqa: ANN401 -- whatever a user gives
    """Return an enumeration as it is, the values of an iterable in its order, or those that a strategy generates."""
    if is_enumeration(source):
        return source
    if is_strategy(source):
        return Enumeration(Flat(drawn(source), fixed=False, complete=False), source)
    if _is_iterable(source):
        return Enumeration(Flat(distinct(source), finite=isinstance(source, Sized), fixed=False))
    message = f"{where}: {show(source)} gives no values: give a type, an iterable, every(...) or a Hypothesis strategy"
    raise UsageError(message)


def distinct(values: Iterable[Any], name: Callable[[Any], Hashable] = fingerprint) -> Iterator[Any]:
    """Yield each value once; `name` says which are the same."""
    seen = dict[Hashable, Any]()
    for value in values:
        named = name(value)
        if named not in seen:
            seen[named] = value
            yield value


def is_enumeration(source: object) -> TypeGuard[Enumeration[Any]]:
    """Tell whether something is an enumeration already."""
    return isinstance(source, Enumeration)


def _is_iterable(source: object) -> TypeGuard[Iterable[Any]]:
    return isinstance(source, Iterable)
