"""The shrinker that knows the model, and the default: a first guess, and then ever less of it.

The order of the means is what measurements favoured; docs/topics-shrinking.md has the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from otf.core import Oracle
from otf.shrink.goals import fewer_goals
from otf.shrink.issue import Issue, Shrinking
from otf.shrink.ladder import climb
from otf.shrink.names import renamed
from otf.shrink.parts import bypassed, without_chunks, without_parts
from otf.shrink.replan import replanned
from otf.shrink.search import Attempts, ShrinkSearch
from otf.shrink.values import simplified, uniform
from otf.shrink.ways import ModelMap

MEANS: Final[tuple[Callable[[ShrinkSearch], Attempts], ...]] = (
    fewer_goals,
    uniform,
    replanned,
    without_chunks,
    without_parts,
    bypassed,
    renamed,
    simplified,
)


def modelled(issue: Issue, oracle: Oracle) -> Shrinking:
    """Yield a first guess after another, then each means in turn as long as one of them finds less."""
    if not issue.steps:  # it failed before any input
        return issue
    search = ShrinkSearch(issue, ModelMap(oracle))
    yield from climb(search)
    best = None
    while search.best is not best:
        best = search.best
        for means in MEANS:
            yield from means(search)
    return search.best
