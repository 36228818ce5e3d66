"""Symbols, and the bounded tables of the core.

Symbols are values with a typed key and its hash at hand. The oldest answer of all tables is dropped for each new one,
so that forgetting never pauses a run.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Hashable
from typing import Final, Never, Protocol, TypeVar, cast

Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer")

REMEMBERED: Final = 100_000
"""Answers: states, values, beliefs, and the moves of the model.

The conference protocol with all its inputs needs 46,000; if states never come again, they take some 90 MB.
"""


OFTEN: Final = 4_000  # answers forgotten between two collections of young garbage


class ForgettingTable(Protocol):
    """A dictionary of answers, as used for forgetting."""

    def pop(self, question: Never, default: None, /) -> object:
        """Forget the answer to a question."""
        ...


class Memory:
    """All tables of an oracle, by the order in which their answers were found.

    A forgotten answer is found again when it is needed: this costs time, never a verdict. One bound holds for all
    tables, since they refer to each other: a belief holds the next belief for each event.
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
        # as many objects are freed as made: by its count, Python has no reason to collect young garbage until there are
        # half a million of them, and the tester stops for half a second
        if self._forgotten % OFTEN == 0 and gc.isenabled():
            gc.collect(1)


class Symbol:
    """A value that is compared by its typed key: `Symbol(True) != Symbol(1)`."""

    __slots__ = ("_hash", "heavy", "key", "value")

    def __init__(self, value: object, key: Hashable) -> None:
        self.value: object = value
        self.key: Hashable = key
        self._hash = hash(key)
        # such a value hardly ever comes twice, and takes much room: nothing that refers to it is remembered
        self.heavy: bool = False

    def __hash__(self) -> int:
        """Return the hash, computed once: keys are nested tuples, and sets of hypotheses need it often."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Compare by key."""
        return self is other or (isinstance(other, Symbol) and self.key == other.key)
