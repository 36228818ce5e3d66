"""Values: an input is replaced by a simpler one of its kind, names by the first ones, wherever the failure stays.

Simple is what the model offers first: systematic enumeration gives small values first. The third phase of shrinking in
kiri-check, "Stateful testing".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from otf.core import Symbol
from otf.shrink.issue import Step
from otf.shrink.search import Attempts, Search
from otf.shrink.traits import kind

LONG: Final = 10
TWO: Final = 2  # nought makes many things the same, one does not
PRICE: Final = 50  # transitions, and four times the length: simpler values alone make no trace shorter


def uniform(search: Search) -> Attempts:
    """Make all inputs of a kind in a long walk the same: its parts are then alike, and few are left to be tried."""
    search.begin("uniform")
    best = search.best
    if len(best) > LONG:
        for like in {kind(step.input): step for step in best.steps}.values():
            yield from _alike(search, like)
    return search.best is not best


def _alike(search: Search, like: Step) -> Attempts:
    name = kind(like.input)
    places = [at for at, step in enumerate(search.best.steps) if kind(step.input) == name]
    for inp in _kin(search, like)[:TWO]:
        if (yield from search.fails(_put(search, inp, places), simpler=True)):
            return True
    return False


def simplified(search: Search) -> Attempts:
    """Replace each input by a simpler one: everywhere in the best, or in halves, quarters, ... of its places."""
    search.begin("values")
    best = search.best
    for like in sorted({step.input: step for step in best.steps}.values(), key=search.place, reverse=True):
        simpler = _simpler(search, like)
        if simpler and not (yield from _simplest(search, like.input, simpler)):
            yield from _in_places(search, like.input, simpler[0])
    return search.best is not best


def _simplest(search: Search, old: Symbol, values: Sequence[Symbol]) -> Attempts:
    """Try the simplest value, and where that is too simple, halve: what is large enough fails, as a rule."""
    low, high = -1, len(values)
    while high - low > 1 and _worth(search):
        middle = 0 if low < 0 else (low + high) // 2
        if (yield from search.fails(_put(search, values[middle], _places(search, old)), simpler=True)):
            old, high = values[middle], middle
        else:
            low = middle
    return high == 0


def _in_places(search: Search, old: Symbol, new: Symbol) -> Attempts:
    size = len(_places(search, old)) // 2
    while size:
        at = 0
        while (places := _places(search, old)[at : at + size]) and _worth(search):
            if not (yield from search.fails(_put(search, new, places), simpler=True)):
                at += size
        size //= 2
    return True


def _worth(search: Search) -> bool:
    limit = PRICE + 4 * len(search.best)
    return not search.tired and search.spent["values"] < limit


def _places(search: Search, inp: Symbol) -> list[int]:
    return [at for at, step in enumerate(search.best.steps) if step.input == inp]


def _put(search: Search, inp: Symbol, places: Sequence[int]) -> list[Step]:
    return [Step(step.node, inp) if at in places else step for at, step in enumerate(search.best.steps)]


def _simpler(search: Search, step: Step) -> Sequence[Symbol]:
    kin = _kin(search, step)
    return kin[: kin.index(step.input)] if step.input in kin else kin


def _kin(search: Search, step: Step) -> list[Symbol]:
    return [inp for inp in search.ways.offers(step.node) if kind(inp) == kind(step.input)]
