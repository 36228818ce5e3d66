"""Leaving out parts of the best: of a long walk large parts, of a short one every part.

A bypass replaces a part of a short walk by a shorter way through the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from typing import Final

from otf.shrink.issue import Thinking
from otf.shrink.search import Attempts, ShrinkSearch
from otf.shrink.ways import ModelSteps

SHORT: Final = 4
LONG: Final = 10
ENOUGH: Final = 3


def without_chunks(search: ShrinkSearch) -> Attempts:
    """Leave out halves, quarters, ... of the best.

    Equal parts are tried three times only: a fault that counts them needs all, and trying each has quadratic cost.
    """
    search.begin("chunks")
    best, size = search.best, len(search.best) // 2
    while size and len(search.best) > SHORT:
        yield from _chunks(search, size)
        size //= 2
    return search.best is not best


def _chunks(search: ShrinkSearch, size: int) -> Attempts:
    at, needed = 0, Counter[Hashable]()
    while at + size < len(search.best):
        steps = search.best.steps
        part = tuple(step.input for step in steps[at : at + size])
        if needed[part] < ENOUGH and (yield from search.fails(steps[:at] + steps[at + size :])):
            needed.clear()
        else:
            needed[part] += 1
            at += size
    return True


def without_parts(search: ShrinkSearch) -> Attempts:
    """Leave out any part of a short walk, the largest first, until every part is needed."""
    search.begin("parts")
    best = search.best
    while len(search.best) <= LONG and (yield from _one(search)):
        pass
    return search.best is not best


def _one(search: ShrinkSearch) -> Attempts:
    steps = search.best.steps
    return (yield from _first(search, (steps[:begin] + steps[end:] for begin, end in _bounds(len(steps)))))


def _first(search: ShrinkSearch, walks: Iterable[ModelSteps]) -> Attempts:
    """Try walks; return whether one failed before the search got tired of walks that passed."""
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
    """Try each bypass, those that save most first, until none fails."""
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
