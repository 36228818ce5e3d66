"""Which states are alike (bisimilar), and smaller graphs in which they are one.

Partition refinement: only states whose successors moved are examined again. Of the parts of a split set the largest
keeps its number, so that each state moves at most log n times (Hopcroft 1971; Valmari 2009).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Any, Final, TypeAlias

from otf.explore.graph import OPEN, Graph
from otf.explore.naming import observed, output_name

DRAWN: Final = 300  # states that are drawn one by one: Graphviz takes 3 s for 300, and more than 30 s for a thousand
Arcs: TypeAlias = Sequence[Sequence[tuple[Hashable, int]]]  # for each state, labels and next states
_BlockSignature: TypeAlias = frozenset[tuple[Hashable, int]]

CUT: Final = -2  # instead of the number of an input: what a state has beyond a bound


def refine(arcs: Arcs) -> list[int]:
    """Return for each state the number of its block of bisimilar states; blocks are in the order of their first states.

    >>> refine([[("a", 1)], [("a", 0)], [("b", 0)]])
    [0, 0, 1]
    """
    parts = _Parts(arcs)
    while parts.moved:
        parts.look_again()
    known: dict[int, int] = {}
    return [known.setdefault(block, len(known)) for block in parts.block]


class _Parts:
    """The sets, as stretches of one list of states; the states of a set that are examined again come first in it."""

    def __init__(self, arcs: Arcs) -> None:
        size = len(arcs)
        self._arcs = arcs
        self._before = defaultdict[int, set[int]](set)
        for state, row in enumerate(arcs):
            for _, target in row:
                self._before[target].add(state)
        self.block = [0] * size
        self._states, self._place = list(range(size)), list(range(size))
        self._stretch = [(0, size)]
        self.moved: set[int] = set(range(size))  # states to examine again

    def look_again(self) -> None:
        """Split the sets of all states whose successors have moved."""
        marked = self._marked()
        # all are examined before any is moved: the signatures of untouched states stay valid meanwhile
        groups = [self._groups(block, count) for block, count in marked.items()]
        self.moved = set()
        for block, parts in zip(marked, groups, strict=True):
            self._split(block, parts)

    def _marked(self) -> dict[int, int]:
        """Move the marked states to the front of their stretches; return how many there are in each."""
        counts = defaultdict[int, int](int)
        for state in self.moved:
            block = self.block[state]
            self._swap(self._place[state], self._stretch[block][0] + counts[block])
            counts[block] += 1
        return counts

    def _groups(self, block: int, count: int) -> list[list[int]]:
        """Return the marked states of a set by signature; those that are like the unmarked ones come last."""
        begin, end = self._stretch[block]
        groups = defaultdict[_BlockSignature, list[int]](list)
        for state in self._states[begin : begin + count]:
            groups[self._signature(state)].append(state)
        alike = groups.pop(self._signature(self._states[begin + count]), []) if begin + count < end else []
        return [*groups.values(), alike]

    def _split(self, block: int, parts: list[list[int]]) -> None:
        begin, end = self._stretch[block]
        place, stretches = begin, list[tuple[int, int]]()
        for part in parts:
            stretches.append((place, place + len(part)))
            for state in part:
                self._states[place], self._place[state] = state, place
                place += 1
        stretches[-1] = (stretches[-1][0], end)
        *smaller, largest = sorted(filter(_length, stretches), key=_length)
        self._stretch[block] = largest
        for stretch in smaller:
            self._move(stretch)

    def _move(self, stretch: tuple[int, int]) -> None:
        for state in self._states[slice(*stretch)]:
            self.block[state] = len(self._stretch)
            self.moved |= self._before[state]
        self._stretch.append(stretch)

    def _swap(self, one: int, other: int) -> None:
        states, place = self._states, self._place
        states[one], states[other] = states[other], states[one]
        place[states[one]], place[states[other]] = one, other

    def _signature(self, state: int) -> _BlockSignature:
        return frozenset([(label, self.block[at] if at >= 0 else at) for label, at in self._arcs[state]])


def _length(stretch: tuple[int, int]) -> int:
    return stretch[1] - stretch[0]


def blocks(graph: Graph) -> list[int]:
    """Return for each state of a graph the number of its block of bisimilar states; one that a bound cut is alone."""
    seen: dict[Any, int] = {}
    labels = [seen.setdefault(output_name(observed(each)), len(seen)) for each in graph.outputs]
    rows = [
        [((arc.input, labels[arc.outputs]), arc.target) for arc in graph.arcs(state)]
        for state in range(len(graph.values))
    ]
    for state in graph.edge:
        rows[state].append(((CUT, state), state))
    return refine(rows)


def quotient(graph: Graph, groups: Sequence[Hashable], texts: Sequence[str] = ()) -> Graph:
    """Return the graph of groups of states, in the order of their first states; equal transitions become one."""
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
    """Return a graph that is small enough to draw, and a note on how it was made smaller; "" if it was not.

    States that are alike become one; if that is not enough, states of the same type at the same distance do.
    """
    if len(graph.values) <= most:
        return graph, ""
    alike = blocks(graph)
    if max(alike) < most:
        return quotient(
            graph, alike
        ), f"{len(graph.values):,} states are too many to draw: states that are alike are drawn as one"
    levels = depths(graph)
    kinds = [(level, type(value).__name__) for level, value in zip(levels, graph.values, strict=True)]
    names = list(dict.fromkeys(kinds))
    texts = [f"{kinds.count(each):,} x {each[1]} after {each[0]}" for each in names]
    done = f"{len(graph.values):,} states are too many to draw: those of a type and distance are drawn as one"
    return quotient(graph, kinds, texts), done


def depths(graph: Graph) -> list[int]:
    """Return the distance of each state from the initial one, in transitions."""
    found = [0] * len(graph.values)
    for state in range(1, len(graph.values)):
        found[state] = found[graph.source(graph.parent[state])] + 1
    return found
