"""A finite deterministic machine in numbers: what suites are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeAlias

from otf.errors import UsageError
from otf.explore import Graph
from otf.explore.graph import OPEN, SPONTANEOUS
from otf.suite.labels import labels
from otf.values import show

NOTHING: Final = -1  # the next state where an input is not specified
Word: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class NumberedMachine:
    """`next[state][input]` and `out[state][input]`, both `NOTHING` where unspecified; the initial state is 0.

    Outputs are numbers of labels: two with different numbers can always be told apart, and `silent` is that of no
    output. `notes` say what was done to the machine since it was explored, and what a guarantee has to say besides.
    `exact` are the outputs with numbers under which only the same are one: all that may come instead of one another.
    """

    name: str
    states: Sequence[Any]
    inputs: Sequence[Any]
    next: list[list[int]]
    out: list[list[int]]
    silent: int = 0
    notes: tuple[str, ...] = field(default=())
    exact: Sequence[Sequence[frozenset[int]]] = field(default=())

    @property
    def size(self) -> int:
        """Return the number of states."""
        return len(self.next)

    @cached_property
    def transitions(self) -> list[tuple[int, int]]:
        """Return state and input of every specified transition."""
        columns = range(len(self.inputs))
        return [(state, inp) for state in range(self.size) for inp in columns if self.next[state][inp] != NOTHING]

    @property
    def complete(self) -> bool:
        """Tell whether every input is specified in every state."""
        return len(self.transitions) == self.size * len(self.inputs)

    def run(self, word: Word, state: int = 0) -> tuple[list[int], int]:
        """Return the outputs on a word, and the state after it; every input must be specified."""
        outputs: list[int] = []
        for inp in word:
            outputs.append(self.out[state][inp])
            state = self.next[state][inp]
        return outputs, state

    def values(self, word: Word) -> list[Any]:
        """Return the inputs of a word."""
        return [self.inputs[inp] for inp in word]


def machine(graph: Graph) -> NumberedMachine:
    """Return the machine of a graph. Raises UsageError for one that has no suite, and says why."""
    whole(graph)
    numbers, silent, written, notes = labels(graph)
    size, width = len(graph.values), len(graph.inputs)
    next_ = [[NOTHING] * width for _ in range(size)]
    out = [[NOTHING] * width for _ in range(size)]
    exact = [[frozenset[int]()] * width for _ in range(size)]
    for arc in graph.arcs():
        known = next_[arc.source][arc.input], out[arc.source][arc.input]
        if known not in {(NOTHING, NOTHING), (arc.target, numbers[arc.outputs])}:
            message = (
                f"{graph.name} is nondeterministic: in {show(graph.values[arc.source])} there are several transitions "
                f"on {show(graph.inputs[arc.input])}; a fixed list of inputs cannot follow it: use a method "
                "whose tests decide by the outputs (state-counting, adaptive-cover), or `otf run`"
            )
            raise UsageError(message)
        next_[arc.source][arc.input], out[arc.source][arc.input] = arc.target, numbers[arc.outputs]
        exact[arc.source][arc.input] |= {written[arc.outputs]}
    return NumberedMachine(graph.name, graph.values, graph.inputs, next_, out, silent, (*sampled(graph), *notes), exact)


def sampled(graph: Graph) -> tuple[str, ...]:
    """Return the note that a suite needs whose inputs are a sample."""
    sample = graph.bounds.get("values")
    return (f"{sample} alone are sent: what others do is not known",) if sample else ()


def whole(graph: Graph) -> None:
    """Raise UsageError for a graph that no suite can be made of, and say why."""
    if graph.edge:
        cuts = ", ".join(f"{bound} ({times})" for bound, times in graph.cuts.items())
        message = (
            f"{graph.name} has more states than were explored: {len(graph.values)}, cut by {cuts}; "
            "give fewer values, or restrict its states"
        )
        raise UsageError(message)
    if SPONTANEOUS in graph.input:
        message = f"{graph.name} has outputs that come unasked; a fixed list of inputs cannot tell when: use `otf run`"
        raise UsageError(message)
    if OPEN in graph.target:
        message = (
            f"{graph.name} has states that depend on the outputs seen (Accept); make no suite of it: use `otf run`"
        )
        raise UsageError(message)
