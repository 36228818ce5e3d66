"""Shorter walks: without parts of the best, or with fewer goals (the steps that lead off the shortest way).

In a long walk, leave out large parts, in a short one every part; a bypass replaces a part of a short walk by a shorter
way through the model. Fewer goals, joined by shortest ways, may be enough. And a shorter walk may pass similar
transitions in the same order: first those with the same input and outputs, in whatever state, then any of the same
kind.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from otf.core import Symbol
from otf.shrink.issue import ModelStep, NodeSet, Thinking, Trait, kind
from otf.shrink.search import Attempts, ShrinkSearch, joined
from otf.shrink.shortest_ways import ModelSteps

WIDE: Final = 4000
LOOKED: Final = 40_000  # steps: with hundreds of inputs, these cover few states
TRIES: Final = 2  # walks for one list of goals; four cost a tenth more work, and found nothing more
FEW: Final = 3  # with more goals, try only the first walk
FIRST: Final = 3
MOST: Final = 40  # steps: in a longer walk almost every step is a goal, and leaving out chunks costs less


def goals_of(search: ShrinkSearch) -> Thinking[list[ModelStep]]:
    """Return the steps of the best that lead off the shortest way, and the failing one.

    The steps between them are mere travel: the goals cause a fault that the model cannot see.
    """
    found, begin = list[ModelStep](), 0
    steps = search.best.steps
    for at, step in enumerate(steps[:-1]):
        if (yield from search.ways.path(steps[begin].nodes, step.target, at - begin)) is not None:
            found.append(step)
            begin = at + 1
    return [*found, steps[-1]]


def fewer_goals(search: ShrinkSearch) -> Attempts:
    """Try to keep fewer goals, where a goal is a step that does not lie on the shortest path through the model.

    The search tries the last goal alone, then the last goal with one of the first goals, and then all goals but some.
    """
    search.begin("goals")
    if len(search.best) > MOST:
        return False
    goals = yield from goals_of(search)
    for kept in ([], *([goal] for goal in goals[: min(FIRST, len(goals) - 2)])):
        walk = yield from joined(search.ways, [*kept, goals[-1]])
        if (yield from search.fails(walk)):
            return True
    return (yield from _without_parts(search, goals))


def _without_parts(search: ShrinkSearch, goals: list[ModelStep]) -> Attempts:
    best, size = search.best, len(goals) // 2
    while size:
        at = 0
        while at + size < len(goals) and not search.tired:
            walk = yield from joined(search.ways, goals[:at] + goals[at + size :])
            if (yield from search.fails(walk)):
                goals = yield from goals_of(search)
            else:
                at += size
        size //= 2
    return search.best is not best


WantedTraits: TypeAlias = frozenset[Trait]


class _WalkState(NamedTuple):
    """The state of a walk: its nodes, how many goals it has met, and where the first one was."""

    nodes: NodeSet
    met: int
    first: NodeSet | None


def replanned(search: ShrinkSearch) -> Attempts:
    """Try the shortest paths with transitions like those of the best path's goals.

    The search first tries paths with exactly alike transitions, and then paths with transitions of a similar kind.
    """
    search.begin("replan")
    best = search.best
    for exact in (True, False):
        goals = yield from goals_of(search)
        wanted = [search.traits.fine(goal) if exact else search.traits.coarse(goal) for goal in goals]
        yield from _try(search, wanted, TRIES if len(goals) <= FEW else 1)
    return search.best is not best


def _try(search: ShrinkSearch, wanted: Sequence[WantedTraits], tries: int) -> Attempts:
    for found in _walks(search, wanted):
        if found is None:
            yield None
            continue
        walk, first = found
        if not tries or len(walk) >= len(search.best):
            return False
        # steps that passed in the middle of a run are unlikely to fail now
        if not search.evidence.passed(walk[first:]) and not search.evidence.passes(walk):
            tries -= 1
            if (yield from search.fails(walk)):
                return True
    return False


def _walks(search: ShrinkSearch, wanted: Sequence[WantedTraits]) -> Iterator[tuple[ModelSteps, int] | None]:
    """Yield walks through transitions with the wanted traits, the shortest first, and the index of the first one.

    None is a pause.
    """
    start = _WalkState(search.ways.start, 0, None)
    back: dict[_WalkState, tuple[_WalkState, ModelStep] | None] = {start: None}
    todo, looked = deque([(start, 0)]), 0
    while todo and len(back) < WIDE and looked < LOOKED:
        yield None
        state, depth = todo.popleft()
        if depth + len(wanted) - state.met >= len(search.best):
            continue
        for step in search.ways.steps(state.nodes):
            looked += 1
            hit = wanted[state.met] <= search.traits.fine(step)
            first = step.nodes if hit and not state.met and len(wanted) <= FEW else state.first
            then = _WalkState(step.target, state.met + hit, first)
            if then.met == len(wanted):
                yield _walk(back, state, step)
            elif then not in back:
                back[then] = (state, step)
                todo.append((then, depth + 1))


def _walk(
    back: dict[_WalkState, tuple[_WalkState, ModelStep] | None], state: _WalkState, last: ModelStep
) -> tuple[ModelSteps, int]:
    steps, met = [last], [state.met]
    before = back[state]
    while before is not None:
        state, step = before
        steps.append(step)
        met.append(state.met)
        before = back[state]
    return tuple(reversed(steps)), met[::-1].count(0) - 1


SHORT: Final = 4
LONG: Final = 10
ENOUGH: Final = 3


def without_kinds(search: ShrinkSearch) -> Attempts:
    """Try to leave out all inputs of one kind, and then all equal inputs."""
    search.begin("kinds")
    best = search.best
    for name in (kind, _itself):
        for like, _ in Counter(name(step.input) for step in search.best.steps).most_common():
            if len(search.best) > LONG and not search.tired:
                *before, last = search.best.steps
                yield from search.fails([*(step for step in before if name(step.input) != like), last])
    return search.best is not best


def _itself(inp: Symbol) -> Trait:
    return inp


def without_chunks(search: ShrinkSearch) -> Attempts:
    """Try to leave out halves of the best path's inputs, then quarters, and so on.

    The search leaves out equal parts at most three times. If a fault counts equal inputs, the path needs all of them,
    and to try each part would take quadratic time.
    """
    search.begin("chunks")
    best, size = search.best, len(search.best) // 2
    while size and len(search.best) > SHORT:
        yield from _chunks(search, size)
        size //= 2
    return search.best is not best


def _chunks(search: ShrinkSearch, size: int) -> Attempts:
    at, needed = 0, Counter[Hashable]()
    while at + size < len(search.best) + search.ends_anywhere:
        steps = search.best.steps
        part = tuple(step.input for step in steps[at : at + size])
        if needed[part] < ENOUGH and (yield from search.fails(steps[:at] + steps[at + size :])):
            needed.clear()
        else:
            needed[part] += 1
            at += size
    return True


def without_parts(search: ShrinkSearch) -> Attempts:
    """Leave out parts of a short path, the largest parts first, until the failure needs every remaining part."""
    search.begin("parts")
    best = search.best
    while len(search.best) <= LONG and (yield from _one(search)):
        pass
    return search.best is not best


def _one(search: ShrinkSearch) -> Attempts:
    steps = search.best.steps
    bounds = _bounds(len(steps) + search.ends_anywhere)
    return (yield from _first(search, (steps[:begin] + steps[end:] for begin, end in bounds)))


def _first(search: ShrinkSearch, walks: Iterable[ModelSteps]) -> Attempts:
    """Try walks; return whether one failed before the search tired of walks that passed."""
    for walk in walks:
        if search.tired:
            return False
        if (yield from search.fails(walk)):
            return True
    return False


def _bounds(length: int) -> Iterator[tuple[int, int]]:
    for size in range(length - 1, 0, -1):
        yield from ((begin, begin + size) for begin in range(length - size))


def bypassed(search: ShrinkSearch) -> Attempts:
    """Replace parts of the path by shorter inputs to an equal state, and try the largest saving first."""
    search.begin("bypass")
    best = search.best
    failed = True
    while failed and len(search.best) <= LONG:
        bypasses = yield from _bypasses(search)
        failed = yield from _first(search, sorted(bypasses, key=len))
    return search.best is not best


def _bypasses(search: ShrinkSearch) -> Thinking[list[ModelSteps]]:
    steps, found = search.best.steps, list[ModelSteps]()
    for begin in range(len(steps)):
        for end in range(begin + 2, len(steps)):
            way = yield from search.ways.path(steps[begin].nodes, steps[end].nodes, end - begin - 1)
            if way:
                found.append((*steps[:begin], *way, *steps[end:]))
    return found
