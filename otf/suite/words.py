"""Words of inputs in a tree: what begins alike is held, and later sent, once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from otf.suite.machine import NumberedMachine, Word


class Words:
    """A set of words with all that they begin with; each node of the tree knows the machine's state there."""

    def __init__(self, machine: NumberedMachine) -> None:
        self.machine = machine
        self.state: list[int] = [0]
        self.depth: list[int] = [0]
        self.after: list[dict[int, int]] = [{}]

    def add(self, word: Iterable[int], node: int = 0) -> int:
        """Add a word after a node, the root if none is given; return the node at its end."""
        for inp in word:
            node = self.step(node, inp)
        return node

    def step(self, node: int, inp: int) -> int:
        """Return the node after one more input, made if it is not there."""
        found = self.after[node].get(inp)
        if found is None:
            found = self.after[node][inp] = len(self.state)
            self.state.append(self.machine.next[self.state[node]][inp])
            self.depth.append(self.depth[node] + 1)
            self.after.append({})
        return found

    def new(self, word: Word, node: int = 0) -> int:
        """Return how many inputs would be added by a word."""
        for place, inp in enumerate(word):
            found = self.after[node].get(inp)
            if found is None:
                return len(word) - place + (self.depth[node] if self.after[node] else 0)
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
