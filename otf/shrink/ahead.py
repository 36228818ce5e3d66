"""Several candidates at a time: a search is asked on, on the bet that those not yet judged will pass.

Most candidates pass, so most bets are won. A search cannot go back: when a bet is lost it is made anew and told again
what is known. That takes the tester's time, and none of the system's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import ceil, log
from typing import Final

from otf.shrink.issue import Candidate, Issue, Shrinking


class Ahead:
    """A search that `make` makes, always the same; `best` is its result once `done`."""

    def __init__(self, make: Callable[[], Shrinking]) -> None:
        self._make = make
        self._answers: list[Issue | None] = []
        self._asked = deque[Candidate]()
        self._over = False
        self._search = make()
        self._step(lambda: next(self._search))

    @property
    def done(self) -> bool:
        """Tell whether the search is over and every bet won."""
        return self._over and not self._asked

    def candidates(self, most: int) -> list[Candidate]:
        """Return at most so many candidates, the one that is due first."""
        while len(self._asked) < most and not self._over:
            self._step(lambda: self._search.send(None))
        return [*self._asked][:most]

    def tell(self, answer: Issue | None) -> None:
        """Take what came of the candidate that was due."""
        self._answers.append(answer)
        self._asked.popleft()
        if answer is None:
            if not self._asked and not self._over:
                self._step(lambda: self._search.send(None))
        elif self._asked or self._over:
            self._again()
        else:
            self._step(lambda: self._search.send(answer))

    def _step(self, ask: Callable[[], Candidate]) -> None:
        try:
            self._asked.append(ask())
        except StopIteration:
            self._over = True

    def _again(self) -> None:
        self._asked.clear()
        self._over = False
        self._search = self._make()
        next(self._search)
        for answer in self._answers[:-1]:
            self._search.send(answer)
        self._step(lambda: self._search.send(self._answers[-1]))


WANTED: Final = 0.95
MOST: Final = 50  # runs; a failure that is rarer than one in seventeen runs is looked for with less confidence


def repeats(rate: float) -> int:
    """Return after how many runs a failure that shows at this rate has shown itself, with the wanted confidence.

    >>> repeats(1.0), repeats(0.5), repeats(0.1)
    (1, 5, 29)
    """
    if rate >= 1:
        return 1
    return min(MOST, ceil(log(1 - WANTED) / log(1 - rate))) if rate > 0 else MOST
