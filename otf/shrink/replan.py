"""Planning anew: the shortest walk through the model that makes the same transitions in the same order.

The same means first the same input with the same outputs, in whatever state, and then no more than the same kind.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from otf.shrink.goals import goals_of
from otf.shrink.issue import ModelStep, NodeSet
from otf.shrink.search import Attempts, ShrinkSearch
from otf.shrink.traits import Trait

WIDE: Final = 4000
TRIES: Final = 2  # walks for one list of goals; with four, a tenth more work found nothing more
FEW: Final = 3  # with more goals than these only the first walk is tried
WantedTraits: TypeAlias = frozenset[Trait]


class _WalkState(NamedTuple):
    """Where a walk is: how many goals are met, and where the first was, since that makes walks different."""

    nodes: NodeSet
    met: int
    first: NodeSet | None


def replanned(search: ShrinkSearch) -> Attempts:
    """Try the shortest walks through the goals of the best, taken ever less exactly."""
    search.begin("replan")
    best = search.best
    for exact in (True, False):
        goals = goals_of(search)
        wanted = [search.traits.fine(goal) if exact else search.traits.coarse(goal) for goal in goals]
        yield from _try(search, wanted, TRIES if len(goals) <= FEW else 1)
    return search.best is not best


def _try(search: ShrinkSearch, wanted: Sequence[WantedTraits], tries: int) -> Attempts:
    for walk, first in _walks(search, wanted):
        if not tries or len(walk) >= len(search.best):
            return False
        # where the same steps passed in the middle of a run they are not likely to fail now
        if not search.evidence.passed(walk[first:]) and not search.evidence.passes(walk):
            tries -= 1
            if (yield from search.fails(walk)):
                return True
    return False


def _walks(search: ShrinkSearch, wanted: Sequence[WantedTraits]) -> Iterator[tuple[tuple[ModelStep, ...], int]]:
    """Yield walks through transitions as wanted, the shortest first, and where the first of these is."""
    start = _WalkState(search.ways.start, 0, None)
    came: dict[_WalkState, tuple[_WalkState, ModelStep] | None] = {start: None}
    todo = deque([(start, 0)])
    while todo and len(came) < WIDE:
        spot, depth = todo.popleft()
        if depth + len(wanted) - spot.met >= len(search.best):
            continue
        for step in search.ways.steps(spot.nodes):
            hit = wanted[spot.met] <= search.traits.fine(step)
            first = step.nodes if hit and not spot.met and len(wanted) <= FEW else spot.first
            then = _WalkState(step.target, spot.met + hit, first)
            if then.met == len(wanted):
                yield _walk(came, spot, step)
            elif then not in came:
                came[then] = (spot, step)
                todo.append((then, depth + 1))


def _walk(
    came: dict[_WalkState, tuple[_WalkState, ModelStep] | None], spot: _WalkState, last: ModelStep
) -> tuple[tuple[ModelStep, ...], int]:
    steps, met = [last], [spot.met]
    before = came[spot]
    while before is not None:
        spot, step = before
        steps.append(step)
        met.append(spot.met)
        before = came[spot]
    return tuple(reversed(steps)), met[::-1].count(0) - 1
