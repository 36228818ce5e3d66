"""Which states are alike: partition refinement, in which only those are looked at again whose successors moved.

Of the parts of a split set the largest keeps its number, so that each state moves at most log n times (Hopcroft 1971;
Valmari 2009).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import TypeAlias

Arcs: TypeAlias = Sequence[Sequence[tuple[Hashable, int]]]  # for each state labels and next states
_BlockSignature: TypeAlias = frozenset[tuple[Hashable, int]]


def refine(arcs: Arcs) -> list[int]:
    """Return for each state the number of those that are like it (bisimilar), in the order of their first ones.

    >>> refine([[("a", 1)], [("a", 0)], [("b", 0)]])
    [0, 0, 1]
    """
    parts = _Parts(arcs)
    while parts.moved:
        parts.look_again()
    known: dict[int, int] = {}
    return [known.setdefault(block, len(known)) for block in parts.block]


class _Parts:
    """The sets as stretches of one list of states; those of a set that are looked at again stand first in it."""

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
        self.moved: set[int] = set(range(size))  # states to be looked at again

    def look_again(self) -> None:
        """Split the sets of all states whose successors have moved."""
        marked = self._marked()
        # all are looked at before any is moved: what was not touched is as it was when it was put together
        groups = [self._groups(block, count) for block, count in marked.items()]
        self.moved = set()
        for block, parts in zip(marked, groups, strict=True):
            self._split(block, parts)

    def _marked(self) -> dict[int, int]:
        """Put the states that have moved to the front of their stretches; return how many there are in each."""
        counts = defaultdict[int, int](int)
        for state in self.moved:
            block = self.block[state]
            self._swap(self._place[state], self._stretch[block][0] + counts[block])
            counts[block] += 1
        return counts

    def _groups(self, block: int, count: int) -> list[list[int]]:
        """Return the marked states of a set by signature; last those that are like the others in it."""
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
