"""Tests that decide: a tree of what is to be tried, taken apart into tests that send one input at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from otf.suite.observable import Observable, enough


class Decision(NamedTuple):
    """An input, and for each state that may follow the number of the next decision; there the test ends if none is."""

    input: int
    then: tuple[tuple[int, int], ...] = ()


@dataclass
class Decisions:
    """Decisions by number, none twice; one comes after those that it goes on with, so that no test is endless."""

    rows: list[Decision] = field(default_factory=list[Decision])
    depth: list[int] = field(default_factory=list[int])
    _known: dict[Decision, int] = field(default_factory=dict[Decision, int])

    def add(self, inp: int, then: Iterable[tuple[int, int]]) -> int:
        """Return the number of a decision. Raises UsageError where there are too many."""
        row = Decision(inp, tuple(sorted(then)))
        number = self._known.setdefault(row, len(self.rows))
        if number == len(self.rows):
            enough(number)
            self.rows.append(row)
            self.depth.append(1 + max((self.depth[each] for _, each in row.then), default=0))
        return number


@dataclass(slots=True)
class Juncture:
    """A place in the tree: the state that the model is in there, and what is tried, with the place after each state."""

    state: int
    after: dict[int, dict[int, Juncture]] = field(default_factory=dict[int, dict[int, "Juncture"]])
    tests: list[int] = field(default_factory=list[int])


class Trials:
    """All that is to be tried, from the reset on; what begins alike is there once."""

    def __init__(self, machine: Observable) -> None:
        self.machine = machine
        self.root = Juncture(0)
        self._places = [self.root]

    def step(self, place: Juncture, inp: int) -> Iterable[Juncture]:
        """Return the places after an input, made if they are not there. Raises UsageError where there are too many."""
        found = place.after.get(inp)
        if found is None:
            found = place.after[inp] = {state: Juncture(state) for state in self.machine.targets(place.state, inp)}
            self._places += found.values()
            enough(len(self._places))
        return found.values()

    def walk(self, place: Juncture, strategy: dict[int, int], goal: int) -> Iterator[Juncture]:
        """Add the way to a state by a strategy; yield the places where it has been reached."""
        left = [place]
        while left:
            here = left.pop()
            if here.state == goal:
                yield here
            else:
                left += self.step(here, strategy[here.state])

    def part(self, place: Juncture, other: int, apart: dict[tuple[int, int], int]) -> None:
        """Add what tells the state of a place from another."""
        left = [(place, other)]
        while left:
            here, there = left.pop()
            inp = apart[here.state, there]
            after = {each.state: each for each in self.step(here, inp)}
            left += [(after[to], also) for to, also in self.machine.both(here.state, there, inp)]

    def tests(self, table: Decisions) -> list[int]:
        """Return tests in which everything is tried: after each input, as many as its largest next place needs."""
        for place in reversed(self._places):
            for inp, after in place.after.items():
                together = zip_longest(*(each.tests for each in after.values()))
                place.tests += [table.add(inp, _there(after, row)) for row in together] or [table.add(inp, ())]
                enough(len(place.tests))
        return self.root.tests


def _there(after: dict[int, Juncture], row: tuple[int | None, ...]) -> Iterator[tuple[int, int]]:
    return ((state, number) for state, number in zip(after, row, strict=True) if number is not None)
