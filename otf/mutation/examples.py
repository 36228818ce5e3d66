"""Values for what a model only describes: a class, a test or an `Accept` becomes outputs that a system can send.

A model served as a system needs real outputs. They are found by trial: the outputs that the model gives elsewhere, and
values of the bench's types made of what is near: fields of the state and the input, and constants in the code of the
test. Nothing is trusted: a value counts if the model's own test accepts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, is_dataclass, replace
from functools import partial
from itertools import chain, islice, product
from typing import Any, Final, TypeVar

from otf.errors import USERS_OWN
from otf.mutation.near import DEPTH, WORDS, Near, leaves, values_of, variants
from otf.spec import Accept, On, Where
from otf.values import key

TRIES: Final = 10_000  # values put to one test
ENOUGH: Final = 3  # accepted values: the first, one in the middle and the last, so that a bound shows if there is one
LATER: Final = 60  # values that are tried after the first that was accepted
KNOWN: Final = 200  # outputs that are remembered
AGAIN: Final = 100  # accepted values that are remembered for the tests of one piece of code
LONGEST: Final = 4  # outputs in a row for an `Accept` that takes as many as it likes
PLAIN: Final[tuple[type, ...]] = (int, str, float, bytes, bool)  # for a model of which no types are known
NOTHING: Final = object()
PATIENCE: Final = 10
Found = TypeVar("Found")
Grown = tuple[tuple[Any, ...], list[Any]]


@dataclass(slots=True)
class Examples:
    """Finds outputs for the items of one model; `known` are outputs that the model gives as values.

    >>> from otf.spec import Where
    >>> Examples((str,)).of(Where(lambda text: text.startswith("welcome")), "welcome back", None)
    ['welcome', 'welcome back']
    """

    types: tuple[type, ...] = ()
    known: dict[Any, object] = field(default_factory=dict[Any, object])
    # for each description, how often nothing was found for it
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
        """Return values that an item of a transition accepts; empty if none was found.

        `beside` are the outputs that the model gives as values in the same state.
        """
        test, says, code = _test(item), getattr(item, "says", ""), _code(item)
        # most tests come again in the next state: a search there costs a hundred times as much as a second look
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
        """Return outputs that an `Accept` takes, each with the states that they lead to; empty if none was found."""
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
        # what the code of the test names comes first: its constants are what it looks for
        named = [
            each
            for each in few
            if (not near.kinds or type(each) in near.kinds) and any(text in near.constants for text in leaves(each))
        ][: WORDS // 4]
        for length in range(2, LONGEST):
            yield from islice(product(named, repeat=length), TRIES)

    def _candidates(self, near: Near, says: str, code: object) -> Iterator[Any]:
        # what was not found ten times is looked for with less effort: a long search in each state takes minutes
        return islice(self._made(near, code), TRIES if self._misses.get(says, 0) < PATIENCE else TRIES // PATIENCE)

    def _made(self, near: Near, code: object) -> Iterator[Any]:
        known = [*near.beside, *(row[0] for row in self._again(code) if row), *self.known.values()]
        yield from known
        for kind in sorted(near.kinds, key=lambda kind: kind.__name__):
            # first some of the classes that the test names: variants of the outputs that are known are many
            yield from islice(values_of(kind, near, DEPTH), TRIES // PATIENCE)
        classes = [value for value in known if is_dataclass(value)]
        named = replace(near, texts=tuple(each for each in near.texts if each in near.constants))
        for small, texts in ((True, near), (False, named), (False, near)):
            yield from (variant for value in classes for variant in variants(value, texts, small=small))
        kinds = dict.fromkeys([*near.kinds, *self.types, *PLAIN])
        for kind in sorted(kinds, key=lambda kind: (kind not in near.kinds, _rank(kind), kind.__name__)):
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


def _row(outputs: Any) -> tuple[Any, ...]:  # noqa: ANN401 -- a tuple, or a dictionary of them
    if not isinstance(outputs, dict):
        return tuple(outputs)
    return tuple(On(port, each) for port, several in outputs.items() for each in several)


def _code(test: object) -> object:
    """Return what the tests of one place in a model share: the code of its function."""
    while isinstance(test, (Where, partial)):
        test = test.test if isinstance(test, Where) else test.func
    return getattr(test, "__code__", test if isinstance(test, type) else type(test))


def _rank(kind: type) -> int:
    return PLAIN.index(kind) if kind in PLAIN else -1


def _test(item: Any) -> Callable[[Any], object]:  # noqa: ANN401 -- a class, a test, a Where
    if isinstance(item, Where):
        return item.test
    return (lambda value: isinstance(value, item)) if isinstance(item, type) else item


def passes(test: Callable[[Any], object], value: object) -> bool:
    """Return whether a test of the model accepts a value; one that raises does not."""
    try:
        return bool(test(value))
    except USERS_OWN:
        raise
    except Exception:  # noqa: BLE001 -- a test may expect a value of another kind
        return False


def following(way: Accept, row: Any) -> list[Any]:  # noqa: ANN401 -- a tuple, or a dictionary of them
    """Return the states that an `Accept` leads to with these outputs; none if it refuses them, or raises."""
    try:
        return list(way.then(row))
    except USERS_OWN:
        raise
    except Exception:  # noqa: BLE001 -- as above
        return []
