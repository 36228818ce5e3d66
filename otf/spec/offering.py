"""The inputs of a spec: given ones, or the values of the type that its step function declares."""

from __future__ import annotations

import types
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from inspect import signature
from itertools import chain
from typing import Any, Final, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from otf.errors import ModelError, UsageError
from otf.spec.redrawing import Instead, Redraw, Redrawn, StrategiesMet, anew, paired
from otf.values import Enumeration, Values, every, given, is_enumeration, is_strategy, is_type, key, ready, show
from otf.values.all_values import Anew, name_of
from otf.values.strategies import simpler_first

T = TypeVar("T")
LONGEST: Final = 3_600.0
"""Seconds of one `Elapse` at most: a trace from a stranger may contain one."""

TRANSITIONS: Final = 10_000
"""Transitions of one answer at most, each with its alternatives."""

INPUTS: Final = 100_000
"""Inputs that are worth trying in one state at most."""


@dataclass(frozen=True, slots=True)
class Elapse:
    """An input that only waits: no bytes are sent, and the run lets `seconds` pass before the next input.

    Put it among the inputs of a spec, so that what comes after a timer is tried on purpose. Where `step` yields nothing
    for it, it is allowed and changes nothing: timers run on and expire meanwhile. Where `step` yields transitions, they
    are made when the wait begins, and their outputs may come until its end. Raises ModelError unless the time is more
    than 0 and at most an hour.

    >>> Elapse(0.15)
    Elapse(seconds=0.15)
    """

    seconds: float

    def __post_init__(self) -> None:
        """Refuse a time that is none, or that would look like a tester that hangs."""
        if not 0 < self.seconds <= LONGEST:
            message = f"Elapse({self.seconds!r}): give the seconds to wait, more than 0 and at most {LONGEST:g}"
            raise ModelError(message)


@dataclass(frozen=True, slots=True)
class Idle(Elapse):
    """An `Elapse` that the tester adds by itself, where the time of a run matters: the model is not asked about it.

    A shrunk run has one where a system fails because it has been on for long, whatever it was sent meanwhile.

    >>> Idle(50.0)
    Idle(seconds=50.0)
    """


def limited(items: Iterable[T], most: int, what: str) -> Iterator[T]:
    """Yield the items: so a model that never ends raises an error, and does not fill the memory.

    Raises ModelError after `most` items if there is another one; `what` is the plural of an item in the message.

    >>> list(limited("abc", 3, "letters"))
    ['a', 'b', 'c']
    """
    for number, item in enumerate(items):
        if number >= most:
            message = f"more than {most:,} {what}: it seems never to end"
            raise ModelError(message)
        yield item


Offering: TypeAlias = Callable[[Any], Iterable[Any]]
Make: TypeAlias = Callable[[Anew], Enumeration[Any]]
FEW: Final = 100  # inputs of a class with endlessly many values
MANY: Final = 10_000  # inputs of a class with finitely many values


def offering(step: object, inputs: Any, values: Values | None) -> Offering:  # noqa: ANN401 -- any source of a user
    """Return the function from a state to the inputs that are worth trying in it."""
    if values is not None and inputs is not None:
        raise UsageError(f"{_name(step)}: give inputs or values, not both; values replace those of the declared type")
    if inputs is None:
        return _declared(step, values or {})
    if _gives_values(inputs):
        return _all([_values_of(inputs)])
    return cast("Offering", inputs) if callable(inputs) else _listed(inputs)


def worth_trying(values: Enumeration[Any]) -> list[Any]:
    """Return the values of an enumeration, at most `MANY`; the first `FEW` if it may not end."""
    found = _row(values)
    # for shrinking the first inputs are the simplest, but a strategy generates its values batch by batch
    return found if values.complete else simpler_first(found)


def _declared(step: object, values: Values) -> Offering:
    kind, where = _second(step)
    # a function among the values is called in each state: so ids that the system chose come back as inputs
    functions = {each: source for each, source in values.items() if callable(source) and not is_type(source)}
    fixed = ready({each: source for each, source in values.items() if each not in functions})
    if not functions:
        return _all([(name_of(part), partial(every, part, fixed, where)) for part in _classes(kind)])
    return ByState(lambda state: {**fixed, **{each: at(state) for each, at in functions.items()}}, kind, where)


def _classes(kind: object) -> Iterator[object]:
    """Yield the classes of inputs: the members of a union."""
    if get_origin(kind) in {Union, types.UnionType}:
        for part in get_args(kind):
            yield from _classes(part)
    else:
        yield kind


@dataclass(frozen=True, slots=True)
class Always:
    """The same inputs in every state; if they are not all inputs of the type, `sample` describes the choice.

    `redraw` returns what a path sends instead where strategies generate them; those are `strategies`.
    """

    inputs: tuple[Any, ...]
    sample: str = ""
    redraw: Redraw | None = None
    strategies: tuple[Any, ...] = ()

    def __call__(self, _state: object) -> tuple[Any, ...]:
        """Return the inputs."""
        return self.inputs


def _listed(inputs: Iterable[Any]) -> Offering:
    row = tuple(limited(inputs, INPUTS, "inputs"))
    # a strategy in a list stands for its values: as an input no model would specify it, and it would never be sent
    return (
        _all([_values_of(each if _gives_values(each) else [each]) for each in row])
        if any(map(_gives_values, row))
        else Always(row)
    )


def _gives_values(source: object) -> bool:
    return is_enumeration(source) or is_strategy(source)


def _values_of(source: object) -> tuple[str, Make]:
    return "the given values", lambda drawn: drawn(given(source, "inputs"))


class ByState:
    """Inputs of which some values depend on the state: those of `values(state)`."""

    def __init__(self, values: Callable[[Any], Values], kind: object, where: str) -> None:
        self._values, self._kind, self._where = values, kind, where

    def __call__(self, state: object) -> Iterator[Any]:
        """Return the inputs of a state."""
        values = self._values(state)
        return chain.from_iterable(worth_trying(every(part, values, self._where)) for part in _classes(self._kind))

    def redraw(self, seed: str) -> Redrawn:
        """Return what a path sends in place of inputs that a strategy generated."""
        drawn = anew(seed)

        def of(state: object, inp: object) -> Instead | None:
            values = self._values(state)
            makes = [partial(every, part, values, self._where) for part in _classes(self._kind)]
            return dict(_instead(makes, drawn, seed)).get(key(inp))

        return of


def _all(sources: Iterable[tuple[str, Make]]) -> Offering:
    noted, makes = StrategiesMet(), [make for _, make in sources]
    tried = [(name, values, worth_trying(values)) for name, make in sources for values in (make(noted),)]
    cut = [f"the first {len(found):,} inputs of {name}" for name, values, found in tried if _more(values, found)]
    inputs = tuple(chain.from_iterable(found for _, _, found in tried))
    if not noted.strategies:
        return Always(inputs, " and ".join(cut))
    return Always(inputs, " and ".join(cut), partial(_redrawn, makes), tuple(noted.strategies.values()))


def _redrawn(makes: Iterable[Make], seed: str) -> Redrawn:
    instead = dict(_instead(makes, anew(seed), seed))
    return lambda _, inp: instead.get(key(inp))


def _instead(makes: Iterable[Make], drawn: Anew, seed: str) -> Iterator[tuple[Hashable, Instead]]:
    for make in makes:
        noted = StrategiesMet()
        sample = _row(make(noted))
        if noted.strategies:
            yield from paired(sample, _row(make(drawn)), seed)


def _row(values: Enumeration[Any]) -> list[Any]:
    return values.first(MANY if values.finite else FEW)


def _more(values: Enumeration[Any], found: list[Any]) -> bool:
    # the values of a strategy are never known to be all
    most = MANY if values.finite else FEW
    return not values.complete or (len(found) == most and len(values.first(most + 1)) > most)


def declared(step: object) -> list[object]:
    """Return the types that a step function declares for its input; none if it declares no readable type."""
    try:
        return list(_classes(_second(step)[0]))
    except UsageError:
        return []


def _second(step: Any) -> tuple[object, str]:  # noqa: ANN401 -- any step function
    try:
        _, name, *_ = signature(step).parameters
        return get_type_hints(step, include_extras=True)[name], name
    except (KeyError, NameError, TypeError, ValueError) as error:
        unknown = f" ({error})" if isinstance(error, NameError) else ""
        message = f"{_name(step)}: give inputs=[...], or declare the type of its second argument{unknown}"
        raise UsageError(message) from error


def _name(step: object) -> str:
    return getattr(step, "__name__", None) or show(step)
