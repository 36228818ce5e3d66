"""The values that a path sends in place of a sample's: a strategy chooses an input, and this module its value."""

from __future__ import annotations

from otf.core import Symbol, View
from otf.spec.redrawing import Redraw, Redrawn


class FreshValues:
    """The values that a Hypothesis strategy generates for one path, with the path's seed.

    On each path, five of eight inputs of the sample stand for other values. The rest keep theirs, which strategies
    count, with the smallest and largest first.
    """

    def __init__(self, redraw: Redraw, seed: str) -> None:
        # now, not at the first choice: it takes some 20 ms, which would keep a running system waiting
        self._redrawn: Redrawn = redraw(seed)
        self._edges = set[object]()

    def instead(self, view: View, chosen: Symbol) -> Symbol:
        """Return what to send for a chosen input: the input itself, unless the model also allows its replacement."""
        found = next(filter(None, (self._redrawn(node.value, chosen.value) for node in view.nodes)), None)
        if found is None:
            return chosen
        edge = next((inp for inp in map(view.model.symbol, found.edges) if self._may_begin(view, inp, chosen)), None)
        other = edge or view.model.symbol(found.value)
        return other if _as_well(view, other, chosen) else chosen

    def _may_begin(self, view: View, edge: Symbol, chosen: Symbol) -> bool:
        if edge.key in self._edges or not _as_well(view, edge, chosen):
            return False
        self._edges.add(edge.key)
        return True


def _as_well(view: View, inp: Symbol, chosen: Symbol) -> bool:
    return view.allows(inp) and view.specifies(inp) == view.specifies(chosen)
