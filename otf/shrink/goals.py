"""Goals: the steps of a walk that the shortest way would not take. Fewer of them, joined by shortest ways, may do."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from otf.shrink.issue import ModelStep, NodeSet
from otf.shrink.search import Attempts, ShrinkSearch, joined
from otf.shrink.traits import Trait

FIRST: Final = 3
MOST: Final = 40  # of a longer walk almost every step is a goal, and chunks of it cost less


def goals_of(search: ShrinkSearch) -> list[ModelStep]:
    """Return the steps of the best that lead off the shortest way, and the one that fails.

    What lies between them is mere travel: a fault that the system hides from the model is brought about by a goal.
    """
    found, begin = list[ModelStep](), 0
    steps = search.best.steps
    for at, step in enumerate(steps[:-1]):
        if search.ways.path(steps[begin].nodes, step.target, at - begin) is not None:
            found.append(step)
            begin = at + 1
    return [*found, steps[-1]]


def fewer_goals(search: ShrinkSearch) -> Attempts:
    """Try the last goal alone, with each of the first ones, and then the goals without parts of them."""
    search.begin("goals")
    if len(search.best) > MOST:
        return False
    goals = goals_of(search)
    for kept in ([], *([goal] for goal in goals[: min(FIRST, len(goals) - 2)])):
        if (yield from search.fails(joined(search.ways, [*kept, goals[-1]]))):
            return True
    return (yield from _without_parts(search, goals))


def _without_parts(search: ShrinkSearch, goals: list[ModelStep]) -> Attempts:
    best, size = search.best, len(goals) // 2
    while size:
        at = 0
        while at + size < len(goals) and not search.tired:
            if (yield from search.fails(joined(search.ways, goals[:at] + goals[at + size :]))):
                goals = goals_of(search)
            else:
                at += size
        size //= 2
    return search.best is not best


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
