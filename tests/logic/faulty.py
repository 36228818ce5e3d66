"""Ten faulty functions that sort, parse or queue, each in the property that a right one has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any

from otf.logic import Property, implies
from otf.values import Alphabet

Sort = Callable[[list[int]], list[int]]


def once_each(items: list[int]) -> list[int]:
    """Sort, and drop repeated values."""
    return sorted(set(items))


def one_round(items: list[int]) -> list[int]:
    """Make one round of a bubble sort, where several are needed."""
    found = list(items)
    for at in range(len(found) - 1):
        if found[at] > found[at + 1]:
            found[at], found[at + 1] = found[at + 1], found[at]
    return found


def as_text(items: list[int]) -> list[int]:
    """Sort numbers by their digits."""
    return sorted(items, key=str)


def three_only(items: list[int]) -> list[int]:
    """Sort three items at most."""
    return sorted(items[:3])


def sorts(function: Sort) -> Callable[..., Any]:
    """Say that a function sorts, and changes nothing in place."""

    def prop(xs: list[int]) -> bool:
        return function(xs) == sorted(xs)

    return prop


Sum = Annotated[str, Alphabet("1+")]
Brackets = Annotated[str, Alphabet("()")]
Letters = Annotated[str, Alphabet("ab")]


def two_terms(text: str) -> int:
    """Add up at most two terms."""
    first, *others = text.split("+")
    return sum(map(int, [first, *others[:1]]))


def sums_up(text: Sum) -> Property:
    """Say that a sum of numbers is what adding them gives."""
    terms = text.split("+")
    return implies(all(terms), lambda: two_terms(text) == sum(map(int, terms)))


def counted(text: str) -> bool:
    """Take as many brackets that open as that close for balanced ones."""
    return text.count("(") == text.count(")")


def balances(text: Brackets) -> bool:
    """Say that balanced is what disappears when pairs are taken out, again and again."""
    rest = text
    while "()" in rest:
        rest = rest.replace("()", "")
    return counted(text) == (not rest)


def packed(text: str) -> str:
    """Write each run as its length and its letter."""
    return "".join(f"{len(list(run))}{letter}" for letter, run in groupby(text))


def unpacked(text: str) -> str:
    """Read lengths of one digit."""
    return "".join(int(text[at]) * text[at + 1] for at in range(0, len(text) - 1, 2))


def comes_back(text: Letters) -> bool:
    """Say that unpacking undoes packing."""
    return unpacked(packed(text)) == text


@dataclass(frozen=True)
class Put:
    item: int


@dataclass(frozen=True)
class Take:
    pass


Calls = list[Put | Take]


class Right:
    """A queue: what was put in first comes out first; None when it is empty."""

    def __init__(self) -> None:
        self.items: list[int] = []

    def put(self, item: int) -> None:
        """Put an item at the end."""
        self.items.append(item)

    def take(self) -> int | None:
        """Take the first item out."""
        return self.items.pop(0) if self.items else None


class Stack(Right):
    """What was put in last comes out first."""

    def take(self) -> int | None:
        """Take the last item out."""
        return self.items.pop() if self.items else None


class Full(Right):
    """Two items at most; others are lost."""

    def put(self, item: int) -> None:
        """Put an item at the end if there is room."""
        if len(self.items) < 2:
            super().put(item)


class Falsy(Right):
    """Takes 0 for nothing."""

    def take(self) -> int | None:
        """Take the first item out, if it is one."""
        return super().take() or None


def queues(made: Callable[[], Right]) -> Callable[..., Any]:
    """Say that an object answers like a queue."""

    def prop(calls: Calls) -> bool:
        return answers(made(), calls) == answers(Right(), calls)

    return prop


def answers(queue: Right, calls: Calls) -> list[int | None]:
    """Call a queue and collect what it gives."""
    found: list[int | None] = []
    for call in calls:
        if isinstance(call, Put):
            queue.put(call.item)
        else:
            found.append(queue.take())
    return found


FAULTY: dict[str, tuple[Callable[..., Any], Any]] = {
    "once_each": (sorts(once_each), [0, 0]),
    "one_round": (sorts(one_round), [0, 0, -1]),
    "as_text": (sorts(as_text), [-1, -2]),
    "three_only": (sorts(three_only), [0, 0, 0, 0]),
    "two_terms": (sums_up, "1+1+1"),
    "counted": (balances, ")("),
    "unpacked": (comes_back, "a" * 10),
    "Stack": (queues(Stack), [Put(0), Put(1), Take()]),
    "Full": (queues(Full), [Put(0)] * 3 + [Take()] * 3),
    "Falsy": (queues(Falsy), [Put(0), Take()]),
}
