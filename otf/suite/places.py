"""Places in a tree of words that are known to be certain states, in every system that passes: more words go there."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from otf.suite.machine import Word
from otf.suite.words import Words


class _Waiting(NamedTuple):
    """The rest of a word after a place that is known, as soon as one more transition is confirmed."""

    node: int
    rest: Word


class Places:
    """The known places: after the cover, and wherever confirmed transitions lead from there."""

    def __init__(self, words: Words, roots: list[int], confirmed: set[tuple[int, int]]) -> None:
        self.confirmed = confirmed
        self._words = words
        self._roots = roots
        self._ends: list[list[int]] = [[] for _ in roots]
        self._waiting = defaultdict[tuple[int, int], list[_Waiting]](list)

    def add(self, state: int, word: Word) -> None:
        """Add a word after a place of that state: where another word ends nothing has to be sent again."""
        words, ends = self._words, self._ends[state]
        while ends and words.after[ends[-1]]:
            ends.pop()
        node = min([*ends[-1:], self._roots[state]], key=lambda each: words.new(word, each))
        words.add(word, node)
        self._follow(_Waiting(node, word))

    def confirm(self, state: int, inp: int) -> None:
        """Take that a transition leads where it should: what waited for that is known now."""
        self.confirmed.add((state, inp))
        for each in self._waiting.pop((state, inp), []):
            self._follow(each)

    def _follow(self, waiting: _Waiting) -> None:
        node, rest = waiting
        words = self._words
        for place, inp in enumerate(rest):
            needed = words.state[node], inp
            if needed not in self.confirmed:
                self._waiting[needed].append(_Waiting(node, rest[place:]))
                return
            node = words.after[node][inp]
        if not words.after[node]:
            self._ends[words.state[node]].append(node)
