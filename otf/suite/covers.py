"""A2, A3 and A4, paths that cover every transition: Koopman and Plasmeijer, "Testing Reactive Systems with GAST", 8.4.

Each takes the first transition available.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Final

from otf.suite.complete import neighbours, onward
from otf.suite.machine import NOTHING, NumberedMachine, Word

ORDERS: Final = 10  # orders of the inputs to try; the one with the fewest paths wins


def a2(machine: NumberedMachine) -> Iterator[Word]:
    """Yield every path in which no transition occurs twice and that cannot be extended.

    Their number explodes: 118 for nine transitions, 27,848 for eighteen.
    """
    rows = [[inp for inp, target in enumerate(row) if target != NOTHING] for row in machine.next]
    word: list[int] = []
    used = set[tuple[int, int]]()
    trail: list[tuple[int, int]] = []
    left = [iter(rows[0])]
    longer = [False]
    while left:
        state = 0 if not trail else machine.next[trail[-1][0]][trail[-1][1]]
        inp = next((each for each in left[-1] if (state, each) not in used), None)
        if inp is not None:
            longer[-1] = True
            used.add((state, inp))
            trail.append((state, inp))
            word.append(inp)
            left.append(iter(rows[machine.next[state][inp]]))
            longer.append(False)
            continue
        left.pop()
        if not longer.pop() and word:
            yield tuple(word)
        if trail:
            used.discard(trail.pop())
            word.pop()


def a3(machine: NumberedMachine) -> list[Word]:
    """Return paths in which every transition occurs twice: the inputs after it show where it led."""
    return _covering(machine, 2, lambda _state: ())


def a4(machine: NumberedMachine, check: Callable[[int], Word]) -> list[Word]:
    """Return paths in which every transition occurs, each with the inputs at its end that check the state there."""
    return _covering(machine, 1, check)


def _covering(machine: NumberedMachine, times: int, check: Callable[[int], Word]) -> list[Word]:
    # the number of paths depends on the order of the inputs, which the paper does not state
    random, inputs = Random(0), range(len(machine.inputs))
    orders = [inputs, *(random.sample(inputs, len(inputs)) for _ in range(1, ORDERS))]
    found = (list(_first_available(machine, times, check, order)) for order in orders)
    return min(found, key=lambda words: (len(words), sum(map(len, words))))


def _first_available(
    machine: NumberedMachine, times: int, check: Callable[[int], Word], order: Sequence[int]
) -> Iterator[Word]:
    rows = [[inp for inp in order if row[inp] != NOTHING] for row in machine.next]
    used, table = Counter[tuple[int, int]](), neighbours(machine)

    def wanted(state: int) -> int | None:
        return next((inp for inp in rows[state] if used[state, inp] < times), None)

    while (start := next((word for at, word in onward(table, [0]) if wanted(at) is not None), None)) is not None:
        word = list(start)
        state = machine.run(start)[1]
        while (inp := wanted(state)) is not None:
            used[state, inp] += 1
            word.append(inp)
            state = machine.next[state][inp]
        yield (*word, *check(state))
