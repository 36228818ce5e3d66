"""The numbers that PyModel's analyzer prints of an exploration."""

from __future__ import annotations

from typing import NamedTuple

from otf.compat.pymodel.product import Composition
from otf.explore import Graph, explore


class Numbers(NamedTuple):
    """How many states, transitions and kinds of states there are; `whole`: no bound cut anything off.

    Finished states have no way out and a run may end there, dead ends have none and it may not.
    """

    states: int
    transitions: int
    accepting: int
    unsafe: int
    finished: int
    dead_ends: int
    whole: bool


def explored(spec: Composition, limit: int = 100_000) -> Numbers:
    """Explore a product and return its numbers: those of all runs together, where it has test suites."""
    each = [_numbers(run, explore(run, limit)) for run in spec.runs]
    sums = [sum(column) for column in zip(*(numbers[:6] for numbers in each), strict=True)]
    return Numbers(*sums[:6], all(numbers.whole for numbers in each))  # type: ignore[arg-type,call-arg] # there are six


def _numbers(spec: Composition, graph: Graph) -> Numbers:
    ends = [spec.accepting(state) for state in graph.values]
    left = {arc.source for arc in graph.arcs()}.union(graph.edge)
    stuck = [number for number in range(len(ends)) if number not in left]
    unsafe = sum(not spec.safe(state) for state in graph.values)
    finished = sum(ends[number] for number in stuck)
    size = len(graph.values), len(graph.target)
    return Numbers(*size, sum(ends), unsafe, finished, len(stuck) - finished, graph.whole)
