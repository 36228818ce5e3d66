"""What the core remembers, bounded: the oldest answer goes for each new one, so that forgetting never pauses a run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from functools import partial
from typing import Final, TypeVar

Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer")

REMEMBERED: Final = 150_000
"""Answers: states, values, beliefs, and what the model said of them."""


class Memory:
    """All tables of an oracle, by the order in which their answers were found.

    An answer that was forgotten is found again when it is needed: this costs time, never a verdict. One bound for all,
    since tables hold each other: a belief holds those to which events led from it.
    """

    __slots__ = ("_forget", "limit")

    def __init__(self, limit: int = REMEMBERED) -> None:
        self.limit = limit
        self._forget: deque[Callable[[], object]] = deque()

    def __len__(self) -> int:
        """Return how many answers are remembered."""
        return len(self._forget)

    def put(self, table: dict[Question, Answer], question: Question, answer: Answer) -> Answer:
        """Remember the answer to a question in its table, and return it."""
        table[question] = answer
        self.note(partial(table.pop, question, None))
        return answer

    def note(self, forget: Callable[[], object]) -> None:
        """Remember how to forget something that is no entry of a table."""
        self._forget.append(forget)
        while len(self._forget) > self.limit:
            self._forget.popleft()()
