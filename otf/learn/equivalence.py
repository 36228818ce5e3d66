"""Looking for errors of a learnt machine: suites for k more states, and walks.

A test of the suite for k leads to a state of the machine, continues with k + 1 inputs, and identifies the state there.
These are the words of the HSI method (Petrenko and others 1993), in an order drawn by a seed, without listing them,
which would fill the memory. Beside each test goes a walk that prefers inputs which change the state, since refused
inputs lead nowhere. Before all tests, all inputs that should change nothing are sent after each transition: that costs
little, and often one of them does change the state, such as a name before its password.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd
from random import Random
from typing import Final

from otf.suite.complete import cover
from otf.suite.identify import Splitting
from otf.suite.machine import NumberedMachine, Word

ONWARD: Final = 0.8  # share of a walk's inputs that change the state, where possible
LENGTHS: Final = (2, 4, 8, 16)  # average lengths of walks: longer ones go deep, and shorter ones are many
WALKS: Final = 60
"""The least number of walks: for a machine with one state, the suites hardly go beyond single inputs."""


@dataclass(slots=True)
class SuiteProgress:
    """The suite in progress, for `extra` more states than the machine has, and how much of it is done."""

    extra: int = 0
    done: int = 0
    total: int = 0

    @property
    def complete(self) -> int | None:
        """Return the number of extra states for which the suites passed; None if not even that for 0 has."""
        passed = self.extra if self.done >= self.total > 0 else self.extra - 1
        return passed if passed >= 0 else None


class SuiteWords:
    """The tests of a machine, one after another; `progress` says how far they are.

    >>> lamp = NumberedMachine("lamp", ["off", "on"], ["press", "look"], next=[[1, 0], [0, 1]], out=[[0, 1], [0, 2]])
    >>> tests = SuiteWords(lamp, Random(1), extra=0)
    >>> {(0, 0, 1), (0, 1), (0, 1, 1), (1,), (1, 1)} <= set(tests)
    True
    >>> tests.progress.complete
    0
    """

    def __init__(self, machine: NumberedMachine, random: Random, extra: int) -> None:
        self.progress: SuiteProgress = SuiteProgress()
        self._machine = machine
        self._random = random
        self._extra = extra
        self._ways = cover(machine)
        self._tree = Splitting(machine)
        columns = range(len(machine.inputs))
        self._onward = [[inp for inp in columns if row[inp] != state] for state, row in enumerate(machine.next)]
        self._starts = [state for state, onward in enumerate(self._onward) if onward] or [0]

    def __iter__(self) -> Iterator[Word]:
        """Yield the words of `_stays`, then all tests up to the last suite, each with a walk; at least WALKS walks."""
        left = WALKS
        yield from self._stays()
        for extra in range(self._extra + 1):
            for word in self._suite(extra):
                yield word
                left -= 1
                yield self._walk()
        for _ in range(left):
            yield self._walk()

    def _stays(self) -> Iterator[Word]:
        """Yield after each transition the inputs that keep the state, in random order; none after one to a sink."""
        next_, width = self._machine.next, len(self._machine.inputs)
        for number in _shuffled(len(next_) * width, self._random):
            state, inp = divmod(number, width)
            then = next_[state][inp]
            if self._onward[then] or then == state:
                word = (*self._ways[state], inp)
                kept = [each for each in range(width) if next_[then][each] == then]
                # in the order of the last hypothesis, whose answers are known
                Random(str(word)).shuffle(kept)
                yield (*word, *kept, *self._tree.identifiers(then)[0])

    def _suite(self, extra: int) -> Iterator[Word]:
        """Yield the words of a suite that the previous suite lacks."""
        wide = len(self._machine.inputs) ** (extra + 1)
        total = len(self._ways) * wide + (0 if extra else len(self._ways))
        self.progress.extra, self.progress.done, self.progress.total = extra, 0, total
        if not extra:
            for state, way in enumerate(self._ways):
                yield from (way + word for word in self._tree.identifiers(state))
                self.progress.done += 1
        for number in _shuffled(len(self._ways) * wide, self._random):
            state, rest = divmod(number, wide)
            word = self._onwards(state, rest, extra + 1)
            yield from (word + each for each in self._tree.identifiers(self._machine.run(word)[1]))
            self.progress.done += 1

    def _onwards(self, state: int, number: int, length: int) -> Word:
        width, inputs = len(self._machine.inputs), list[int]()
        for _ in range(length):
            number, inp = divmod(number, width)
            inputs.append(inp)
        return (*self._ways[state], *inputs)

    def _walk(self) -> Word:
        random, machine = self._random, self._machine
        state, ends = random.choice(self._starts), 1 / random.choice(LENGTHS)
        word = list(self._ways[state])
        while True:
            onward = self._onward[state]
            inp = (
                random.choice(onward) if onward and random.random() < ONWARD else random.randrange(len(machine.inputs))
            )
            word.append(inp)
            state = machine.next[state][inp]
            if random.random() < ends or (not self._onward[state] and machine.size > 1):
                return (*word, *random.choice(self._tree.identifiers(state)))


def _shuffled(count: int, random: Random) -> Iterator[int]:
    """Yield the numbers below `count` in a random order without a list of them; neighbours end up far apart."""
    stride = next(each for each in iter(lambda: random.randrange(1, count + 1), None) if gcd(each, count) == 1)
    start = random.randrange(count)
    return ((start + number * stride) % count for number in range(count))
