"""What kinds of classes there are, and what they are made from."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from enum import Enum, Flag
from functools import reduce
from inspect import signature
from itertools import combinations
from typing import Any, TypeGuard


def is_class(kind: object) -> TypeGuard[type[Any]]:
    """Tell whether something is a class, and not a generic one with arguments."""
    return isinstance(kind, type) and not hasattr(kind, "__args__")


def is_alias(kind: object) -> bool:
    """Tell whether something is another name for a type, as `type Name = ...` declares it."""
    return hasattr(kind, "__value__") and hasattr(kind, "__type_params__")


def is_new_type(kind: object) -> bool:
    """Tell whether something is a `NewType`."""
    return hasattr(kind, "__supertype__")


def is_uuid(kind: object) -> bool:
    """Return whether something is the class of UUIDs: by its name, since its module draws lots, and models do not."""
    return is_class(kind) and (kind.__module__, kind.__qualname__) == ("uuid", "UUID")


def is_record(kind: object) -> bool:
    """Tell whether a class is made from declared fields: a NamedTuple, or a dataclass that takes its fields."""
    if not is_class(kind):
        return False
    if dataclasses.is_dataclass(kind):
        return {field.name for field in dataclasses.fields(kind) if field.init} == set(signature(kind).parameters)
    return hasattr(kind, "_fields") and hasattr(kind, "__annotations__") and issubclass(kind, tuple)


def is_frozen(kind: type[Any]) -> bool:
    """Tell whether the fields of a record cannot be set."""
    return issubclass(kind, tuple) or bool(getattr(kind, "__dataclass_params__").frozen)  # noqa: B009 -- typeshed does not have it


def builder(kind: type[Any], names: list[str]) -> Callable[..., Any]:
    """Return the function from the values of the named fields, in that order, to a record."""
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    if any(field.kw_only for field in fields):
        return lambda *row: kind(**dict(zip(names, row, strict=True)))
    return kind


def members(kind: type[Enum]) -> Iterator[Enum]:
    """Yield the members of an enum; of flags, all combinations."""
    if not issubclass(kind, Flag):
        yield from kind
        return
    for number in range(len(kind) + 1):
        for flags in combinations(kind, number):
            yield reduce(lambda one, other: one | other, flags, kind(0))
