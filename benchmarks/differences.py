"""Difference constraints: unknown times, bounds for their differences, and a solution if there is one."""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

NOISE: Final = 1e-12  # seconds: the error of sums of floats; distinct times differ by more


class Mark(NamedTuple):
    """A point to which constraints can be taken back."""

    edges: int
    solution: list[float]


class Differences:
    """A system of constraints with a solution, which grows by one constraint after another and can shrink again.

    A constraint that the solution violates is repaired by Bellman and Ford's relaxation from there on; if that comes
    back to its beginning there is a negative cycle, and no solution.
    """

    def __init__(self) -> None:
        """Start with the time 0 only."""
        self.solution: list[float] = [0.0]
        self._after: list[list[tuple[int, float]]] = [[]]
        self._trail: list[int] = []

    def unknown(self, near: float = 0.0) -> int:
        """Return a new unknown time; `near` is where to look for it first."""
        self.solution.append(near)
        self._after.append([])
        return len(self.solution) - 1

    def mark(self) -> Mark:
        """Return this point."""
        return Mark(len(self._trail), self.solution.copy())

    def back(self, mark: Mark) -> None:
        """Take back everything since that point."""
        while len(self._trail) > mark.edges:
            self._after[self._trail.pop()].pop()
        del self._after[len(mark.solution) :]
        self.solution = mark.solution.copy()

    def at_most(self, late: int, early: int, seconds: float) -> bool:
        """Demand that `late` is at most `seconds` after `early`; return whether there is still a solution."""
        solution, after = self.solution, self._after
        after[early].append((late, seconds))
        self._trail.append(early)
        if solution[late] <= solution[early] + seconds + NOISE:
            return True
        solution[late] = solution[early] + seconds
        todo = deque((late,))
        while todo:
            here = todo.popleft()
            for there, more in after[here]:
                if solution[there] > solution[here] + more + NOISE:
                    if there == early:
                        return False
                    solution[there] = solution[here] + more
                    todo.append(there)
        return True
