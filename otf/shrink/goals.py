"""Goals: the steps of a walk that the shortest way would not take. Fewer of them, joined by shortest ways, may do."""

from __future__ import annotations

from typing import Final

from otf.shrink.issue import ModelStep
from otf.shrink.search import Attempts, ShrinkSearch, joined

FIRST: Final = 3
LONG: Final = 40  # of a longer walk almost every step is a goal, and chunks of it cost less


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
    if len(search.best) > LONG:
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
