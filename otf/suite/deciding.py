"""One adaptive test at work."""

from __future__ import annotations

from collections.abc import Mapping

from otf.core import Node, Symbol, View
from otf.errors import ModelError
from otf.suite.adaptive import AdaptiveSuite
from otf.values import show


class Deciding:
    """Chooses the inputs of one test, by the state that the outputs have led the model to."""

    def __init__(self, suite: AdaptiveSuite, numbers: Mapping[Node, int], test: int) -> None:
        self._suite = suite
        self._numbers = numbers
        self._next: Mapping[int, int] = {0: test}

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None where the test ends. Raises ModelError where the state is not known."""
        if not self._next:
            return None
        decision = self._next.get(self._state(view))
        self._next = {}
        if decision is None:
            return None
        row = self._suite.decisions.rows[decision]
        self._next = dict(row.then)
        inp = view.model.symbol(self._suite.machine.inputs[row.input])
        # a test that was changed in its file may send what the model leaves open there
        return inp if view.allows(inp) else None

    def _state(self, view: View) -> int:
        known = [self._numbers.get(node) for node in view.nodes]
        if len(known) != 1 or known[0] is None:
            names = ", ".join(show(node.value) for node in view.nodes)
            message = f"{self._suite.name}: the outputs do not tell which state it is in ({names}); use `otf run`"
            raise ModelError(message)
        return known[0]
