"""Words of inputs: shortest ones through a machine, and sets of words as a tree.

A tree holds equal beginnings once, and so they are sent once.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from otf.errors import UsageError
from otf.suite.machine import NOTHING, NumberedMachine, Word
from otf.values import show


class Words:
    """A set of words as a tree; each node knows the machine's state there."""

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
        """Return the node after one more input, which is made if missing."""
        found = self.after[node].get(inp)
        if found is None:
            found = self.after[node][inp] = len(self.state)
            self.state.append(self.machine.next[self.state[node]][inp])
            self.depth.append(self.depth[node] + 1)
            self.after.append({})
        return found

    def new(self, word: Word, node: int = 0) -> int:
        """Return how many inputs a word would add to the paths."""
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
    """Return a shortest word to each state, closed under prefixes. Raises UsageError if a state cannot be reached."""
    words = reach(neighbours(machine), [0], machine.size)
    missing = [machine.states[state] for state, word in enumerate(words) if word is None]
    if missing:
        message = f"{machine.name} is not connected: no inputs lead to {show(missing[0])}; leave that state out"
        raise UsageError(message)
    return [word for word in words if word is not None]


def neighbours(machine: NumberedMachine) -> list[dict[int, int]]:
    """Return for each state the states that one input leads to, with the first such input."""
    table: list[dict[int, int]] = [{} for _ in range(machine.size)]
    for state, inp in machine.transitions:
        table[state].setdefault(machine.next[state][inp], inp)
    return table


def reach(table: list[dict[int, int]], starts: Iterable[int], size: int) -> list[Word | None]:
    """Return a shortest word from one of the starts to each state, None if there is none."""
    words: list[Word | None] = [None] * size
    queue = deque(starts)
    for start in queue:
        words[start] = ()
    while queue:
        word = words[state := queue.popleft()] or ()
        for target, inp in table[state].items():
            if words[target] is None:
                words[target] = (*word, inp)
                queue.append(target)
    return words


def distances(machine: NumberedMachine) -> list[list[int]]:
    """Return the distance from each state to each other, in inputs; more than there are states if there is no way."""
    table, far = neighbours(machine), machine.size + 1
    return [
        [far if word is None else len(word) for word in reach(table, [state], machine.size)]
        for state in range(machine.size)
    ]


def used_transitions(words: list[Word], machine: NumberedMachine) -> set[tuple[int, int]]:
    """Return the transitions that occur in the words of a cover."""
    return {(machine.run(word[:-1])[1], word[-1]) for word in words if word and word[-1] != NOTHING}


class _Waiting(NamedTuple):
    """The rest of a word after a node whose state is known, as soon as one more transition is confirmed."""

    node: int
    rest: Word


class ConfirmedNodes:
    """The nodes whose state is known in every system that passes: after the cover, and on along confirmed transitions.

    A word for a state may go after any of its nodes.
    """

    def __init__(self, words: Words, roots: list[int], confirmed: set[tuple[int, int]]) -> None:
        self.confirmed = confirmed
        self._words = words
        self._roots = roots
        self._ends: list[list[int]] = [[] for _ in roots]
        self._waiting = defaultdict[tuple[int, int], list[_Waiting]](list)

    def add(self, state: int, word: Word) -> None:
        """Add a word after a node of that state; after the end of another word no input is sent again."""
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
