"""Splitting trees, and the sets of words that tell states apart.

A node of the tree is a set of states with a word on which not all of them give the same outputs; below it are the sets
that do (Lee and Yannakakis 1996). For two states the word at the node where they part tells them apart, so the words on
the way to a leaf identify its state, and for any two states they have one in common (harmonised).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from otf.errors import UsageError
from otf.suite.machine import NumberedMachine, Word
from otf.values import show


@dataclass(eq=False)
class SplitNode:
    """A set of states; once it is split, the word that split it, and the parts."""

    states: list[int]
    above: SplitNode | None = None
    depth: int = 0
    word: Word = ()
    parts: list[SplitNode] = field(default_factory=list["SplitNode"])


class Splitting:
    """The splitting tree of a complete machine. Raises UsageError for one that is not minimal."""

    def __init__(self, machine: NumberedMachine) -> None:
        self._machine = machine
        root = SplitNode(list(range(machine.size)))
        self.leaf: list[SplitNode] = [root] * machine.size
        open_ = [root] if machine.size > 1 else []
        while open_:
            left = [part for node in open_ for part in self._split(node)]
            if left == open_:
                raise UsageError(self._alike(left[0].states))
            open_ = left

    def apart(self, one: int, other: int) -> Word:
        """Return the word that tells two states apart."""
        return self._meet([one, other]).word

    def identifiers(self, state: int) -> list[Word]:
        """Return the words on the way to a state's leaf: they identify it, and are harmonised.

        The state of a machine with one state has the empty word, so that suites still add the nodes before it.
        """
        words: dict[Word, None] = {}
        node = self.leaf[state].above
        while node is not None:
            words[node.word] = None
            node = node.above
        return _longest(words) or [()]

    def characterising(self) -> list[Word]:
        """Return the words that tell any two states apart."""
        every = {word: None for state in range(self._machine.size) for word in self.identifiers(state)}
        return _longest(every)

    def _split(self, node: SplitNode) -> list[SplitNode]:
        """Split a set if possible; return the parts that are still to be split."""
        word = self._word(node)
        if not word:
            return [node]
        node.word = word
        parts = defaultdict[tuple[int, ...], list[int]](list)
        for state in node.states:
            parts[tuple(self._machine.run(word, state)[0])].append(state)
        for states in parts.values():
            node.parts.append(part := SplitNode(states, node, node.depth + 1))
            for state in states:
                self.leaf[state] = part
        return [part for part in node.parts if len(part.states) > 1]

    def _word(self, node: SplitNode) -> Word:
        """Return a shortest word that splits a set, by the tree so far; () if none does."""
        machine = self._machine
        best: Word = ()
        for inp in range(len(machine.inputs)):
            if len({machine.out[state][inp] for state in node.states}) > 1:
                return (inp,)
        for inp in range(len(machine.inputs)):
            ends = {machine.next[state][inp] for state in node.states}
            if len({id(self.leaf[end]) for end in ends}) > 1:
                word = (inp, *self._meet(ends).word)
                best = word if not best or len(word) < len(best) else best
        return best

    def _meet(self, states: list[int] | set[int]) -> SplitNode:
        nodes = {id(self.leaf[state]): self.leaf[state] for state in states}
        while len(nodes) > 1:
            deepest = max(nodes.values(), key=lambda node: node.depth)
            del nodes[id(deepest)]
            above = deepest.above
            assert above is not None  # noqa: S101 -- the root is above all
            nodes[id(above)] = above
        return next(iter(nodes.values()))

    def _alike(self, states: list[int]) -> str:
        one, other = (show(self._machine.states[state]) for state in states[:2])
        return (
            f"{self._machine.name} is not minimal: no inputs can tell {one} and {other} apart; minimise it first, "
            "or use a method that does not identify states (a2, a3, tour)"
        )


def _longest(words: dict[Word, None]) -> list[Word]:
    """Return the words that are not the beginning of another."""
    beginnings = {word[:length] for word in words for length in range(len(word))}
    return [word for word in words if word not in beginnings]
