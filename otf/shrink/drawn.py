"""Values that a Hypothesis strategy generated: Hypothesis shrinks them, and each value that it asks about is a run.

Systematic enumeration knows what is simpler than a value; the sample of a strategy does not have it all. So 777, where
all above 500 fail, becomes 509 by the values of the sample, and 501 here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from otf.core import Symbol
from otf.shrink.issue import ModelStep
from otf.shrink.search import Attempts, ShrinkSearch
from otf.spec.redrawing import for_path
from otf.values.identity import fingerprint
from otf.values.strategies import Draw, drawn_anew, sampled, simplest_from

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

FEW: Final = 8  # values of a field: more are numbers or texts, and are shrunk by themselves
BATCHES: Final = 2  # of a sample of a hundred values, in which one may have been generated
RUNS: Final = 60  # candidates for all values together, besides those that fail


@dataclass(frozen=True, slots=True)
class Generated:
    """A value in a run, and the draw in which a strategy generated it."""

    strategy: SearchStrategy[Any]
    value: Any
    draw: Draw


def shrunk_by_hypothesis(seed: str) -> Callable[[ShrinkSearch], Attempts]:
    """Return the means that shrinks the values of strategies; `seed` is that of the failing path."""

    def means(search: ShrinkSearch) -> Attempts:
        search.begin("drawn")
        best, strategies = search.best, getattr(search.ways.model.spec.inputs, "strategies", ())
        for each in list(_generated(search, strategies, seed)) if strategies else ():
            yield from _simplest(search, each)
        if strategies:
            yield from _simplest_fields(search)
        return search.best is not best

    return means


def _simplest(search: ShrinkSearch, found: Generated) -> Attempts:
    now = found.value
    asking = simplest_from(found.strategy, now, found.draw)
    try:
        simpler = next(asking)
        while search.spent["drawn"] < RUNS * max(1, len(search.best)):
            fails = yield from search.fails(_with(search, now, simpler), as_long=True)
            now = simpler if fails else now
            simpler = asking.send(fails)
    except StopIteration:
        pass
    return now is not found.value


def _simplest_fields(search: ShrinkSearch) -> Attempts:
    """Try simpler values of the other fields: no input of the offer has them beside a value that was generated."""
    best = search.best
    for step in best.steps:
        value: Any = step.input.value
        for each in fields(value) if is_dataclass(value) else ():
            now = getattr(value, each.name)
            for simpler in _before(search, step, each.name, now):
                if (yield from search.fails(_with(search, now, simpler), as_long=True)):
                    break
    return search.best is not best


def _before(search: ShrinkSearch, step: ModelStep, name: str, now: object) -> list[Any]:
    """Return the values that a field has in the inputs which the spec offers there, up to this one: few, or none."""
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


def _generated(search: ShrinkSearch, strategies: tuple[Any, ...], seed: str) -> Iterator[Generated]:
    """Yield each value of the best run that is one of those which a strategy generated for the path, or the sample."""
    values = {name: value for step in search.best.steps for name, value in _parts(step.input.value)}
    for strategy in strategies:
        for draw in (*map(sampled, range(BATCHES)), for_path(seed)):
            row = drawn_anew(strategy, draw)
            for name in {fingerprint(each) for each in row} & values.keys():
                yield Generated(strategy, values.pop(name), draw)


def _parts(value: object) -> Iterator[tuple[Hashable, Any]]:
    """Yield an input and its parts, each with its name."""
    yield fingerprint(value), value
    if is_dataclass(value):
        for each in fields(value):
            part = getattr(value, each.name)
            yield fingerprint(part), part
    elif isinstance(value, tuple):
        for part in cast("tuple[object, ...]", value):
            yield fingerprint(part), part


def _with(search: ShrinkSearch, old: object, new: object) -> list[ModelStep]:
    """Return the best run with another value, wherever the old one occurs: a name may be in several inputs."""
    symbol, name = search.ways.model.symbol, fingerprint(old)
    return [ModelStep(step.nodes, _put(symbol, step.input, name, new), burst=step.burst) for step in search.best.steps]


def _put(symbol: Callable[[object], Symbol], inp: Symbol, old: Hashable, new: object) -> Symbol:
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
