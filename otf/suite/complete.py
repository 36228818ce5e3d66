"""The classical complete suites W, Wp, HSI, H and SPY, for systems with up to k more states than the model.

Chow 1978 (W); Fujiwara and others 1991 (Wp); Petrenko and others 1993 (HSI); Dorofeeva, El-Fakih and Yevtushenko 2005
(H); Simão, Petrenko and Yevtushenko 2012 (SPY). All take a complete, minimal, connected machine.

A suite is a set of words of inputs as a tree, which holds equal beginnings only once.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

from otf.errors import UsageError
from otf.suite.identify import Splitting
from otf.suite.machine import NOTHING, NumberedMachine, Word
from otf.values import show


class Words:
    """A set of words (sequences of inputs) as a tree; each node knows the machine's state after the inputs up to it."""

    def __init__(self, machine: NumberedMachine) -> None:
        self.machine = machine
        self.state: list[int] = [0]
        self.depth: list[int] = [0]
        self.after: list[dict[int, int]] = [{}]

    def add(self, word: Iterable[int], node: int = 0) -> int:
        """Add a word after a node, by default the root; return the node at its end."""
        for inp in word:
            node = self.step(node, inp)
        return node

    def step(self, node: int, inp: int) -> int:
        """Return the node after one more input; make it if missing."""
        found = self.after[node].get(inp)
        if found is None:
            found = self.after[node][inp] = len(self.state)
            self.state.append(self.machine.next[self.state[node]][inp])
            self.depth.append(self.depth[node] + 1)
            self.after.append({})
        return found

    def new(self, word: Word, node: int = 0) -> int:
        """Return how many inputs the word would add to the paths."""
        for at, inp in enumerate(word):
            found = self.after[node].get(inp)
            if found is None:
                return len(word) - at + (self.depth[node] if self.after[node] else 0)
            node = found
        return 0

    def paths(self) -> Iterator[Word]:
        """Yield the longest words, each from a reset to its end."""
        left: list[tuple[int, Word]] = [(0, ())]
        while left:
            node, word = left.pop()
            if not self.after[node] and word:
                yield word
            left += [(then, (*word, inp)) for inp, then in reversed(self.after[node].items())]


def cover(machine: NumberedMachine) -> list[Word]:
    """Return the cover: a shortest sequence of inputs to each state. Raises UsageError if no inputs lead to a state."""
    words = reach(neighbours(machine), [0], machine.size)
    missing = [machine.states[state] for state, word in enumerate(words) if word is None]
    if missing:
        raise UsageError(f"{machine.name} is not connected: no inputs lead to {show(missing[0])}; leave that state out")
    return [word for word in words if word is not None]


def neighbours(machine: NumberedMachine) -> list[dict[int, int]]:
    """Return for each state its next states, each with the first input that leads there."""
    table: list[dict[int, int]] = [{} for _ in range(machine.size)]
    for state, inp in machine.transitions:
        table[state].setdefault(machine.next[state][inp], inp)
    return table


def reach(table: list[dict[int, int]], starts: Iterable[int], size: int) -> list[Word | None]:
    """Return for each state a shortest sequence of inputs from one of the starts to it, None if there is none."""
    found = dict(onward(table, starts))
    return [found.get(state) for state in range(size)]


def onward(table: list[dict[int, int]], starts: Iterable[int]) -> Iterator[tuple[int, Word]]:
    """Yield each state reachable from one of the starts, nearest first, with a shortest sequence of inputs to it."""
    queue = deque[tuple[int, Word]]((start, ()) for start in starts)
    seen = {state for state, _ in queue}
    while queue:
        state, word = queue.popleft()
        yield state, word
        for target, inp in table[state].items():
            if target not in seen:
                seen.add(target)
                queue.append((target, (*word, inp)))


def distances(machine: NumberedMachine) -> list[list[int]]:
    """Return the number of inputs from each state to each other state; more than the number of states: unreachable."""
    table, far = neighbours(machine), machine.size + 1
    return [
        [far if word is None else len(word) for word in reach(table, [state], machine.size)]
        for state in range(machine.size)
    ]


def used_transitions(words: list[Word], machine: NumberedMachine) -> set[tuple[int, int]]:
    """Return the transitions on the ways of a cover, which leads to each state once."""
    return {(machine.run(word[:-1])[1], word[-1]) for word in words if word and word[-1] != NOTHING}


class _Waiting(NamedTuple):
    """The rest of a word after a node whose state is known, to follow once one more transition is confirmed."""

    node: int
    rest: Word


class ConfirmedNodes:
    """The nodes of a suite's tree at which the state of every passing system is known.

    These are the nodes after the cover, and those that confirmed transitions lead to. To try a word in a state, append
    it to any node of that state.
    """

    def __init__(self, words: Words, roots: list[int], confirmed: set[tuple[int, int]]) -> None:
        self.confirmed = confirmed
        self._words = words
        self._roots = roots
        self._ends: list[list[int]] = [[] for _ in roots]
        self._waiting = defaultdict[tuple[int, int], list[_Waiting]](list)

    def add(self, state: int, word: Word) -> None:
        """Add a word after a node of that state, if possible at the end of another word, which repeats no input."""
        words, ends = self._words, self._ends[state]
        while ends and words.after[ends[-1]]:
            ends.pop()
        node = min([*ends[-1:], self._roots[state]], key=lambda each: words.new(word, each))
        words.add(word, node)
        self._follow(_Waiting(node, word))

    def confirm(self, state: int, inp: int) -> None:
        """Mark a transition as confirmed, so that the states of more nodes are known."""
        self.confirmed.add((state, inp))
        for each in self._waiting.pop((state, inp), []):
            self._follow(each)

    def _follow(self, waiting: _Waiting) -> None:
        node, rest = waiting
        words = self._words
        for at, inp in enumerate(rest):
            needed = words.state[node], inp
            if needed not in self.confirmed:
                self._waiting[needed].append(_Waiting(node, rest[at:]))
                return
            node = words.after[node][inp]
        if not words.after[node]:
            self._ends[words.state[node]].append(node)


def w(machine: NumberedMachine, extra: int = 0) -> list[Word]:
    """Return the W suite: all distinguishing words after each transition and up to `extra` more inputs."""
    tree, words = Splitting(machine), Words(machine)
    for node in _middles(machine, words, extra + 1):
        _add(words, node, tree.characterising())
    return list(words.paths())


def wp(machine: NumberedMachine, extra: int = 0) -> list[Word]:
    """Return the Wp suite: in each state all distinguishing words, after each transition only those for its target."""
    tree, words = Splitting(machine), Words(machine)
    states = set(_middles(machine, words, extra))
    for node in states:
        _add(words, node, tree.characterising())
    for node in _middles(machine, words, extra + 1):
        _add(words, node, tree.identifiers(words.state[node]))
    return list(words.paths())


def hsi(machine: NumberedMachine, extra: int = 0) -> list[Word]:
    """Return the HSI suite: after each transition, the suite sends the words that tell its target from other states."""
    tree, words = Splitting(machine), Words(machine)
    for node in _middles(machine, words, extra + 1):
        _add(words, node, tree.identifiers(words.state[node]))
    return list(words.paths())


def h(machine: NumberedMachine, extra: int = 0) -> list[Word]:
    """Return the H suite: sequences of inputs to two states both go on with a word that distinguishes the states."""
    tree, words = Splitting(machine), Words(machine)
    roots = [words.add(word) for word in cover(machine)]
    for at, root in enumerate(roots):
        for other in roots[:at]:
            _separate(words, tree, root, other)
    for root in roots:
        for lane in _lanes(words, root, extra + 1):
            for at, node in enumerate(lane):
                for other in (*roots, *lane[:at]):
                    _separate(words, tree, node, other)
    return list(words.paths())


def spy(machine: NumberedMachine, extra: int = 0) -> list[Word]:
    """Return the SPY suite: each word that identifies a state follows some sequence of inputs to this state."""
    tree, words = Splitting(machine), Words(machine)
    roots = [words.add(word) for word in cover(machine)]
    for root in roots:
        for ending in _endings(machine, extra):
            node = words.add(ending, root)
            _add(words, node, tree.identifiers(words.state[node]))
    nodes = ConfirmedNodes(words, roots, used_transitions(cover(machine), machine))
    for state, inp in machine.transitions:
        if (state, inp) not in nodes.confirmed:
            for ending in _endings(machine, extra):
                target = machine.run((inp, *ending), state)[1]
                for word in tree.identifiers(target):
                    nodes.add(state, (inp, *ending, *word))
            nodes.confirm(state, inp)
    return list(words.paths())


def _add(words: Words, node: int, endings: Iterable[Word]) -> None:
    for ending in endings:
        words.add(ending, node)


def _lanes(words: Words, root: int, length: int) -> Iterator[list[int]]:
    """Yield the nodes on each way of `length` inputs."""
    for ending in product(range(len(words.machine.inputs)), repeat=length):
        lane = [root]
        for inp in ending:
            lane.append(words.step(lane[-1], inp))
        yield lane[1:]


def _separate(words: Words, tree: Splitting, one: int, other: int) -> None:
    """Make sure that some word after two nodes of different states distinguishes them."""
    if words.state[one] != words.state[other] and not _separated(words, one, other):
        word = tree.apart(words.state[one], words.state[other])
        words.add(word, one)
        words.add(word, other)


def _separated(words: Words, one: int, other: int) -> bool:
    machine, after = words.machine, words.after
    here, there = words.state[one], words.state[other]
    for inp, then in after[one].items():
        if inp in after[other]:
            if machine.out[here][inp] != machine.out[there][inp]:
                return True
            if _separated(words, then, after[other][inp]):
                return True
    return False


def _middles(machine: NumberedMachine, words: Words, length: int) -> list[int]:
    """Return the nodes after the cover and up to `length` more inputs."""
    return list(
        dict.fromkeys(words.add(root + ending) for root in cover(machine) for ending in _endings(machine, length))
    )


def _endings(machine: NumberedMachine, length: int) -> Iterator[Word]:
    for each in range(length + 1):
        yield from product(range(len(machine.inputs)), repeat=each)
