"""Which values are the same, whatever they are made of; and copies of those that can change."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Hashable
from typing import Any

from otf.values.identity import key


def fingerprint(value: Any) -> Hashable:  # noqa: ANN401 -- of any type
    """Return what two values share exactly when they are the same: as `key` does, and for lists, sets and dicts too.

    Values that can neither be hashed nor looked into are compared when this is: what they are equal to, they are.

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
    """Return the key of a value, or where it has none what else tells it from others: for outputs, which are compared.

    A system may answer with a list. What a model is built of needs a key all the same: see `key`.
    """
    try:
        return key(value)
    except TypeError:
        return fingerprint(value)


class _Compared:
    """A value without a hash: it is asked whether it equals another one of its class."""

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
        except Exception:  # noqa: BLE001 -- an array says neither yes nor no: it is the same as itself only
            return False


def fresh(value: Any) -> Any:  # noqa: ANN401 -- as it came
    """Return a copy of what can change in a value that was put together here; the rest is shared.

    A property may sort the list that it is given: the next one must get the list as it was.
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
