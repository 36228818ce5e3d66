"""What was said once for all about the values of types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from otf.values.enumeration import Enumeration

REGISTERED: Final[dict[object, Callable[[], Enumeration[Any]]]] = {}


def registered(kind: object) -> Enumeration[Any] | None:
    """Return the values that were registered for a type, if any were."""
    return REGISTERED[kind]() if kind in REGISTERED else None
