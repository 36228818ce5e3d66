"""The algorithms A2, A3 and A4: paths that cover every transition.

Koopman and Plasmeijer, "Testing Reactive Systems with GAST", section 8.4. Each takes the first transition available.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator

from otf.suite.machine import NOTHING, NumberedMachine, Word


def a2(machine: NumberedMachine) -> Iterator[Word]:
    """Yield every path in which no transition occurs twice and which cannot be made longer.

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


def a3(machine: NumberedMachine) -> Iterator[Word]:
    """Yield paths in which every transition occurs twice: the inputs after it show where it led."""
    return _covering(machine, 2, lambda _state: ())


def a4(machine: NumberedMachine, check: Callable[[int], Word]) -> Iterator[Word]:
    """Yield paths in which every transition occurs, each with the inputs at its end that check the state there."""
    return _covering(machine, 1, check)


def _covering(machine: NumberedMachine, times: int, check: Callable[[int], Word]) -> Iterator[Word]:
    rows = [[inp for inp, target in enumerate(row) if target != NOTHING] for row in machine.next]
    used: Counter[tuple[int, int]] = Counter()

    def wanted(state: int) -> int | None:
        return next((inp for inp in rows[state] if used[state, inp] < times), None)

    while (start := _nearest(machine, rows, wanted)) is not None:
        word = list(start)
        state = machine.run(start)[1]
        while (inp := wanted(state)) is not None:
            used[state, inp] += 1
            word.append(inp)
            state = machine.next[state][inp]
        yield (*word, *check(state))


def _nearest(machine: NumberedMachine, rows: list[list[int]], wanted: Callable[[int], int | None]) -> Word | None:
    """Return a shortest word to a state with a wanted transition, None if there is none."""
    seen, queue = {0}, deque[tuple[int, Word]]([(0, ())])
    while queue:
        state, word = queue.popleft()
        if wanted(state) is not None:
            return word
        for inp in rows[state]:
            target = machine.next[state][inp]
            if target not in seen:
                seen.add(target)
                queue.append((target, (*word, inp)))
    return None
