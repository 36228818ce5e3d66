"""Shortest ways through a machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from otf.errors import UsageError
from otf.suite.machine import NOTHING, NumberedMachine, Word
from otf.values import show


def cover(machine: NumberedMachine) -> list[Word]:
    """Return a shortest word to each state; what these words begin with is among them. Raises UsageError."""
    words = reach(neighbours(machine), [0], machine.size)
    missing = [machine.states[state] for state, word in enumerate(words) if word is None]
    if missing:
        message = f"{machine.name} is not connected: no inputs lead to {show(missing[0])}; leave that state out"
        raise UsageError(message)
    return [word for word in words if word is not None]


def neighbours(machine: NumberedMachine) -> list[dict[int, int]]:
    """Return for each state the states that one input leads to, with the first such input."""
    table: list[dict[int, int]] = [{} for _ in range(machine.size)]
    for state, inp in machine.transitions:
        table[state].setdefault(machine.next[state][inp], inp)
    return table


def reach(table: list[dict[int, int]], starts: Iterable[int], size: int) -> list[Word | None]:
    """Return the shortest word from one of the starts to each state, None where there is none."""
    words: list[Word | None] = [None] * size
    queue = deque(starts)
    for start in queue:
        words[start] = ()
    while queue:
        word = words[state := queue.popleft()] or ()
        for target, inp in table[state].items():
            if words[target] is None:
                words[target] = (*word, inp)
                queue.append(target)
    return words


def distances(machine: NumberedMachine) -> list[list[int]]:
    """Return how many inputs lead from each state to each other; more than there are states: none do."""
    table, far = neighbours(machine), machine.size + 1
    return [
        [far if word is None else len(word) for word in reach(table, [state], machine.size)]
        for state in range(machine.size)
    ]


def only_back(words: list[Word], machine: NumberedMachine) -> set[tuple[int, int]]:
    """Return the transitions that the words of a cover are made of."""
    return {(machine.run(word[:-1])[1], word[-1]) for word in words if word and word[-1] != NOTHING}
