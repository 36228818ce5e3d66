"""Whether a transition of a model allows what one of a mutant does: its outputs port by port, and its times."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import permutations, product
from typing import Any, Final, TypeAlias

from otf.core import Routes
from otf.mutation.examples import passes
from otf.spec import Accept, AnyOrder, On, OneOf, TimerStart, Transition
from otf.spec.outputs import vague
from otf.values import key, show

BAG: Final = 4  # outputs in any order: the orders of more are too many
ROWS: Final = 200  # orders and choices of the outputs of one transition

Row: TypeAlias = tuple[tuple[str, tuple[Any, ...]], ...]
"""Outputs, port by port."""
ModelWay: TypeAlias = "Transition[Any] | Accept"


def in_time(way: Transition[Any], other: ModelWay) -> bool:
    """Return whether the times of a transition lie in those of another, and it does the same with timers."""
    if way.after != other.after or (way.within is None) != (other.within is None):
        return False
    if way.within is not None and other.within is not None and not _inside(way.within, other.within):
        return False
    own, theirs = ({each.name: each for each in timers} for timers in (way.timers, other.timers))
    if own.keys() != theirs.keys():
        return False
    return all(_timer_fits(own[name], theirs[name]) for name in own)


def _timer_fits(own: Any, other: Any) -> bool:  # noqa: ANN401 -- actions on timers
    if isinstance(own, TimerStart) and isinstance(other, TimerStart):
        return _inside((own.lo, own.hi), (other.lo, other.hi))
    return bool(own == other)


def _inside(inner: tuple[float, float], outer: tuple[float, float]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def is_free(way: Transition[Any]) -> bool:
    """Return whether a spontaneous transition may happen any time, and leaves all timers alone."""
    return way.within is None and not way.after and not way.timers


def rest_of(row: Row, model: Row) -> Row | None:
    """Return the outputs that are left when those of a transition of the model came first; None if they did not."""
    left = dict(row)
    for port, items in model:
        values = left.get(port, ())
        if len(values) < len(items) or not all(_fits(item, value) for item, value in zip(items, values, strict=False)):
            return None
        left[port] = values[len(items) :]
    return tuple((port, values) for port, values in left.items() if values)


def received(row: Row, way: Accept) -> Any:  # noqa: ANN401 -- a tuple, or a dictionary of them
    """Return outputs as an `Accept` receives them; None if some are on other ports."""
    seen = dict(row)
    if isinstance(way.port, tuple):
        return {port: seen.get(port, ()) for port in way.port} if seen.keys() <= set(way.port) else None
    if way.port:
        return seen[way.port] if seen.keys() == {way.port} else None
    return tuple(value for values in seen.values() for value in values)


def completed_by(way: Accept, outputs: Any) -> bool:  # noqa: ANN401 -- as above
    """Return whether an `Accept` is complete with these outputs, and not before the last of a port."""
    if not passes(way.complete, outputs):
        return False
    if isinstance(outputs, tuple):
        shorter: list[Any] = [outputs[:size] for size in range(len(outputs))]
    else:
        shorter = [{**outputs, port: seen[:-1]} for port, seen in outputs.items() if seen]
    return not any(passes(way.complete, each) for each in shorter)


def alike(one: Row, other: Row) -> bool:
    """Return whether both may be the same outputs; of two that are only described, that is not known."""
    left, right = dict(one), dict(other)
    if "?" in left or "?" in right:
        return True
    if {port: len(items) for port, items in one} != {port: len(items) for port, items in other}:
        return False
    return all(_alike(*pair) for port, items in one for pair in zip(items, right[port], strict=True))


def _alike(one: Any, other: Any) -> bool:  # noqa: ANN401 -- items of the model
    if vague(one):
        return vague(other) or _fits(one, other)
    return _fits(other, one)


def _fits(item: Any, value: Any) -> bool:  # noqa: ANN401 -- an item of the model, and an output
    if not vague(item):
        return key(item) == key(value)
    return isinstance(value, item) if isinstance(item, type) else passes(getattr(item, "test", None) or item, value)


def width(way: Transition[Any], model: Row) -> str:
    """Return why a transition of the model allows other outputs than one list of values; "" if it does not."""
    loose = [item for _, items in model for item in items if vague(item)]
    if loose:
        described = [getattr(item, "says", "") or getattr(item, "__name__", show(item)) for item in loose]
        return f"the model accepts any such output: {', '.join(described)}"
    if any(isinstance(item, OneOf) for item in way.outputs):
        return f"the model allows either: {show(next(item for item in way.outputs if isinstance(item, OneOf)))}"
    return ""


def rows(outputs: Iterable[Any], routes: Routes) -> list[Row]:
    """Return each list of outputs, port by port, that items of a transition allow.

    Where these are too many, the items themselves are the only row: equal items allow the same.
    """
    items = tuple(outputs)
    found: dict[Hashable, Row] = {}
    for number, chosen in enumerate(product(*(list(_spread(item, "")) for item in items))):
        if number >= ROWS:
            return [(("?", items),)]
        ports: dict[str, tuple[Any, ...]] = {}
        for value, port in (each for part in chosen for each in part):
            if isinstance(value, AnyOrder):
                return [(("?", items),)]
            named = port or (routes.only("an output") if vague(value) else routes.of(value))
            ports[named] = (*ports.get(named, ()), value)
        row = tuple(sorted(ports.items(), key=lambda each: each[0]))
        found.setdefault(tuple((port, tuple(map(_name, values))) for port, values in row), row)
    return list(found.values())


def _name(value: Any) -> Hashable:  # noqa: ANN401 -- an output, or what describes one
    return id(value) if vague(value) else key(value)


def _spread(item: Any, port: str) -> Iterator[tuple[tuple[Any, str], ...]]:  # noqa: ANN401 -- an item of outputs
    match item:
        case OneOf(items):
            for each in items:
                yield from _spread(each, port)
        case AnyOrder(items) if len(items) <= BAG:
            for order in permutations(items):
                for parts in product(*(list(_spread(each, port)) for each in order)):
                    yield tuple(each for part in parts for each in part)
        case On(name, inner):
            yield from _spread(inner, name)
        case _:
            yield ((item, port),)
