"""Graphs as tables for people, and as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from otf.explore.finding import taken
from otf.explore.graph import OPEN, Graph
from otf.explore.marks import Marks, arc_text, state_text
from otf.values import show


def listed(graph: Graph, marks: Marks | None = None) -> str:
    """Return a graph as a table: each state with its marks, and below it its transitions."""
    return "\n".join(_lines(graph, marks or Marks())) + "\n"


def _lines(graph: Graph, marks: Marks) -> Iterator[str]:
    for state in range(len(graph.values)):
        words = marks.of(state)
        yield f"{state:5}  {state_text(graph, state)}" + (f"  ({', '.join(words)})" if words else "")
        for arc in graph.arcs(state):
            yield f"         {arc_text(graph, arc)}  ->  {'?' if arc.target == OPEN else arc.target}"


def as_data(graph: Graph, marks: Marks | None = None) -> dict[str, Any]:
    """Return a graph as JSON data: states and transitions by number, values as texts."""
    return {
        "name": graph.name,
        "whole": graph.whole,
        "cuts": graph.cuts,
        "states": [
            {"number": state, "state": state_text(graph, state), "marks": (marks or Marks()).of(state)}
            for state in range(len(graph.values))
        ],
        "inputs": [show(inp) for inp in graph.inputs],
        "transitions": [
            {
                "source": arc.source,
                "input": None if arc.input < 0 else show(graph.inputs[arc.input]),
                "outputs": list(filter(None, taken(graph, arc.input, arc.outputs).outputs)),
                "target": None if arc.target == OPEN else arc.target,
            }
            for arc in graph.arcs()
        ],
    }
