"""Running candidates: several at a time, and each often enough.

Several at a time: the search goes on as if the candidates that are not judged yet had passed. Most candidates pass, so
most of these bets are won. Where candidates fail in a row, the bet is that the next one fails as expected. A search
cannot go back: when a bet is lost, the search is made anew and its answers so far are replayed. That takes the tester's
time, but none of the system's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import ceil, log
from typing import Final

from otf.shrink.issue import Candidate, Issue, PausingSearch, Thinking, completed

CONFIDENCE: Final = 0.95
ROW: Final = 2  # failures in a row after which the next candidate is expected to fail too
MOST: Final = 50  # runs; the confidence is less for a failure that is rarer than one in seventeen runs


class Ahead:
    """A search of which several candidates can run at a time; `make` must always make the same search.

    `expected` returns the issue that a candidate most likely shows if it fails. `bets` has the answer that the search
    was given for each candidate but the last.

    >>> from otf.core import Symbol
    >>> from otf.shrink import AllowedInputs, Issue
    >>> def search():
    ...     for length in (3, 2, 1): yield AllowedInputs((Symbol("press", "press"),) * length)
    ...     return Issue(())
    >>> ahead = Ahead(search)
    >>> [candidate.limit for candidate in ahead.candidates(2)]
    [3, 2]
    >>> ahead.tell(None)
    >>> [candidate.limit for candidate in ahead.candidates(2)], ahead.done
    ([2, 1], False)
    """

    def __init__(
        self, make: Callable[[], PausingSearch], expected: Callable[[Candidate], Issue | None] | None = None
    ) -> None:
        self._make = make
        self._expected = expected
        self.bets: list[Issue | None] = []
        self._search = make()
        self._answers: list[Issue | None] = []
        self._asked = deque[Candidate]()
        self._to_send = deque[Issue | None]([None])  # a search is started with None
        self._over = False

    @property
    def done(self) -> bool:
        """Return whether the search is over, and every candidate judged."""
        return self._over and not self._asked

    def candidates(self, most: int) -> list[Candidate]:
        """Return at most `most` candidates; the first is the one that `tell` judges next."""
        return completed(self.upcoming(most))

    def upcoming(self, most: int) -> Thinking[list[Candidate]]:
        """Return what `candidates` does, with pauses."""
        while len(self._asked) < most and not self._over:
            if not self._to_send:
                bet = self._bet() if self._asked else None
                self.bets += [bet] * bool(self._asked)
                self._to_send.append(bet)
            yield from self._forward(self._to_send.popleft())
        return [*self._asked][:most]

    def tell(self, answer: Issue | None) -> None:
        """Judge the next candidate: by the issue that it showed, None if it passed."""
        self._answers.append(answer)
        self._asked.popleft()
        if not self.bets:
            self._to_send.append(answer)
        elif self.bets.pop(0) != answer:
            self._asked.clear()
            self.bets.clear()
            self._over = False
            self._search = self._make()
            self._to_send.extend([None, *self._answers])

    def _bet(self) -> Issue | None:
        last = self._answers[-ROW:]
        fails = self._expected is not None and len(last) == ROW and None not in last
        return self._expected(self._asked[-1]) if fails and self._expected is not None else None

    def _forward(self, answer: Issue | None) -> Thinking[None]:
        """Send an answer to the search; its next candidate is one to run, unless its answer is known."""
        try:
            candidate = self._search.send(answer)
            while candidate is None:
                yield None
                candidate = self._search.send(None)
        except StopIteration:
            self._over = True
        else:
            if not self._to_send:
                self._asked.append(candidate)


def repeats(rate: float) -> int:
    """Return the number of runs after which a failure with this rate has shown with 95 % confidence; 50 at most.

    A failure that shows in one run of three is not ruled out by one run that passed.

    >>> repeats(1.0), repeats(0.5), repeats(0.1)
    (1, 5, 29)
    """
    if rate >= 1:
        return 1
    return min(MOST, ceil(log(1 - CONFIDENCE) / log(1 - rate))) if rate > 0 else MOST
