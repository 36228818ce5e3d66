"""Given inputs, in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from otf.core import Symbol, View


class Script:
    """Offers the given inputs one after another; those that the model does not allow (any more) are skipped.

    Skipping instead of stopping is what makes shrinking work: an input that has become senseless takes nothing with it.
    With `truncates` the first such input ends the run all the same.
    """

    def __init__(self, inputs: Iterable[object], *, truncates: bool = False) -> None:
        self._left = deque(inputs)
        self._truncates = truncates
        self.skipped: int = 0

    def choose(self, view: View) -> Symbol | None:
        """Return the next input that is allowed, None after the last."""
        while self._left:
            symbol = view.model.symbol(self._left.popleft())
            if view.allows(symbol):
                return symbol
            if self._truncates:
                self._left.clear()
            self.skipped += 1
        return None
