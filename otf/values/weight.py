"""About how much room a value takes."""

from __future__ import annotations

import sys
from dataclasses import fields, is_dataclass
from typing import Any


def weight(value: Any) -> int:  # noqa: ANN401 -- any value
    """Return about how many bytes of memory a value takes, with what is in it.

    >>> weight("x" * 1000) > 1000, weight((b"x" * 1000,) * 3) > 3000
    (True, True)
    """
    size = sys.getsizeof(value)
    if isinstance(value, (tuple, frozenset)):
        return size + sum(map(weight, value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] -- anything
    if is_dataclass(value):
        return size + sum(weight(getattr(value, field.name, None)) for field in fields(value))
    return size
