"""Values: inputs are replaced by simpler ones of their kind, and names by the first ones, as long as the run fails.

An input is simpler if the model enables it earlier: systematic enumeration gives small values first. Compare the third
phase of shrinking in kiri-check, "Stateful testing".

A name that several inputs share is replaced in all of them at once: an input that reads a file needs the name of the
one that opened it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Final, TypeAlias

from otf.codec.malformed import Malformed, shorter
from otf.core import Symbol
from otf.shrink.issue import ModelStep, kind, parts
from otf.shrink.search import Attempts, ShrinkSearch

NEW_NAMES: Final = 2  # nothing may happen with the first name
LONG: Final = 10
NEW_VALUES: Final = 2  # the first value is often zero, which makes too many things equal; the second is not
PRICE: Final = 50  # transitions to spend, besides four for each step: simpler values make no trace shorter


def uniform(search: ShrinkSearch) -> Attempts:
    """Make all inputs of a kind in a long walk the same: its parts are then alike, and few are left to try."""
    search.begin("uniform")
    best = search.best
    if len(best) > LONG:
        for like in {kind(step.input): step for step in best.steps}.values():
            yield from _alike(search, like)
    return search.best is not best


def _alike(search: ShrinkSearch, like: ModelStep) -> Attempts:
    name = kind(like.input)
    indices = [at for at, step in enumerate(search.best.steps) if kind(step.input) == name]
    for inp in _kin(search, like)[:NEW_VALUES]:
        if (yield from search.fails(_put(search, inp, indices), simpler=True)):
            return True
    return False


def simplified(search: ShrinkSearch) -> Attempts:
    """Replace each input by a simpler one: everywhere in the best, or in halves, quarters, ... of its occurrences."""
    search.begin("values")
    best = search.best
    for like in sorted({step.input: step for step in best.steps}.values(), key=search.rank_of, reverse=True):
        simpler = _simpler(search, like)
        if simpler and not (yield from _simplest(search, like.input, simpler)):
            yield from _in_parts(search, like.input, simpler[0])
    return search.best is not best


def _simplest(search: ShrinkSearch, old: Symbol, values: Sequence[Symbol]) -> Attempts:
    """Try the simplest value; if that passes, search by halving: a value that is large enough usually fails."""
    low, high = -1, len(values)
    while high - low > 1 and _worth(search):
        middle = 0 if low < 0 else (low + high) // 2
        if (yield from search.fails(_put(search, values[middle], _occurrences(search, old)), simpler=True)):
            old, high = values[middle], middle
        else:
            low = middle
    return high == 0


def _in_parts(search: ShrinkSearch, old: Symbol, new: Symbol) -> Attempts:
    size = len(_occurrences(search, old)) // 2
    while size:
        at = 0
        while (indices := _occurrences(search, old)[at : at + size]) and _worth(search):
            if not (yield from search.fails(_put(search, new, indices), simpler=True)):
                at += size
        size //= 2
    return True


def _worth(search: ShrinkSearch) -> bool:
    limit = PRICE + 4 * len(search.best)
    return not search.tired and search.spent["values"] < limit


def _occurrences(search: ShrinkSearch, inp: Symbol) -> list[int]:
    return [at for at, step in enumerate(search.best.steps) if step.input == inp]


def _put(search: ShrinkSearch, inp: Symbol, indices: Sequence[int]) -> list[ModelStep]:
    return [_with(step, inp) if at in indices else step for at, step in enumerate(search.best.steps)]


def _with(step: ModelStep, inp: Symbol) -> ModelStep:
    return ModelStep(step.nodes, inp, burst=step.burst)


def _simpler(search: ShrinkSearch, step: ModelStep) -> Sequence[Symbol]:
    kin = _kin(search, step)
    if step.input in kin:
        return kin[: kin.index(step.input)]
    rank = search.rank_of(step)
    return [inp for inp in kin if search.rank_of(ModelStep(step.nodes, inp)) < rank]


def _kin(search: ShrinkSearch, step: ModelStep) -> list[Symbol]:
    return [inp for inp in search.ways.enabled_inputs(step.nodes) if kind(inp) == kind(step.input)]


def fewer_bytes(search: ShrinkSearch) -> Attempts:
    """Leave out bytes of malformed inputs, in halves, quarters, … and single ones."""
    search.begin("bytes")
    best = search.best
    for at in range(len(best)):
        while (yield from _shorter(search, at)):
            pass
    return search.best is not best


def _shorter(search: ShrinkSearch, at: int) -> Attempts:
    if at >= len(search.best) or search.tired:
        return False
    value = search.best.steps[at].input.value
    for each in shorter(value) if isinstance(value, Malformed) else ():
        if (yield from search.fails(_put(search, search.ways.model.symbol(each), [at]), simpler=True)):
            return True
    return False


Name: TypeAlias = Hashable


def renamed(search: ShrinkSearch) -> Attempts:
    """Replace each name that inputs of the best share by the first ones that the model enables in its place."""
    search.begin("names")
    best = search.best
    for old in _shared(search.best.steps):
        simpler = dict.fromkeys(name for step in search.best.steps for name in _enabled_before(search, step, old))
        for new in [*simpler][:NEW_NAMES]:
            if search.tired or (yield from search.fails(_with_name(search, old, new), simpler=True)):
                break
    return search.best is not best


def _shared(steps: Sequence[ModelStep]) -> list[Name]:
    uses = Counter(name for inp in dict.fromkeys(step.input for step in steps) for name in dict.fromkeys(parts(inp)))
    return [name for name, times in uses.items() if times > 1]


def _enabled_before(search: ShrinkSearch, step: ModelStep, old: Name) -> Iterator[Name]:
    """Yield the names that the model enables before this one, in the fields where the input has it."""
    for at in (at for at, name in enumerate(parts(step.input)) if name == old):
        offered = [*dict.fromkeys(parts(inp)[at] for inp in _same_shape(search, step))]
        yield from offered[: offered.index(old)] if old in offered else offered


def _with_name(search: ShrinkSearch, old: Name, new: Name) -> list[ModelStep]:
    return [_with(step, _renamed_input(search, step, old, new)) for step in search.best.steps]


def _renamed_input(search: ShrinkSearch, step: ModelStep, old: Name, new: Name) -> Symbol:
    names = tuple(new if name == old else name for name in parts(step.input))
    # an input that the model does not enable cannot be made here
    return next((inp for inp in _same_shape(search, step) if parts(inp) == names), step.input)


def _same_shape(search: ShrinkSearch, step: ModelStep) -> list[Symbol]:
    # tuples of one kind may be of different lengths
    length = len(parts(step.input))
    offers = search.ways.enabled_inputs(step.nodes)
    return [inp for inp in offers if kind(inp) == kind(step.input) and len(parts(inp)) == length]
