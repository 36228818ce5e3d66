"""Checks that a model answers the same call twice in the same way, for every transition of its graph."""

from __future__ import annotations

from typing import Any

from otf.core import Model
from otf.core.repeatable import compare
from otf.explore.graph import Graph, Portless
from otf.spec import Spec


def ask_twice(spec: Spec[Any, Any], graph: Graph) -> None:
    """Ask a model twice for every transition of its graph. Raises ModelError if its answers differ."""
    first, second = Model(spec, Portless()), Model(spec, Portless())
    for model in (first, second):
        for number, state in enumerate(graph.values):
            node = model.node(state)
            model.spontaneous(node)
            for inp in graph.offered(number):
                model.moves(node, model.symbol(graph.inputs[inp]))
    compare(first, second)
