"""The types in a value, without the value: all that is left to compare once two values are equal."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from enum import Enum
from operator import attrgetter
from typing import Any

_Shaper = Callable[[Any], Any]


def shape(value: object) -> Any:  # noqa: ANN401 -- a nest of types, good for nothing but comparing
    """Return the types in a value: of two equal values, those with equal shapes are the same value.

    Cheaper than `key`, where equality was found by other means already.

    >>> (True, 1) == (1, 1.0), shape((True, 1)) == shape((1, 1.0))
    (True, False)
    """
    kind = type(value)
    if kind in _PLAIN:
        return kind
    shaper = _SHAPERS.get(kind)
    if shaper is None:
        shaper = _SHAPERS[kind] = _shaper(kind)
    return shaper(value)


def _shaper(kind: type[Any]) -> _Shaper:
    if issubclass(kind, tuple):
        return lambda value: (kind, *map(shape, value))
    if issubclass(kind, frozenset):
        # equal sets have no order in common: what they hold is compared whole
        return lambda value: (kind, frozenset((shape(item), item) for item in value))
    if dataclasses.is_dataclass(kind) and not issubclass(kind, Enum):
        names = [field.name for field in dataclasses.fields(kind) if field.compare]
        return _fields(kind, names) if names else lambda _value: kind
    return lambda _value: kind


def _fields(kind: type[Any], names: list[str]) -> _Shaper:
    get = attrgetter(*names)
    if len(names) == 1:
        return lambda value: (kind, shape(get(value)))

    def of(value: object) -> Any:  # noqa: ANN401 -- as above
        kinds = tuple(map(type, get(value)))
        return kinds if kinds in _FLAT or _flat(kinds) else (kind, *map(shape, get(value)))

    return of


def _flat(kinds: tuple[type, ...]) -> bool:
    """Tell whether there is nothing inside values of these types, and remember those of which it is true."""
    if not all(kind in _PLAIN for kind in kinds) or len(_FLAT) >= REMEMBERED:
        return False
    _FLAT.add(kinds)
    return True


REMEMBERED = 10_000
_PLAIN = frozenset({str, int, bool, float, bytes, type(None)})
_FLAT: set[tuple[type, ...]] = set()
_SHAPERS: dict[type, _Shaper] = {}
