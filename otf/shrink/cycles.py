"""Cycle elimination: leave out what leads from a state of the model back to it, largest cycles first.

Koopman, Achten and Plasmeijer, "Model-Based Shrinking for State Based Testing", sections 5.2 and 6.3.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from otf.shrink.inputs import inputs
from otf.shrink.issue import Candidate, Issue, ModelStep, NodeSet, Shrinking


def cycles(issue: Issue) -> Shrinking:
    """Yield the issue without each of its cycles in turn; after each success the cycles of what is left."""
    while True:
        smaller = yield from _first(issue)
        if smaller is None:
            return issue
        issue = smaller


def _first(issue: Issue) -> Generator[Candidate, Issue | None, Issue | None]:
    for begin, end in _largest_first(issue.steps):
        smaller = yield inputs(issue.steps[:begin], issue.steps[end:])
        if smaller is not None:
            return smaller
    return None


def _largest_first(steps: tuple[ModelStep, ...]) -> list[tuple[int, int]]:
    return sorted(_found(steps), key=lambda cycle: (cycle[0] - cycle[1], cycle[0]))


def _found(steps: tuple[ModelStep, ...]) -> Iterator[tuple[int, int]]:
    at: dict[NodeSet, list[int]] = {}
    for index, step in enumerate(steps):
        for begin in at.setdefault(step.nodes, []):
            yield begin, index
        at[step.nodes].append(index)
