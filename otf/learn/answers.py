"""What a system answered to sequences of inputs: a tree of all paths, with how often each answer came."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from otf.suite.machine import Word

CLOSED: Final = "closed"
"""The answer to an input that is not sent, since its connection has ended; it changes nothing."""

CLEAR: Final = 3
"""How many times as often as all others an answer has to come to be the answer."""

FEW: Final = 4
"""Paths after which one looks at what differs in answers that are not clear."""

MOST: Final = 40
"""Paths after which an answer that is not clear yet is a choice of the system. With a loss in 100, and ten silent
inputs before it, one path in eight has another answer, and it would be clear by then."""


@dataclass(slots=True)
class AnswerNode:
    """One answer to an input: how often it came, and what was asked after it."""

    count: int = 0
    after: dict[int, AnswersThere] = field(default_factory=dict[int, "AnswersThere"])


@dataclass(slots=True)
class AnswersThere:
    """All answers to one input after the same inputs and answers; `given` is the one that a learner was told."""

    answers: dict[str, AnswerNode] = field(default_factory=dict[str, AnswerNode])
    given: str | None = None

    def best(self, needed: int) -> str | None:
        """Return the answer that came clearly more often than the others, None if there is none."""
        if len(self.answers) == 1:
            ((only, way),) = self.answers.items()
            return only if way.count >= needed else None
        top = max(self.answers, key=lambda each: self.answers[each].count)
        count = self.answers[top].count
        others = self.total - count
        return top if count >= needed and count >= CLEAR * others else None

    @property
    def total(self) -> int:
        """Return how often the input was sent there."""
        return sum(way.count for way in self.answers.values())


class Parted(NamedTuple):
    """Inputs after which the system gave several answers, with how often each came."""

    word: Word
    answers: dict[str, int]


class Closing:
    """Which inputs cannot be sent after which answers: here all can. `ended` are the ports whose connection ended."""

    def start(self) -> frozenset[str]:
        """Return the ports that have no connection at the start."""
        return frozenset()

    def after(self, ended: frozenset[str], inp: int, out: str) -> frozenset[str]:
        """Return the ports that have ended after an input and its answer."""
        del inp, out
        return ended

    def shut(self, ended: frozenset[str], inp: int) -> bool:
        """Return whether an input cannot be sent."""
        del inp
        return bool(ended)


class AnswerTree:
    """The answers of a system to words, each a sequence of inputs after a reset.

    At first one path decides. Once the same inputs had two different answers, `needed` equal ones do, and one that came
    less often than a third as often counts as lost on the line. `changed`: a learner was told what no longer holds.

    >>> answers = AnswerTree()
    >>> answers.add((0, 1), ["on", "off"])
    >>> answers.known((0,)), answers.known((1,))
    (['on'], None)
    >>> answers.add((0,), ["nothing"])
    >>> answers.known((0,)), answers.changed
    (None, True)
    """

    def __init__(self, closing: Closing | None = None) -> None:
        self.needed: int = 1
        self.closing: Closing = closing or Closing()
        self.changed: bool = False
        self.paths: int = 0
        self._root = AnswerNode()

    def add(self, word: Word, outputs: Sequence[str]) -> None:
        """Add what a path showed."""
        self.paths += 1
        way = self._root
        for inp, out in zip(word, outputs, strict=True):
            if out == CLOSED:
                continue
            ways = way.after.setdefault(inp, AnswersThere())
            if ways.answers and out not in ways.answers:
                self.changed = self.changed or self.needed == 1
                self.needed = 2
            way = ways.answers.setdefault(out, AnswerNode())
            way.count += 1

    def known(self, word: Word) -> list[str] | None:
        """Return the answers to a word, None if a path has to be driven to know them."""
        way, found, ended = self._root, list[str](), self.closing.start()
        for inp in word:
            if self.closing.shut(ended, inp):
                found.append(CLOSED)
                continue
            ways = way.after.get(inp)
            best = None if ways is None else ways.best(self.needed)
            if ways is None or best is None:
                return None
            self.changed = self.changed or ways.given not in {None, best}
            ways.given = best
            found.append(best)
            ended = self.closing.after(ended, inp, best)
            way = ways.answers[best]
        return found

    def count(self, word: Word) -> int:
        """Return how often the answer to a word came that counts."""
        way, ended, count = self._root, self.closing.start(), 0
        for inp in word:
            if self.closing.shut(ended, inp):
                continue
            best = way.after[inp].best(self.needed) or ""
            ended = self.closing.after(ended, inp, best)
            way = way.after[inp].answers[best]
            count = way.count
        return count

    def parted(self, word: Word) -> Parted | None:
        """Return the first inputs of a word whose answer is unclear after several paths, None if there are none."""
        way, ended = self._root, self.closing.start()
        for at, inp in enumerate(word):
            if self.closing.shut(ended, inp):
                continue
            ways = way.after.get(inp)
            if ways is None:
                return None
            best = ways.best(self.needed)
            if best is None:
                counts = {out: each.count for out, each in ways.answers.items()}
                return Parted(word[: at + 1], counts) if ways.total >= FEW and len(counts) > 1 else None
            ended = self.closing.after(ended, inp, best)
            way = ways.answers[best]
        return None

    def lost(self) -> Iterator[Parted]:
        """Yield where some answers came less often than the one that counts."""
        left: list[tuple[Word, AnswerNode]] = [((), self._root)]
        while left:
            word, way = left.pop()
            for inp, ways in way.after.items():
                if len(ways.answers) > 1:
                    yield Parted((*word, inp), {out: each.count for out, each in ways.answers.items()})
                best = ways.best(self.needed)
                if best is not None:
                    left.append(((*word, inp), ways.answers[best]))

    def contradiction(self, next_: list[list[int]], out: list[list[str]]) -> Word | None:
        """Return the inputs of a path that a machine answers otherwise, the first found; None if it explains all."""
        left: list[tuple[Word, int, AnswerNode]] = [((), 0, self._root)]
        for word, state, way in left:
            for inp, ways in way.after.items():
                best = ways.best(self.needed)
                if best is None:
                    continue
                if best != out[state][inp]:
                    return (*word, inp)
                left.append(((*word, inp), next_[state][inp], ways.answers[best]))
        return None
