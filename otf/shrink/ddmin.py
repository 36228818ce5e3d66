"""Delta debugging: ever smaller parts, and what is left without them.

Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2), 2002, the algorithm ddmin.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import pairwise

from otf.shrink.inputs import inputs
from otf.shrink.issue import Candidate, Issue, ModelStep, Shrinking


def ddmin(issue: Issue) -> Shrinking:
    """Yield each of n parts of the issue, then each complement; n is 2 at first and doubled when none of them fails."""
    parts = 2
    while len(issue) > 1:
        parts = min(parts, len(issue))
        smaller = yield from _first(_pieces(issue.steps, parts))
        rest = None if smaller else (yield from _first(_rests(issue.steps, parts)))
        if smaller is None and rest is None and parts == len(issue):
            return issue
        parts = 2 if smaller else max(parts - 1, 2) if rest else 2 * parts
        issue = smaller or rest or issue
    return issue


def _first(candidates: Iterator[Candidate]) -> Generator[Candidate, Issue | None, Issue | None]:
    for candidate in candidates:
        smaller = yield candidate
        if smaller is not None:
            return smaller
    return None


def _pieces(steps: tuple[ModelStep, ...], parts: int) -> Iterator[Candidate]:
    for begin, end in _bounds(len(steps), parts):
        yield inputs(steps[begin:end])


def _rests(steps: tuple[ModelStep, ...], parts: int) -> Iterator[Candidate]:
    for begin, end in _bounds(len(steps), parts):
        yield inputs(steps[:begin], steps[end:])


def _bounds(length: int, parts: int) -> Iterator[tuple[int, int]]:
    marks = [length * part // parts for part in range(parts + 1)]
    return pairwise(marks)
