"""Given inputs, in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from otf.core import Symbol, View
from otf.errors import ModelError
from otf.values import show


class Script:
    """Offers the given inputs one after another; those that the model does not allow (any more) are skipped.

    Skipping instead of stopping is what makes shrinking work: an input that has become senseless takes nothing with it.
    With `truncates` the first such input ends the run all the same; without `skip` it raises ModelError when chosen.
    """

    def __init__(self, inputs: Iterable[object], *, truncates: bool = False, skip: bool = True) -> None:
        self._left = deque(inputs)
        self._truncates = truncates
        self._skip = skip
        self._sent = 0
        self.skipped: int = 0

    def choose(self, view: View) -> Symbol | None:
        """Return the next input that is allowed, None after the last."""
        while self._left:
            symbol = view.model.symbol(self._left.popleft())
            if view.allows(symbol):
                self._sent += 1
                return symbol
            if not self._skip:
                states = " or ".join(show(node.value) for node in view.nodes)
                where = f"input {self._sent + 1} of the script, {show(symbol.value)}, is not allowed in {states}"
                raise ModelError(f"{where}: was it allowed where the script was made? Then the model changed meanwhile")
            if self._truncates:
                self._left.clear()
            self.skipped += 1
        return None
