"""Which values are the same, also mutable ones and those without a hash; and copies of mutable values."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Hashable
from typing import Any

from otf.values.identity import key


def fingerprint(value: Any) -> Hashable:  # noqa: ANN401 -- of any type
    """Return a key of any value, also of lists, sets and dicts; two values are the same exactly when it is equal.

    For a value without a hash and without known parts, comparing its key compares the value itself by `==`.

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
    """Return the key of an output; unlike `key` it also works for values that cannot be hashed.

    A system may answer with a list. The states and inputs of a model still need a `key`.

    >>> likeness([1]) == likeness([1]), likeness([1]) == likeness([True])
    (True, False)
    """
    try:
        return key(value)
    except TypeError:
        return fingerprint(value)


class _Compared:
    """A value without a hash: it is compared to other values of its class by `==`."""

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
    """Return a value with copies of its mutable parts: lists, dicts, sets and dataclasses; the rest is shared.

    A property may sort the list that it receives: the next one must get the list unsorted.

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
    for field in dataclasses.fields(value):
        if hasattr(value, field.name):
            object.__setattr__(renewed, field.name, fresh(getattr(value, field.name)))
    return renewed
