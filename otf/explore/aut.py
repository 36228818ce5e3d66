"""Graphs as Aldebaran files."""

from __future__ import annotations

from otf.errors import UsageError
from otf.explore.finding import taken
from otf.explore.graph import OPEN, SPONTANEOUS, Arc, Graph
from otf.values import show


def aut(graph: Graph) -> str:
    """Return a graph as an Aldebaran file; `otf.fronts.read_aut` reads it back. Labels are `input / outputs`."""
    if OPEN in graph.target:
        message = f"{graph.name}: transitions whose outputs decide the next state have no place in an .aut file"
        raise UsageError(message)
    rows = [f'({arc.source}, "{_escaped(_label(graph, arc))}", {arc.target})' for arc in graph.arcs()]
    return "\n".join([f"des (0, {len(rows)}, {len(graph.values)})", *rows]) + "\n"


def _label(graph: Graph, arc: Arc) -> str:
    # texts as they are, so that a file which was read is written again as it was
    inp = "(unasked)" if arc.input == SPONTANEOUS else _bare(graph.inputs[arc.input])
    plain = all(isinstance(each, str) for each in graph.outputs[arc.outputs])
    outputs = map(_bare, graph.outputs[arc.outputs]) if plain else taken(graph, arc.input, arc.outputs).outputs
    return f"{inp} / {', '.join(filter(None, outputs)) or 'nothing'}"


def _bare(value: object) -> str:
    return value if isinstance(value, str) else show(value)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
