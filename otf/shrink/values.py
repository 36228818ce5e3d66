"""Values: replace inputs by simpler ones of their kind, and names by the first ones, as long as the run fails.

An input is simpler if the model enables it earlier: systematic enumeration starts with small values. Compare the third
phase of shrinking in kiri-check, "Stateful testing".

A name shared by several inputs is replaced in all of them at once: an input that reads a file needs the name from the
one that opened it.

Hypothesis shrinks the values that its strategies generated, and each value that it asks about is a run. It knows what
is simpler than a value; the sample of a strategy does not have every value. So 777, where everything above 500 fails,
becomes 509 with the values of the sample, and 501 here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from otf.codec.malformed import Malformed, shorter
from otf.core import Symbol
from otf.shrink.issue import ModelStep, kind, parts
from otf.shrink.search import Attempts, ShrinkSearch
from otf.spec.redrawing import for_path
from otf.values.identity import fingerprint
from otf.values.strategies import Draw, drawn_anew, sampled, simplest_from

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

NEW_NAMES: Final = 2  # the first name may cause nothing
LONG: Final = 10
NEW_VALUES: Final = 2  # the first value is often zero, which makes too many things equal; the second is not
PRICE: Final = 50  # transitions to spend, besides four for each step, since simpler values do not shorten a trace


def uniform(search: ShrinkSearch) -> Attempts:
    """Make all inputs of one kind in a long path equal, so that few different parts are left to try."""
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
    """Try to replace each input by a simpler one: first at all its places in the best path, then at parts of them."""
    search.begin("values")
    best = search.best
    for like in sorted({step.input: step for step in best.steps}.values(), key=search.rank_of, reverse=True):
        simpler = _simpler(search, like)
        if simpler and not (yield from _simplest(search, like.input, simpler)):
            yield from _in_parts(search, like.input, simpler[0])
    return search.best is not best


def _simplest(search: ShrinkSearch, old: Symbol, values: Sequence[Symbol]) -> Attempts:
    """Try the simplest value; if that passes, search by halving: a large enough value usually fails."""
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
    """Leave out bytes of malformed inputs: first halves, then quarters, and at last single bytes."""
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
    """Try to replace each name that several inputs of the best path share by the first name that the model enables."""
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
    # tuples of one kind may differ in length
    length = len(parts(step.input))
    offers = search.ways.enabled_inputs(step.nodes)
    return [inp for inp in offers if kind(inp) == kind(step.input) and len(parts(inp)) == length]


FEW: Final = 8  # values of a field: more are numbers or texts, which are shrunk by themselves
BATCHES: Final = 2  # of a sample of a hundred values, in which one may have been generated
RUNS: Final = 60  # candidates for all values together, besides those that fail


@dataclass(frozen=True, slots=True)
class Generated:
    """A value in a run, and the draw in which a strategy generated it."""

    strategy: SearchStrategy[Any]
    value: Any
    draw: Draw


def shrunk_by_hypothesis(seed: str) -> Callable[[ShrinkSearch], Attempts]:
    """Return the method that shrinks values which Hypothesis generated; `seed` is that of the failing path."""
    draws = (*map(sampled, range(BATCHES)), for_path(seed))
    # each round asks for the same rows, and Hypothesis takes 40 ms for one
    row_of = cache(drawn_anew)

    def means(search: ShrinkSearch) -> Attempts:
        search.begin("drawn")
        best, strategies = search.best, getattr(search.ways.model.spec.inputs, "strategies", ())
        rows = ((strategy, draw, row_of(strategy, draw)) for strategy in strategies for draw in draws)
        for each in [*_generated(search, rows)]:
            yield from _simplest_drawn(search, each)
        if strategies:
            yield from _simplest_fields(search)
        return search.best is not best

    return means


def _simplest_drawn(search: ShrinkSearch, found: Generated) -> Attempts:
    now = found.value
    asking = simplest_from(found.strategy, now, found.draw)
    try:
        simpler = next(asking)
        while search.spent["drawn"] < RUNS * max(1, len(search.best)):
            fails = yield from search.fails(_with_value(search, now, simpler), as_long=True)
            now = simpler if fails else now
            simpler = asking.send(fails)
    except StopIteration:
        pass
    return now is not found.value


def _simplest_fields(search: ShrinkSearch) -> Attempts:
    """Try simpler values of the other fields: no enabled input has them beside a generated value."""
    best = search.best
    for step in best.steps:
        value: Any = step.input.value
        for each in fields(value) if is_dataclass(value) else ():
            now = getattr(value, each.name)
            for simpler in _before(search, step, each.name, now):
                if (yield from search.fails(_with_value(search, now, simpler), as_long=True)):
                    break
    return search.best is not best


def _before(search: ShrinkSearch, step: ModelStep, name: str, now: object) -> list[Any]:
    """Return the values that a field has in inputs enabled there, up to this one: few, or none."""
    found: dict[Hashable, Any] = {}
    for inp in search.ways.enabled_inputs(step.nodes):
        if type(inp.value) is type(step.input.value):
            value = getattr(inp.value, name)
            if fingerprint(value) == fingerprint(now):
                return list(found.values())
            found[fingerprint(value)] = value
            if len(found) > FEW:
                break
    return []


def _generated(
    search: ShrinkSearch, rows: Iterable[tuple[SearchStrategy[Any], Draw, list[Any]]]
) -> Iterator[Generated]:
    """Yield each value of the best run that a strategy generated, for the path or the sample."""
    values = {name: value for step in search.best.steps for name, value in _named_parts(step.input.value)}
    for strategy, draw, row in rows:
        for name in {fingerprint(each) for each in row} & values.keys():
            yield Generated(strategy, values.pop(name), draw)


def _named_parts(value: object) -> Iterator[tuple[Hashable, Any]]:
    """Yield an input and its parts, each with its name."""
    yield fingerprint(value), value
    if is_dataclass(value):
        for each in fields(value):
            part = getattr(value, each.name)
            yield fingerprint(part), part
    elif isinstance(value, tuple):
        for part in cast("tuple[object, ...]", value):
            yield fingerprint(part), part


def _with_value(search: ShrinkSearch, old: object, new: object) -> list[ModelStep]:
    """Return the best run with another value wherever the old one occurs: several inputs may share a name."""
    symbol, name = search.ways.model.symbol, fingerprint(old)
    return [
        ModelStep(step.nodes, _put_value(symbol, step.input, name, new), burst=step.burst) for step in search.best.steps
    ]


def _put_value(symbol: Callable[[object], Symbol], inp: Symbol, old: Hashable, new: object) -> Symbol:
    value: Any = inp.value
    if fingerprint(value) == old:
        return symbol(new)
    if is_dataclass(value):
        changed = {each.name: new for each in fields(value) if fingerprint(getattr(value, each.name)) == old}
        return symbol(replace(cast("Any", value), **changed)) if changed else inp
    if type(value) is tuple:
        parts = cast("tuple[object, ...]", value)
        return symbol(tuple(new if fingerprint(part) == old else part for part in parts))
    return inp
