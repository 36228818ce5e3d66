"""Races: which of the inputs that were sent at once are enough, and which of them may come one by one.

A race shows by chance, so each candidate needs many runs, and what passed is little evidence. Most races need no more
than the last bursts: from the start, or from the state in which they began, to which the model knows the shortest way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from otf.core import Oracle
from otf.shrink.issue import Candidate, Issue, ModelStep, NodeSet, Thinking
from otf.shrink.plan import StepPlan, again
from otf.shrink.search import Attempts, ShrinkSearch
from otf.shrink.shortest_ways import ModelMap, ModelSteps

FEW: Final = 4


def last_bursts(issue: Issue, oracle: Oracle) -> Thinking[list[Candidate]]:
    """Return runs of the last 1, 2, 3, 4, 8, 16 … bursts, the shortest first; the last is the whole run.

    >>> from otf.core import Model, Symbol
    >>> from otf.shrink import ModelStep
    >>> from otf.shrink.issue import completed
    >>> from otf.spec import Spec, goto
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit)], False, ["press"])))
    >>> step = ModelStep(frozenset([oracle.model.initial]), oracle.model.symbol("press"))
    >>> [len(each.steps) for each in completed(last_bursts(Issue((step, step)), oracle))[:-1]]
    [1]
    """
    ways, steps = ModelMap(oracle), issue.steps
    ways.learn(steps)
    found = dict[ModelSteps, None]()
    for begin in _begins(steps):
        way = yield from _way(ways, steps[begin].nodes)
        for before in ((), way or ()):
            found[ways.along((*before, *steps[begin:]))] = None
    shorter = sorted((walk for walk in found if 0 < len(walk) < len(steps)), key=len)
    return [*(StepPlan(walk, ways) for walk in shorter), again(issue, oracle)]


def _begins(steps: ModelSteps) -> Iterator[int]:
    """Yield where the last bursts begin; an input that was sent alone is one."""
    every = [at for at, step in enumerate(steps) if not at or not 0 < step.burst == steps[at - 1].burst]
    kept = 1
    while kept < len(every):
        yield every[-kept]
        kept += 1 if kept < FEW else kept


def _way(ways: ModelMap, nodes: NodeSet) -> Thinking[ModelSteps | None]:
    """Return the shortest way to nodes, or to one of them: a run without bursts comes to one state."""
    for target in (nodes, *(frozenset([each]) for each in nodes)):
        way = yield from ways.path(ways.start, target)
        if way is not None:
            return way
    return None


def one_by_one(search: ShrinkSearch) -> Attempts:
    """Send the inputs of each burst one by one, as long as the run fails."""
    search.begin("bursts")
    steps = search.best.steps
    for burst in dict.fromkeys(step.burst for step in steps if step.burst):
        if (yield from search.fails((_alone(step, burst) for step in steps), as_long=True)):
            return True
    return False


def _alone(step: ModelStep, burst: int) -> ModelStep:
    return step._replace(burst=0) if step.burst == burst else step
