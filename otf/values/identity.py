"""When two values are the same: they are equal and have the same types, all the way down.

In Python `True == 1 == 1.0`, but a system that answers 1 where the model has True is wrong. So states, inputs and
outputs are compared by a key that contains the types.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable
from enum import Enum, Flag
from operator import attrgetter
from typing import Any

_Maker = Callable[[Any], Hashable]
_Shaper = Callable[[Any], Any]
REMEMBERED = 10_000  # combinations of types
_PLAIN_TYPES = frozenset({str, int, bool, float, bytes, type(None)})
_FLAT: set[tuple[type, ...]] = set()
_SHAPERS: dict[type, _Shaper] = {}


def key(value: object) -> Hashable:
    """Return the key of a value: it can be hashed, and two values are the same exactly when their keys are equal.

    Raises TypeError for a value that cannot be hashed; the message names the type.

    >>> key(True) == key(1), key((1, "a")) == key((1, "a"))
    (False, True)
    """
    kind = type(value)
    maker = _MAKERS.get(kind)
    if maker is None:
        maker = _MAKERS[kind] = _maker(kind)
    return maker(value)


def _maker(kind: type[Any]) -> _Maker:
    if issubclass(kind, Enum):
        # a combination of flags may have no name, and the value of another member may have no hash
        return _flag if issubclass(kind, Flag) else _member
    if issubclass(kind, tuple):
        return _tuple
    if issubclass(kind, frozenset):
        return _frozenset
    if getattr(kind, "__hash__", None) is None:
        return _refuse
    if dataclasses.is_dataclass(kind) and kind.__eq__ is not object.__eq__:
        return _fields(kind)
    return _hashed


def _fields(kind: type[Any]) -> _Maker:
    names = [field.name for field in dataclasses.fields(kind) if field.compare]
    if len(names) == 1:
        # the key of every output is computed, and most outputs have one field or a few
        only = attrgetter(names[0])
        return lambda value: (kind, key(only(value)))
    return lambda value: (kind, *[key(getattr(value, name)) for name in names])


def _flag(value: Flag) -> Hashable:
    return type(value), value.value


def _member(value: Enum) -> Hashable:
    return type(value), value.name


def _tuple(value: tuple[object, ...]) -> Hashable:
    return type(value), *map(key, value)


def _frozenset(value: frozenset[object]) -> Hashable:
    return type(value), frozenset(map(key, value))


def _float(value: float) -> Hashable:
    # nan does not equal itself: two hypotheses that differ in nothing would never be merged
    return (float, "nan") if math.isnan(value) else (float, value)


def _plain(value: Hashable) -> Hashable:
    return value


def _hashed(value: Hashable) -> Hashable:
    # some types have a hash for some of their values only: the error shall be raised here, not by a set somewhere
    hash(value)
    return type(value), value


def _refuse(value: object) -> Hashable:
    name = type(value).__name__
    message = f"a {name} can change and has no hash: use a tuple, a frozenset or a frozen dataclass instead"
    raise TypeError(message)


_MAKERS: dict[type, _Maker] = {
    str: _plain,
    bytes: _plain,
    type(None): _plain,
    int: lambda value: (int, value),
    bool: lambda value: (bool, value),
    float: _float,
}


def shape(value: object) -> Any:  # noqa: ANN401 -- a nest of types, good for nothing but comparing
    """Return the types in a value: two equal values are the same if their shapes are equal.

    This is cheaper than `key` if equality is already known.

    >>> (True, 1) == (1, 1.0), shape((True, 1)) == shape((1, 1.0))
    (True, False)
    """
    kind = type(value)
    if kind in _PLAIN_TYPES:
        return kind
    shaper = _SHAPERS.get(kind)
    if shaper is None:
        shaper = _SHAPERS[kind] = _shaper(kind)
    return shaper(value)


def _shaper(kind: type[Any]) -> _Shaper:
    if issubclass(kind, tuple):
        return lambda value: (kind, *map(shape, value))
    if issubclass(kind, frozenset):
        # two equal sets may iterate in different orders: so their items are compared as well
        return lambda value: (kind, frozenset((shape(item), item) for item in value))
    if dataclasses.is_dataclass(kind) and not issubclass(kind, Enum):
        names = [field.name for field in dataclasses.fields(kind) if field.compare]
        return _field_shaper(kind, names) if names else lambda _value: kind
    return lambda _value: kind


def _field_shaper(kind: type[Any], names: list[str]) -> _Shaper:
    get = attrgetter(*names)
    if len(names) == 1:
        return lambda value: (kind, shape(get(value)))

    def of(value: object) -> Any:  # noqa: ANN401 -- as above
        kinds = tuple(map(type, get(value)))
        return kinds if kinds in _FLAT or _is_flat(kinds) else (kind, *map(shape, get(value)))

    return of


def _is_flat(kinds: tuple[type, ...]) -> bool:
    """Return whether values of these types have no parts, and remember the types if so."""
    if not all(kind in _PLAIN_TYPES for kind in kinds) or len(_FLAT) >= REMEMBERED:
        return False
    _FLAT.add(kinds)
    return True
