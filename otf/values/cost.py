"""What values cost: the memory that one takes, and a dataclass that is quick to make."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeVar, dataclass_transform


def weight(value: Any) -> int:  # noqa: ANN401 -- any value
    """Return about how many bytes of memory a value takes, including its parts.

    >>> weight("x" * 1000) > 1000, weight((b"x" * 1000,) * 3) > 3000
    (True, True)
    """
    size = sys.getsizeof(value)
    if isinstance(value, (tuple, frozenset)):
        return size + sum(map(weight, value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] -- anything
    kind: type = type(value)  # pyright: ignore[reportUnknownVariableType] -- anything
    names = _FIELDS.get(kind)
    if names is None:
        names = _FIELDS[kind] = tuple(each.name for each in fields(kind)) if is_dataclass(kind) else ()
    for name in names:
        size += weight(getattr(value, name, None))
    return size


# every value that was not seen before is weighed, and looking up the fields took most of that
_FIELDS: dict[type, tuple[str, ...]] = {}


Kind = TypeVar("Kind")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def light(kind: type[Kind]) -> type[Kind]:
    """Make a dataclass with slots and a hash; type checkers treat it as frozen.

    A frozen dataclass also guards itself at run time, and takes three times as long to make. Each step of a run makes
    five.
    """
    return dataclass(slots=True, unsafe_hash=True)(kind)
