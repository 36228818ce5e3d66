"""What the core remembers, bounded: the oldest answer goes for each new one, so that forgetting never pauses a run."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Hashable
from typing import Final, Never, Protocol, TypeVar, cast

Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer")

REMEMBERED: Final = 100_000
"""Answers: states, values, beliefs, and what the model said of them.

The conference protocol with all its inputs needs 46,000; where states never come again they take some 90 MB.
"""


OFTEN: Final = 4_000  # answers forgotten between two looks at what is young


class ForgettingTable(Protocol):
    """A dictionary of answers, as far as forgetting goes."""

    def pop(self, question: Never, default: None, /) -> object:
        """Forget the answer to a question."""
        ...


class Memory:
    """All tables of an oracle, by the order in which their answers were found.

    An answer that was forgotten is found again when it is needed: this costs time, never a verdict. One bound for all,
    since tables hold each other: a belief holds those to which events led from it.
    """

    __slots__ = ("_entries", "_forgotten", "limit")

    def __init__(self, limit: int = REMEMBERED) -> None:
        self.limit = limit
        self._forgotten = 0
        self._entries: deque[tuple[ForgettingTable, Hashable]] = deque()

    def __len__(self) -> int:
        """Return how many answers are remembered."""
        return len(self._entries)

    def put(self, table: dict[Question, Answer], question: Question, answer: Answer) -> Answer:
        """Remember the answer to a question in its table, and return it."""
        table[question] = answer
        self._entries.append((table, question))
        while len(self._entries) > self.limit:
            self._forget()
        return answer

    def _forget(self) -> None:
        oldest, name = self._entries.popleft()
        oldest.pop(cast("Never", name), None)
        self._forgotten += 1
        # as much is freed as is made: by its count, Python sees no reason to look for garbage among the young, and
        # when it does at last, there are half a million of them, and the tester stands still for half a second
        if self._forgotten % OFTEN == 0 and gc.isenabled():
            gc.collect(1)


class Symbol:
    """A value that is compared by its typed key: `Symbol(True) != Symbol(1)`."""

    __slots__ = ("_hash", "heavy", "key", "value")

    def __init__(self, value: object, key: Hashable) -> None:
        self.value: object = value
        self.key: Hashable = key
        self._hash = hash(key)
        # such a value hardly ever comes twice, and would take much room: nothing that knows it is remembered
        self.heavy: bool = False

    def __hash__(self) -> int:
        """Return the hash that was taken once: keys are nested tuples, and sets of hypotheses ask often."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Compare by key."""
        return self is other or (isinstance(other, Symbol) and self.key == other.key)
