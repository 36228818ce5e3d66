"""Calls of the model's functions: the one that runs now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

ModelCall: TypeAlias = tuple[str, tuple[object, ...]]
"""The name of a model function, and its arguments."""


class CurrentCall:
    """Holds the call that runs now, None between calls. Each call is an object of its own.

    A watchdog in another thread reads it to report a model that hangs. `seconds` is the total time of all calls on
    `clock`. The core has no clock of its own; the default always reads 0.
    """

    def __init__(self) -> None:
        self.now: ModelCall | None = None
        self.clock: Callable[[], float] = float
        self.seconds: float = 0.0


CURRENT: Final = CurrentCall()
