"""A system's answers to sequences of inputs: a tree of all paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from otf.suite.machine import Word

CLOSED: Final = "\0closed"
"""The answer to an input that was not sent, since its connection has ended; it changes nothing. No output equals it."""

CLEAR: Final = 3
"""How many times as often as all others together an answer must come to count."""

ENOUGH: Final = 4
"""The most paths with the same answer that `needed` asks for; a counterexample needs as many."""

FEW: Final = 4
"""After this many paths, unclear answers are compared."""

MOST: Final = 40
"""After this many paths, an unclear answer counts as the system's choice. If one message in 100 is lost, and ten silent
inputs come before it, one path in eight has a wrong answer. The right one would be clear by then.
"""


@dataclass(slots=True)
class AnswerNode:
    """One answer to an input: how often it came, and the inputs after it."""

    count: int = 0
    after: dict[int, AnswersThere] = field(default_factory=dict[int, "AnswersThere"])


@dataclass(slots=True)
class AnswersThere:
    """All answers to one input after the same inputs and answers.

    `given` is the one that the learner got, after `needed` paths with it.
    """

    answers: dict[str, AnswerNode] = field(default_factory=dict[str, AnswerNode])
    given: str | None = None
    needed: int = 0

    def best(self, needed: int) -> str | None:
        """Return the answer that came clearly more often than the others, None if none did."""
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
    """Which inputs cannot be sent after which answers; here all can. `ended` are the ports whose connection ended."""

    def start(self) -> frozenset[str]:
        """Return the ports without a connection at the start."""
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
    """A system's answers to words, each a sequence of inputs after a reset.

    At first one path decides. Once the same inputs have had two different answers, an answer must come `needed` times;
    one that comes less than a third as often counts as a loss on the line. `changed`: an answer that the learner got is
    no longer the right one. Then `needed` grows, since each wrong answer costs the algorithm a new start.

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
        """Add the answers of a path."""
        self.paths += 1
        way = self._root
        for inp, out in zip(word, outputs, strict=True):
            if out == CLOSED:
                continue
            ways = way.after.setdefault(inp, AnswersThere())
            if ways.answers and out not in ways.answers:
                self.changed = self.changed or self.needed == 1
                self.needed = max(self.needed, 2)
            way = ways.answers.setdefault(out, AnswerNode())
            way.count += 1

    def known(self, word: Word) -> list[str] | None:
        """Return the answers to a word, None if that takes another path."""
        found = [CLOSED] * len(word)
        for at, ways, best in self._along(word):
            if best is None:
                return None
            if ways.given not in {None, best}:
                self.changed, self.needed = True, max(self.needed, min(ways.needed + 1, ENOUGH))
            ways.given, ways.needed = best, self.needed
            found[at] = best
        return found

    def count(self, word: Word) -> int:
        """Return how often the accepted answer to a word came."""
        counts = [ways.answers[best].count for _, ways, best in self._along(word) if best is not None]
        return counts[-1] if counts else 0

    def parted(self, word: Word) -> Parted | None:
        """Return the shortest prefix of a word whose answer is unclear after several paths, None if there is none."""
        for at, ways, best in self._along(word):
            if best is None:
                counts = {out: each.count for out, each in ways.answers.items()}
                return Parted(word[: at + 1], counts) if ways.total >= FEW and len(counts) > 1 else None
        return None

    def _along(self, word: Word) -> Iterator[tuple[int, AnswersThere, str | None]]:
        """Yield the place of each input that can be sent, its answers and the accepted one, up to the first gap."""
        way, ended = self._root, self.closing.start()
        for at, inp in enumerate(word):
            if self.closing.shut(ended, inp):
                continue
            ways = way.after.get(inp, AnswersThere())
            best = ways.best(self.needed) if ways.answers else None
            yield at, ways, best
            if best is None:
                return
            ended = self.closing.after(ended, inp, best)
            way = ways.answers[best]

    def lost(self) -> Iterator[Parted]:
        """Yield the places with answers rarer than the accepted one."""
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
        """Return the inputs of the first path that a machine answers differently; None if it explains all paths."""
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
