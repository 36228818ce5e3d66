"""What a model is asked at this moment: known to a watchdog in another thread, which tells of a model that hangs."""

from __future__ import annotations

from typing import Final, TypeAlias

ModelQuestion: TypeAlias = tuple[str, tuple[object, ...]]
"""A function of the model, and what it was called with."""


class OpenQuestion:
    """Holds the question that is being asked, None between two; each is an object of its own."""

    def __init__(self) -> None:
        self.now: ModelQuestion | None = None


ASKING: Final = OpenQuestion()
