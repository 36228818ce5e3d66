"""Quotients: large graphs as small ones, so that they can be drawn."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from otf.explore.analysis import blocks
from otf.explore.graph import OPEN, Graph

DRAWN: Final = 300  # states that are drawn one by one: Graphviz takes 3 s for them, and for a thousand more than 30


def quotient(graph: Graph, groups: Sequence[Hashable], texts: Sequence[str] = ()) -> Graph:
    """Return the graph of groups of states, in the order of their first ones; each transition between groups once."""
    numbers: dict[Hashable, int] = {}
    of = [numbers.setdefault(group, len(numbers)) for group in groups]
    made = Graph(graph.name, inputs=graph.inputs, outputs=graph.outputs, texts=graph.texts, cuts=graph.cuts)
    made.values = [texts[group] if texts else graph.values[of.index(group)] for group in range(len(numbers))]
    arcs: list[dict[tuple[int, int, int], None]] = [{} for _ in numbers]
    for arc in graph.arcs():
        target = OPEN if arc.target == OPEN else of[arc.target]
        arcs[of[arc.source]].setdefault((arc.input, arc.outputs, target))
    for row in arcs:
        made.begin.append(len(made.target))
        for inp, outputs, target in row:
            made.input.append(inp)
            made.output.append(outputs)
            made.target.append(target)
    made.begin.append(len(made.target))
    made.edge = sorted({of[state] for state in graph.edge})
    return made


def drawable(graph: Graph, most: int = DRAWN) -> tuple[Graph, str]:
    """Return a graph that is small enough to be drawn, and what was done to it; "" where it is as it was.

    States that are alike become one; where that is not enough, those of the same kind at the same distance.
    """
    if len(graph.values) <= most:
        return graph, ""
    alike = blocks(graph)
    if max(alike) < most:
        return quotient(
            graph, alike
        ), f"{len(graph.values):,} states are too many to draw: states that are alike are one"
    levels = depths(graph)
    kinds = [(level, type(value).__name__) for level, value in zip(levels, graph.values, strict=True)]
    names = list(dict.fromkeys(kinds))
    texts = [f"{kinds.count(each):,} x {each[1]} after {each[0]}" for each in names]
    done = f"{len(graph.values):,} states are too many to draw: those of a kind and distance are one"
    return quotient(graph, kinds, texts), done


def depths(graph: Graph) -> list[int]:
    """Return for each state how many transitions it is away from the initial one."""
    found = [0] * len(graph.values)
    for state in range(1, len(graph.values)):
        found[state] = found[graph.source(graph.parent[state])] + 1
    return found
