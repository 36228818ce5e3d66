"""Names that several inputs share: each is replaced by a simpler one in all of them at once.

One input alone cannot be given another name where the others must have the same, as those that open and read a file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Final, TypeAlias

from otf.core import Symbol
from otf.shrink.issue import ModelStep
from otf.shrink.search import Attempts, ShrinkSearch
from otf.shrink.traits import is_tuple, kind

TWO: Final = 2  # the first name may be one that nothing happens with
Name: TypeAlias = Hashable


def renamed(search: ShrinkSearch) -> Attempts:
    """Replace each name that inputs of the best share by the first ones that the model offers in its place."""
    search.begin("names")
    best = search.best
    for old in _shared(search.best.steps):
        for new in _simpler(search, old)[:TWO]:
            if search.tired or (yield from search.fails(_put(search, old, new), simpler=True)):
                break
    return search.best is not best


def _shared(steps: Sequence[ModelStep]) -> list[Name]:
    uses = Counter(name for inp in dict.fromkeys(step.input for step in steps) for name in dict.fromkeys(_names(inp)))
    return [name for name, times in uses.items() if times > 1]


def _names(inp: Symbol) -> tuple[Name, ...]:
    # the key of a value with parts: its type, then the key of each part
    return inp.key[1:] if is_tuple(inp.key) else ()


def _simpler(search: ShrinkSearch, old: Name) -> list[Name]:
    return [*dict.fromkeys(name for step in search.best.steps for name in _before(search, step, old))]


def _before(search: ShrinkSearch, step: ModelStep, old: Name) -> Iterator[Name]:
    """Yield what the model offers in the places where an input has this name, up to the name itself."""
    for at in (at for at, name in enumerate(_names(step.input)) if name == old):
        offered = [*dict.fromkeys(_names(inp)[at] for inp in _kin(search, step))]
        yield from offered[: offered.index(old)] if old in offered else offered


def _put(search: ShrinkSearch, old: Name, new: Name) -> list[ModelStep]:
    return [ModelStep(step.nodes, _instead(search, step, old, new)) for step in search.best.steps]


def _instead(search: ShrinkSearch, step: ModelStep, old: Name, new: Name) -> Symbol:
    names = tuple(new if name == old else name for name in _names(step.input))
    # one that the model does not offer cannot be made here
    return next((inp for inp in _kin(search, step) if _names(inp) == names), step.input)


def _kin(search: ShrinkSearch, step: ModelStep) -> list[Symbol]:
    # tuples of one kind may be of different lengths
    length = len(_names(step.input))
    enabled_inputs = search.ways.enabled_inputs(step.nodes)
    return [inp for inp in enabled_inputs if kind(inp) == kind(step.input) and len(_names(inp)) == length]
