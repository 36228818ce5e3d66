"""When two values are the same: equal and with the same types, all the way down; copies; and how large values are.

In Python `True == 1 == 1.0`; but if the model says True, a system that answers 1 is wrong. So states, inputs and
outputs are compared by a key that contains the types.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum, Flag
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

_Maker = Callable[[Any], Hashable]


def key(value: object) -> Hashable:
    """Return the key of a hashable value: two values are equal for otf exactly when their keys are equal.

    For example, `True` and `1` have different keys, although `True == 1` in Python. `key` raises TypeError for a value
    without a hash; the message names the value's type.

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
        # a combination of flags may have no name, and the value of other members may have no hash
        return (lambda value: (kind, value.value)) if issubclass(kind, Flag) else (lambda value: (kind, value.name))
    if issubclass(kind, tuple):
        return _tuple
    if issubclass(kind, frozenset):
        return _frozenset
    if getattr(kind, "__hash__", None) is None:
        return _refuse
    if dataclasses.is_dataclass(kind) and kind.__eq__ is not object.__eq__:
        return _fields(kind)
    return _hash_key


def _fields(kind: type[Any]) -> _Maker:
    names = [field.name for field in dataclasses.fields(kind) if field.compare]
    if len(names) == 1:
        # the key of every output is computed, and most outputs have at most a few fields
        only = attrgetter(names[0])
        return lambda value: (kind, key(only(value)))
    if not names:
        return lambda _value: (kind,)
    parts: Callable[[object], tuple[object, ...]] = attrgetter(*names)
    return lambda value: (kind, *_parts(parts(value)))


def _parts(values: tuple[object, ...]) -> list[Hashable]:
    # most parts of values are texts and numbers, and a call for each took half of the time
    return [each if each.__class__ is str else (int, each) if each.__class__ is int else key(each) for each in values]


def _tuple(value: tuple[object, ...]) -> Hashable:
    return type(value), *_parts(value)


def _frozenset(value: frozenset[object]) -> Hashable:
    return type(value), frozenset(map(key, value))


def _float(value: float) -> Hashable:
    # nan does not equal itself: hypotheses that differ in nothing would never be merged
    return (float, "nan") if math.isnan(value) else (float, value)


def _plain(value: Hashable) -> Hashable:
    return value


def _hash_key(value: Hashable) -> Hashable:
    # only some values of certain types have a hash: raise the error here, not in a set somewhere
    hash(value)
    if not value == value:  # noqa: PLR0124, SIM201 -- as with a mistake in `__eq__`, or a nan
        message = f"a {type(value).__name__} that does not equal itself would never be met again: mend its __eq__"
        raise TypeError(message)
    return type(value), value


def _refuse(value: object) -> Hashable:
    kind = type(value)
    what = f"{'a ' * (kind.__module__ == 'builtins')}{kind.__name__}"
    raise TypeError(f"{what} can change and has no hash: use a tuple, a frozenset or a frozen dataclass instead")


_MAKERS: dict[type, _Maker] = {
    str: _plain,
    bytes: _plain,
    type(None): _plain,
    int: lambda value: (int, value),
    bool: lambda value: (bool, value),
    float: _float,
}


def fingerprint(value: Any) -> Hashable:  # noqa: ANN401 -- of any type
    """Return a key for any value, even for a list, set or dict: two values are equal for otf if their keys are.

    If a value has no hash, and otf does not know its parts, the key compares the value itself with `==`.

    >>> fingerprint([1]) == fingerprint([1]), fingerprint([1]) == fingerprint([True])
    (True, False)
    """
    kind = _class_of(value)
    if _is_a(kind, list, tuple):
        return kind, *map(fingerprint, value)
    if _is_a(kind, set, frozenset):
        return kind, frozenset(map(fingerprint, value))
    if _is_a(kind, dict):
        return kind, frozenset((fingerprint(name), fingerprint(held)) for name, held in value.items())
    if dataclasses.is_dataclass(kind) and kind.__eq__ is not object.__eq__:
        return kind, *(fingerprint(getattr(value, each.name)) for each in dataclasses.fields(kind) if each.compare)
    try:
        return key(value)
    except TypeError:
        return _Compared(value)


def likeness(value: object) -> Hashable:
    """Return the key with which otf compares outputs; unlike `key`, `likeness` also takes values without a hash.

    For example, a system may answer with a list. The states and inputs of a model need a hash.

    >>> likeness([1]) == likeness([1]), likeness([1]) == likeness([True])
    (True, False)
    """
    try:
        return key(value)
    except TypeError:
        return fingerprint(value)


class _Compared:
    """A value without a hash: compared to other values of its class with `==`."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value: object = value

    def __hash__(self) -> int:
        return hash(type(self.value))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Compared) or type(self.value) is not type(other.value):
            return False
        try:
            return self.value is other.value or bool(self.value == other.value)
        except Exception:  # noqa: BLE001 -- the truth of an array comparison is an error: an array is the same as itself only
            return False


def fresh(value: Any) -> Any:  # noqa: ANN401 -- as it came
    """Return a copy of a value with new lists, dicts, sets and mutable dataclasses; immutable parts are shared.

    For example, a property may sort the list that it receives, and the next property still gets the list unsorted.

    >>> table = [3, 1]
    >>> copied = fresh(table)
    >>> copied.sort()
    >>> table, copied
    ([3, 1], [1, 3])
    """
    kind = _class_of(value)
    if kind is list:
        return [fresh(item) for item in value]
    if kind is dict:
        return {name: fresh(item) for name, item in value.items()}
    if kind is set:
        return set(value)
    if _is_a(kind, tuple):
        items = map(fresh, value)
        return tuple(items) if kind is tuple else kind(*items)
    return _renewed(value) if dataclasses.is_dataclass(kind) else value


def _class_of(value: object) -> type[Any]:
    return type(value)


def _is_a(kind: type[Any], *kinds: type[Any]) -> bool:
    return issubclass(kind, kinds)


def _renewed(value: Any) -> Any:  # noqa: ANN401 -- as it came
    renewed = copy.copy(value)
    for part in dataclasses.fields(value):
        if hasattr(value, part.name):
            object.__setattr__(renewed, part.name, fresh(getattr(value, part.name)))
    return renewed


def weight(value: Any) -> int:  # noqa: ANN401 -- any value
    """Return roughly how many bytes of memory a value and its parts take.

    >>> weight("x" * 1000) > 1000, weight((b"x" * 1000,) * 3) > 3000
    (True, True)
    """
    size = sys.getsizeof(value)
    if isinstance(value, (tuple, frozenset)):
        return size + sum(map(weight, value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] -- anything
    kind: type = type(value)  # pyright: ignore[reportUnknownVariableType] -- anything
    for name in _field_names(kind):
        size += weight(getattr(value, name, None))
    return size


@cache  # every new value is weighed, and looking up the fields took most of that time
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind)) if is_dataclass(kind) else ()


Kind = TypeVar("Kind")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def light(kind: type[Kind]) -> type[Kind]:
    """Make a dataclass with slots and a hash; type checkers treat it as frozen.

    A frozen dataclass also guards itself at run time, and takes three times as long to create. Each step of a run
    creates five.
    """
    return dataclass(slots=True, unsafe_hash=True)(kind)
