"""Symbols, and the bounded tables of the core.

A symbol is a value with its typed key and hash at hand. The tables drop one old answer for each new one, so that
forgetting never pauses a run; answers about states that did not come again go first.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Hashable
from typing import Any, Final, TypeAlias, TypeVar

from otf.values.identity import weight

Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer")

REMEMBERED: Final = 100_000
"""The number of answers kept: states, values, beliefs, and the moves of the model.

The conference protocol with all its inputs needs 46,000. If states never come again, these answers take some 90 MB.
"""


LATER: Final = 1_000  # a state recurs if this many answers were found between two visits: more than a few steps
TRIED: Final = 100  # answers examined to find one to forget
OLD: Final = 0.9  # the largest share of the memory for answers about recurring states

OFTEN: Final = 4_000  # answers forgotten between two collections of young garbage

BYTES: Final = 100_000_000
"""The most bytes of states that a table keeps alive: 25,000 of 4 kB, twice as large as those of the shipped benches."""
SAMPLED: Final = 17  # weighing a state takes as long as a step, so one new state in 17 is weighed
OF_A_STATE: Final = 4  # answers, of a state that never recurs


class AverageWeight:
    """The average weight of the latest states: as many as the table may keep, if they are large.

    >>> weights = AverageWeight()
    >>> for number in range(100): weights.note("x" * 1_000_000)
    >>> weights.room(50_000) < 110
    True
    """

    __slots__ = ("_average",)

    def __init__(self) -> None:
        self._average = 0.0

    def note(self, state: object) -> None:
        """Take a state into account."""
        self._average += (weight(state) - self._average) / SAMPLED

    def room(self, most: int) -> int:
        """Return how many states to keep: at least one, and at most `most`."""
        return min(most, int(BYTES / max(1.0, self._average)) or 1)


class Remembered:
    """A state, a value or a belief that answers are about.

    `born`: how many answers had been found before its first; `recurs`: it came again long after it was found.
    """

    __slots__ = ("born", "recurs")

    born: int
    recurs: bool


_Entry: TypeAlias = tuple[dict[Any, Any], Hashable, Remembered | None]


class Memory:
    """All tables of an oracle, in the order in which their answers were found.

    Answers whose owner has come again are kept longer, so states that never recur cannot flush them. A forgotten answer
    is computed again when needed: that costs time, never a verdict. All tables share one bound, since they refer to
    each other: a belief holds the next belief for each event.
    """

    __slots__ = ("_forgotten", "_most", "_new", "_old", "found", "limit", "weights")

    def __init__(self, limit: int = REMEMBERED) -> None:
        self.limit = self._most = limit
        self.weights = AverageWeight()
        self._forgotten = 0
        self.found: int = 0
        self._new: deque[_Entry] = deque()
        self._old: deque[_Entry] = deque()

    def __len__(self) -> int:
        """Return how many answers are remembered."""
        return len(self._new) + len(self._old)

    def put(
        self, table: dict[Question, Answer], question: Question, answer: Answer, owner: Remembered | None = None
    ) -> Answer:
        """Remember the answer to a question in its table, and return it; the answer is about `owner`."""
        table[question] = answer
        self.found += 1
        if owner is not None and not owner.born:
            owner.born = self.found
        self._new.append((table, question, owner))
        while len(self._new) + len(self._old) > self.limit:
            self._forget()
        return answer

    def weigh(self, state: object) -> None:
        """Take a new state into account: of large states, fewer answers are remembered."""
        self.weights.note(state)
        self.limit = min(self._most, OF_A_STATE * self.weights.room(self._most))

    def meet(self, owner: Remembered) -> None:
        """Note that a state or a value has come again, unless it was found only just now."""
        if self.found - owner.born > LATER:
            owner.recurs = True

    def _oldest(self) -> _Entry:
        for _ in range(min(TRIED, len(self._new))):
            if len(self._old) > OLD * self.limit:
                return self._old.popleft()
            entry = self._new.popleft()
            if entry[2] is None or not entry[2].recurs:
                return entry
            self._old.append(entry)
        return self._old.popleft()

    def _forget(self) -> None:
        table, name, _ = self._oldest()
        table.pop(name, None)
        self._forgotten += 1
        # This frees as many objects as it makes: by that count Python sees no reason to collect young garbage until
        # there are half a million objects, and then the tester stops for half a second.
        if self._forgotten % OFTEN == 0 and gc.isenabled():
            gc.collect(1)


class Symbol(Remembered):
    """An input or output (`value`) with a `key` by which otf compares it; the key includes the type, so True is not 1.

    >>> from otf.values import key
    >>> Symbol(True, key(True)) == Symbol(1, key(1))
    False
    """

    __slots__ = ("_hash", "digest", "heavy", "key", "port", "value")

    def __init__(self, value: object, key: Hashable) -> None:
        self.born = 0
        self.recurs = False
        self.value: object = value
        self.key: Hashable = key
        self._hash = hash(key)
        # the port that an input is sent to, once the model was asked
        self.port: str | None = None
        # a short name for a journal, once asked for
        self.digest: str = ""
        # such a value hardly ever comes twice and is large: nothing that refers to it is remembered
        self.heavy: bool = False

    def __hash__(self) -> int:
        """Return the hash, computed once: keys are nested tuples, and sets of hypotheses often need it."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Compare by key."""
        return self is other or (isinstance(other, Symbol) and self.key == other.key)
