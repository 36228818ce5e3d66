"""Adaptive tests: a tree of everything to try, taken apart into tests that send one input at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from otf.suite.observable import Observable, enough


class Decision(NamedTuple):
    """An input, and for states that may follow it the number of the next decision; in other states the test ends."""

    input: int
    then: tuple[tuple[int, int], ...] = ()


@dataclass
class Decisions:
    """A table of decisions, none twice. Each refers only to earlier rows, so that every test ends."""

    rows: list[Decision] = field(default_factory=list[Decision])
    depth: list[int] = field(default_factory=list[int])
    _known: dict[Decision, int] = field(default_factory=dict[Decision, int])

    def add(self, inp: int, then: Iterable[tuple[int, int]]) -> int:
        """Return the number of a decision, which is added if it is new. Raises UsageError if there are too many."""
        row = Decision(inp, tuple(sorted(then)))
        number = self._known.setdefault(row, len(self.rows))
        if number == len(self.rows):
            enough(number)
            self.rows.append(row)
            self.depth.append(1 + max((self.depth[each] for _, each in row.then), default=0))
        return number


@dataclass(slots=True)
class TrialNode:
    """A node of the tree: the model's state there, and for each input that is tried the node after each next state."""

    state: int
    after: dict[int, dict[int, TrialNode]] = field(default_factory=dict[int, dict[int, "TrialNode"]])
    tests: list[int] = field(default_factory=list[int])


class Trials:
    """The tree of everything to try, from the reset on; equal beginnings are shared."""

    def __init__(self, machine: Observable) -> None:
        self.machine = machine
        self.root = TrialNode(0)
        self._nodes = [self.root]

    def step(self, node: TrialNode, inp: int) -> Iterable[TrialNode]:
        """Return the nodes after an input, which are made if missing. Raises UsageError if there are too many."""
        found = node.after.get(inp)
        if found is None:
            found = node.after[inp] = {state: TrialNode(state) for state in self.machine.targets(node.state, inp)}
            self._nodes += found.values()
            enough(len(self._nodes))
        return found.values()

    def walk(self, node: TrialNode, strategy: dict[int, int], goal: int) -> Iterator[TrialNode]:
        """Add the way to a state by a strategy; yield the nodes where the state has been reached."""
        left = [node]
        while left:
            here = left.pop()
            if here.state == goal:
                yield here
            else:
                left += self.step(here, strategy[here.state])

    def part(self, node: TrialNode, other: int, apart: dict[tuple[int, int], int]) -> None:
        """Add the inputs that tell the state of a node from another state."""
        left = [(node, other)]
        while left:
            here, there = left.pop()
            inp = apart[here.state, there]
            after = {each.state: each for each in self.step(here, inp)}
            left += [(after[to], also) for to, also in self.machine.both(here.state, there, inp)]

    def tests(self, table: Decisions) -> list[int]:
        """Return tests that try everything: after each input, as many as the next node with most tests needs."""
        for node in reversed(self._nodes):
            for inp, after in node.after.items():
                together = zip_longest(*(each.tests for each in after.values()))
                node.tests += [table.add(inp, _there(after, row)) for row in together] or [table.add(inp, ())]
                enough(len(node.tests))
        return self.root.tests


def _there(after: dict[int, TrialNode], row: tuple[int | None, ...]) -> Iterator[tuple[int, int]]:
    return ((state, number) for state, number in zip(after, row, strict=True) if number is not None)
