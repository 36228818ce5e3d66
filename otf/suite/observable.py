"""An observable machine: the model may leave the system a choice, and the outputs tell which one it took.

From each state at most one next state goes with what is seen after an input. So the model's state is known after each
step, and what a test does next can depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from otf.errors import UsageError
from otf.explore import Graph
from otf.suite.labels import lookalikes
from otf.suite.machine import sampled, whole
from otf.values import show

Ends = dict[int, int]
"""For each output that may come, by number, the next state."""


@dataclass(frozen=True)
class Observable:
    """`ends[state][input]`: what may come and where it leads; an input that is not there is not specified.

    `same` holds the pairs of outputs, by number, that may look the same, each with itself. The initial state is 0.
    """

    name: str
    states: Sequence[Any]
    inputs: Sequence[Any]
    ends: Sequence[dict[int, Ends]]
    same: frozenset[tuple[int, int]]
    notes: tuple[str, ...] = field(default=())

    @property
    def size(self) -> int:
        """Return the number of states."""
        return len(self.ends)

    def targets(self, state: int, inp: int) -> list[int]:
        """Return the states that an input may lead to, each once."""
        return list(dict.fromkeys(self.ends[state][inp].values()))

    def both(self, one: int, other: int, inp: int) -> list[tuple[int, int]]:
        """Return the pairs of next states that two states may be in after the same outputs."""
        here, there = self.ends[one][inp], self.ends[other][inp]
        return list(
            dict.fromkeys((to, also) for a, to in here.items() for b, also in there.items() if (a, b) in self.same)
        )


def observable(graph: Graph) -> Observable:
    """Return the observable machine of a graph. Raises UsageError for one that is none, and says why."""
    whole(graph)
    ends: list[dict[int, Ends]] = [{} for _ in graph.values]
    same = _same(graph)
    for arc in graph.arcs():
        known = ends[arc.source].setdefault(arc.input, {})
        for output, target in known.items():
            if target != arc.target and (output, arc.outputs) in same:
                raise UsageError(_unobservable(graph, arc.source, arc.input, (target, arc.target)))
        known[arc.outputs] = arc.target
    return Observable(graph.name, graph.values, graph.inputs, ends, same, sampled(graph))


def _same(graph: Graph) -> frozenset[tuple[int, int]]:
    found = list(lookalikes(graph.outputs))
    return frozenset([*found, *((b, a) for a, b in found), *((each, each) for each in range(len(graph.outputs)))])


def _unobservable(graph: Graph, source: int, inp: int, targets: tuple[int, int]) -> str:
    one, other = (show(graph.values[each]) for each in targets)
    return (
        f"{graph.name} is not observable: in {show(graph.values[source])}, {show(graph.inputs[inp])} may lead to {one} "
        f"and to {other} with outputs that look the same; no test can know which: use `otf run`"
    )
