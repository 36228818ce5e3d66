"""When two values are the same: equal, and of the same type, all the way down.

Python has `True == 1 == 1.0`; a system that answers 1 where the model says True is wrong all the same. So states,
inputs and outputs are compared by a key that carries the types.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable
from enum import Enum, Flag
from operator import attrgetter
from typing import Any

_Maker = Callable[[Any], Hashable]


def key(value: object) -> Hashable:
    """Return a hashable stand-in for `value`: two values are the same exactly when their keys are equal.

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
        # combinations of flags need not have a name; the values of other members need not have a hash
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
        # asked of every output, and most have one field or a few
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
    # nan is unlike itself: two hypotheses that differ in nothing would never be found the same
    return (float, "nan") if math.isnan(value) else (float, value)


def _plain(value: Hashable) -> Hashable:
    return value


def _hashed(value: Hashable) -> Hashable:
    # some types have a hash for some of their values only: what has none shall be found here, not in a set somewhere
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
