"""Looks for errors of a learnt machine: suites for k more states, and walks.

A test of the suite for k leads to a state of the machine, continues with k + 1 inputs, and identifies the state there.
These are the words of the HSI method (Petrenko and others 1993), in an order drawn by a seed, without listing them,
which would fill the memory. Before them, all inputs that should change nothing are sent after each transition: that
costs little, and often one of them does change the state, such as a name before its password.

With each test goes a walk. At each step it draws an effect and not an input: all answers, each with its next state, are
equally likely, or all next states are. Most inputs of a server are refused alike. A random walk tends to end there, and
takes long to find an error behind a rare answer. A walk goes on from where it has identified a state, since a reset and
the way to a deep state cost more than the few inputs that try something there. Inputs that only wait are slow:
the suites have them everywhere, a walk only at the end of the way by which it begins.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from math import gcd
from random import Random
from typing import Final, TypeAlias

from otf.suite.complete import cover
from otf.suite.identify import Splitting
from otf.suite.machine import NumberedMachine, Word

PARTS: Final = 8  # most parts of a walk: the way to where it begins costs as much as several of them
LENGTHS: Final = (1, 2, 3, 4)  # average lengths of a part
LOOPS: Final = 0.2  # share of the parts that first send inputs which should change nothing
BY_STATE: Final = 0.5  # share of the parts that draw next states: several special inputs in a row are found so
STAYS: Final = 0.3  # how likely such a part stays in a state, beside each way to leave it
WALKS: Final = 60
"""The least number of walks: for a machine with one state, the suites hardly go beyond single inputs."""


InputEffect: TypeAlias = tuple[int, int]  # the next state and the answer


@dataclass(slots=True)
class SuiteProgress:
    """The suite in progress, for `extra` more states than the machine has, and how much of it is done."""

    extra: int = 0
    done: int = 0
    total: int = 0

    @property
    def complete(self) -> int | None:
        """Return the number of extra states for which the suites passed; None if not even that for 0 passed."""
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

    def __init__(self, machine: NumberedMachine, random: Random, extra: int, slow: Collection[int] = ()) -> None:
        self.progress: SuiteProgress = SuiteProgress()
        self._machine = machine
        self._random = random
        self._extra = extra
        self._slow: Collection[int] = slow if len(slow) < len(machine.inputs) else ()
        self._ways = cover(machine)
        self._tree = Splitting(machine)
        # the inputs of each state by what they do, and the ways over all transitions that do the same
        self._inputs: list[dict[InputEffect, list[int]]] = [{} for _ in machine.next]
        self._over: dict[InputEffect, list[Word]] = {}
        for state, row in enumerate(machine.next):
            for inp, effect in enumerate(zip(row, machine.out[state], strict=True)):
                if inp not in self._slow:
                    self._inputs[state].setdefault(effect, []).append(inp)
                self._over.setdefault(effect, []).append((*self._ways[state], inp))

    def __iter__(self) -> Iterator[Word]:
        """Yield the words of `_stays` and all tests up to the last suite, and walks; at least WALKS of them.

        Up to the suite for 0 a walk follows each test: that is where most errors are found. Later, walks send as many
        inputs as tests do.
        """
        left, owed = WALKS, 0
        for word in chain(self._stays(), self._suite(0)):
            yield word
            left -= 1
            yield self._walk()
        for word in chain.from_iterable(map(self._suite, range(1, self._extra + 1))):
            yield word
            owed += len(word)
            if owed > 0:
                walk = self._walk()
                owed -= len(walk)
                yield walk
        for _ in range(left):
            yield self._walk()

    def _stays(self) -> Iterator[Word]:
        """Yield after each transition the inputs that keep the state, in random order; none after one to a sink."""
        next_, width = self._machine.next, len(self._machine.inputs)
        for number in _shuffled(len(next_) * width, self._random):
            state, inp = divmod(number, width)
            then = next_[state][inp]
            if not self._sink(then) or then == state:
                word = (*self._ways[state], inp)
                kept = self._kept(then)
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
        """Return a way over a transition, then parts, of which each goes on and identifies the state at its end."""
        random = self._random
        effect = random.choice([*self._over])
        word, here = [*random.choice(self._over[effect])], effect[0]
        for _ in range(random.randint(1, PARTS)):
            part = self._part(here)
            word += part
            here = self._machine.run(part, here)[1]
            if self._sink(here):
                break
        return tuple(word)

    def _part(self, here: int) -> Word:
        random, part = self._random, list[int]()
        average, by_state = random.choice(LENGTHS), random.random() < BY_STATE
        if random.random() < LOOPS:
            kept = [inp for inp in self._kept(here) if inp not in self._slow]
            part += random.sample(kept, random.randint(0, len(kept)))
        while True:
            effect = self._effect(here, by_state=by_state)
            part.append(random.choice(self._inputs[here][effect]))
            here = effect[0]
            if self._sink(here) or random.random() < 1 / average:
                return (*part, *random.choice(self._tree.identifiers(here)))

    def _effect(self, here: int, *, by_state: bool) -> InputEffect:
        random, effects = self._random, [*self._inputs[here]]
        if by_state:
            states = list(dict.fromkeys(then for then, _ in effects))
            then = random.choices(states, [STAYS if each == here else 1.0 for each in states])[0]
            effects = [each for each in effects if each[0] == then]
        return random.choice(effects)

    def _kept(self, state: int) -> list[int]:
        return [inp for inp, then in enumerate(self._machine.next[state]) if then == state]

    def _sink(self, state: int) -> bool:
        return all(then == state for then in self._machine.next[state])


def _shuffled(count: int, random: Random) -> Iterator[int]:
    """Yield the numbers below `count` in a random order without a list of them; neighbours end up far apart."""
    stride = next(each for each in iter(lambda: random.randrange(1, count + 1), None) if gcd(each, count) == 1)
    start = random.randrange(count)
    return ((start + number * stride) % count for number in range(count))
