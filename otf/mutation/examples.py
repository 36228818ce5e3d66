"""What a model only describes: outputs that a system can send for it, and whether it allows those of a mutant.

To serve a model as a system, otf needs real outputs wherever the model has only a class, a test or an `Accept`. The
search tries outputs that the model gives elsewhere, and values of the bench's types made from nearby ones. Those are
fields of the state and the input, and constants in the code of the test. It trusts nothing: a value counts only if the
model's own test accepts it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, is_dataclass, replace
from functools import partial
from itertools import chain, islice, permutations, product
from typing import Any, Final, TypeAlias, TypeVar

from otf.core import Routes
from otf.mutation.near import DEPTH, WORDS, Near, attempted, leaves, values_of, variants
from otf.spec import Accept, AnyOrder, On, OneOf, TimerStart, Transition, Where
from otf.spec.outputs import vague
from otf.values import key, show

TRIES: Final = 10_000  # values to try on one test
ENOUGH: Final = 3  # accepted values: the first, one in the middle and the last, so that a bound shows if there is one
LATER: Final = 60  # values to try after the first accepted one
KNOWN: Final = 200  # outputs to remember
AGAIN: Final = 100  # accepted values to remember for the tests of one piece of code
LONGEST: Final = 4  # outputs in a row for an `Accept` without a limit
PLAIN: Final[tuple[type, ...]] = (int, str, float, bytes, bool)  # for a model without known types
NOTHING: Final = object()
PATIENCE: Final = 10
Found = TypeVar("Found")
Grown = tuple[tuple[Any, ...], list[Any]]
AcceptOutputs: TypeAlias = tuple[Any, ...] | dict[str, tuple[Any, ...]]
"""Outputs as an `Accept` receives them: of one port, or by port."""


@dataclass(slots=True)
class Examples:
    """Finds example values for outputs that a model only describes.

    `known` contains the values that occur in the model itself.

    >>> from otf.spec import Where
    >>> Examples((str,)).of(Where(lambda text: text.startswith("welcome")), "welcome back", None)
    ['welcome', 'welcome back']
    """

    types: tuple[type, ...] = ()
    known: dict[Any, object] = field(default_factory=dict[Any, object])
    # for each description, how often the search failed
    _misses: dict[str, int] = field(default_factory=dict[str, int])
    # for the code of each test, the rows that it accepted, the latest last
    _taken: dict[object, dict[Any, tuple[Any, ...]]] = field(
        default_factory=dict[object, dict[Any, tuple[Any, ...]]], repr=False
    )

    def learn(self, output: object) -> None:
        """Remember an output of the model."""
        if len(self.known) < KNOWN:
            self.known.setdefault(key(output), output)

    def of(self, item: Any, state: object, inp: object, beside: Iterable[object] = ()) -> list[Any]:  # noqa: ANN401 -- a class, a test, a Where
        """Return values that an item of a transition accepts; empty if it finds none.

        `beside` holds the outputs that the model gives as values in the same state.
        """
        test, says, code = _test(item), getattr(item, "says", ""), _code(item)
        # most tests recur in the next state: a new search costs a hundred times as much as a second look
        given = item.examples if isinstance(item, Where) else ()
        again = [each for each in (given or (row[0] for row in self._again(code))) if passes(test, each)]
        if again:
            return again[:ENOUGH]
        near = Near.of(state, inp, [item], says, beside)
        if isinstance(item, type):
            near = replace(near, kinds=near.kinds | {item})
        found = self._noted(says, _spread(self._candidates(near, says, code), test))
        self._take(code, ((each,) for each in found))
        return found

    def accepted(self, way: Accept, state: object, inp: object, beside: Iterable[object] = ()) -> list[Grown]:
        """Return outputs that an `Accept` takes, each with the states that they lead to; empty if it finds none."""
        if way.examples is not None:
            rows = ((row, _row(row)) for row in way.examples() if passes(way.complete, row))
            return [(items, states) for row, items in rows if (states := following(way, row))]
        if isinstance(way.port, tuple):
            return []
        code = _code(way.then)
        found = _grown(way, self._again(code))
        if not found:
            found = self._noted(way.says, _grown(way, self._lists(way, code, state, inp, beside)))
            self._take(code, (row for row, _ in found))
        return found

    def _lists(
        self, way: Accept, code: object, state: object, inp: object, beside: Iterable[object]
    ) -> Iterator[tuple[Any, ...]]:
        near = Near.of(state, inp, [way.then, way.until], way.says, beside)
        single: Iterable[tuple[Any, ...]] = ((each,) for each in self._candidates(near, way.says, code))
        if isinstance(way.until, int) and way.until > 1:
            few = list(islice(self._candidates(near, way.says, code), WORDS))
            single = islice(product(few, repeat=way.until), TRIES)
        elif not isinstance(way.until, int):
            single = chain(single, self._rows(near))
        yield from single

    def _again(self, code: object) -> list[tuple[Any, ...]]:
        return list(self._taken.get(code, {}).values())[::-1]

    def _take(self, code: object, rows: Iterable[tuple[Any, ...]]) -> None:
        taken = self._taken.setdefault(code, {})
        taken.update((key(row), row) for row in rows)
        while len(taken) > AGAIN:
            del taken[next(iter(taken))]

    def _noted(self, says: str, found: list[Found]) -> list[Found]:
        self._misses[says] = self._misses.get(says, 0) + (0 if found else 1)
        return found

    def _rows(self, near: Near) -> Iterator[tuple[Any, ...]]:
        few = list(self._candidates(near, "", None))
        # what the test's code names comes first: its constants are what it looks for
        named = [
            each
            for each in few
            if (not near.kinds or type(each) in near.kinds) and any(text in near.constants for text in leaves(each))
        ][: WORDS // 4]
        for length in range(2, LONGEST):
            yield from islice(product(named, repeat=length), TRIES)

    def _candidates(self, near: Near, says: str, code: object) -> Iterator[Any]:
        # after ten failures, search with less effort: a long search in each state takes minutes
        return islice(self._made(near, code), TRIES if self._misses.get(says, 0) < PATIENCE else TRIES // PATIENCE)

    def _made(self, near: Near, code: object) -> Iterator[Any]:
        known = [*near.beside, *(row[0] for row in self._again(code) if row), *self.known.values()]
        yield from known
        for kind in sorted(near.kinds, key=lambda kind: kind.__name__):
            # first some of the classes that the test names, since the known outputs have many variants
            yield from islice(values_of(kind, near, DEPTH), TRIES // PATIENCE)
        classes = [value for value in known if is_dataclass(value)]
        named = replace(near, texts=tuple(each for each in near.texts if each in near.constants))
        for small, texts in ((True, near), (False, named), (False, near)):
            yield from (variant for value in classes for variant in variants(value, texts, small=small))
        ranks = {kind: rank for rank, kind in enumerate(PLAIN)}
        kinds = dict.fromkeys([*near.kinds, *self.types, *PLAIN])
        for kind in sorted(kinds, key=lambda kind: (kind not in near.kinds, ranks.get(kind, -1), kind.__name__)):
            yield from values_of(kind, near, DEPTH)


def _spread(values: Iterator[Any], test: Callable[[Any], object]) -> list[Any]:
    first = next((value for value in values if passes(test, value)), NOTHING)
    if first is NOTHING:
        return []
    more = (value for value in islice(values, LATER) if passes(test, value))
    found = list({key(value): value for value in (first, *more)}.values())
    return found if len(found) <= ENOUGH else [first, found[len(found) // 2], found[-1]]


def _grown(way: Accept, rows: Iterable[tuple[Any, ...]]) -> list[Grown]:
    """Return the first rows that an `Accept` takes, each with the states that they lead to."""
    grown = ((row, following(way, row)) for row in rows if passes(way.complete, row))
    found: dict[Any, Grown] = {}
    for row, states in grown:
        if states:
            found.setdefault(key(row), (row, states))
        if len(found) == ENOUGH:
            break
    return list(found.values())


def _row(outputs: AcceptOutputs) -> tuple[Any, ...]:
    if isinstance(outputs, tuple):
        return outputs
    return tuple(On(port, each) for port, several in outputs.items() for each in several)


def _code(test: object) -> object:
    """Return what the tests at one place in a model share: the code of their function."""
    while isinstance(test, (Where, partial)):
        test = test.test if isinstance(test, Where) else test.func
    return getattr(test, "__code__", test if isinstance(test, type) else type(test))


def _test(item: Any) -> Callable[[Any], object]:  # noqa: ANN401 -- a class, a test, a Where
    if isinstance(item, Where):
        return item.test
    return (lambda value: isinstance(value, item)) if isinstance(item, type) else item


def passes(test: Callable[[Any], object], value: object) -> bool:
    """Return whether a test of the model accepts a value; one that raises does not."""
    return attempted(lambda: bool(test(value)), otherwise=False)


def following(way: Accept, row: AcceptOutputs) -> list[Any]:
    """Return the states that an `Accept` leads to with these outputs; none if it refuses them, or raises."""
    return attempted(lambda: list(way.then(row)), otherwise=[])


BAG: Final = 4  # outputs in any order: more have too many orders
ROWS: Final = 200  # orders and choices of the outputs of one transition

Row: TypeAlias = tuple[tuple[str, tuple[Any, ...]], ...]
"""Outputs, port by port."""
ModelWay: TypeAlias = "Transition[Any] | Accept"


def in_time(way: Transition[Any], other: ModelWay) -> bool:
    """Return whether a transition's times lie within another's, and both do the same with timers."""
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
    """Return whether a spontaneous transition may happen at any time, and leaves all timers alone."""
    return way.within is None and not way.after and not way.timers


def rest_of(row: Row, model: Row) -> Row | None:
    """Return the outputs left after those of a transition of the model; None if these did not come first."""
    left = dict(row)
    for port, items in model:
        values = left.get(port, ())
        if len(values) < len(items) or not all(_fits(item, value) for item, value in zip(items, values, strict=False)):
            return None
        left[port] = values[len(items) :]
    return tuple((port, values) for port, values in left.items() if values)


def received(row: Row, way: Accept) -> AcceptOutputs | None:
    """Return outputs as an `Accept` receives them; None if some are on other ports."""
    seen = dict(row)
    if isinstance(way.port, tuple):
        return {port: seen.get(port, ()) for port in way.port} if seen.keys() <= set(way.port) else None
    if way.port:
        return seen[way.port] if seen.keys() == {way.port} else None
    return tuple(value for values in seen.values() for value in values)


def completed_by(way: Accept, outputs: AcceptOutputs) -> bool:
    """Return whether an `Accept` is complete with these outputs, but not without the last one of a port."""
    if not passes(way.complete, outputs):
        return False
    if isinstance(outputs, tuple):
        shorter: list[AcceptOutputs] = [outputs[:size] for size in range(len(outputs))]
    else:
        shorter = [{**outputs, port: seen[:-1]} for port, seen in outputs.items() if seen]
    return not any(passes(way.complete, each) for each in shorter)


def alike(one: Row, other: Row) -> bool:
    """Return whether both may be the same outputs; if both are only described, assume so."""
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
    """Return why a transition of the model allows more than one list of outputs; "" if it allows only one."""
    loose = [item for _, items in model for item in items if vague(item)]
    if loose:
        described = [getattr(item, "says", "") or getattr(item, "__name__", show(item)) for item in loose]
        return f"the model accepts any such output: {', '.join(described)}"
    if any(isinstance(item, OneOf) for item in way.outputs):
        return f"the model allows either: {show(next(item for item in way.outputs if isinstance(item, OneOf)))}"
    return ""


def rows(outputs: Iterable[Any], routes: Routes) -> list[Row]:
    """Return each list of outputs, port by port, that a transition's items allow.

    If there are too many, the items themselves are the only row, since equal items allow the same.
    """
    items = tuple(outputs)
    found: dict[Hashable, Row] = {}
    for number, chosen in enumerate(product(*(list(_choices(item, "")) for item in items))):
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


def _choices(item: Any, port: str) -> Iterator[tuple[tuple[Any, str], ...]]:  # noqa: ANN401 -- an item of outputs
    match item:
        case OneOf(items):
            for each in items:
                yield from _choices(each, port)
        case AnyOrder(items) if len(items) <= BAG:
            for order in permutations(items):
                for parts in product(*(list(_choices(each, port)) for each in order)):
                    yield tuple(each for part in parts for each in part)
        case On(name, inner):
            yield from _choices(inner, name)
        case _:
            yield ((item, port),)
