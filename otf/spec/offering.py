"""The inputs of a spec: those given, or the values of the type that its step function declares."""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from inspect import isasyncgenfunction, iscoroutinefunction
from itertools import chain, islice
from typing import Any, Final, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from otf.errors import ModelError, UsageError
from otf.spec.redrawing import Instead, Redraw, Redrawn, StrategiesMet, anew, paired
from otf.values import Enumeration, Values, every, given, is_enumeration, is_strategy, is_type, key, ready, show
from otf.values.all_values import Anew, name_of
from otf.values.arguments import brief, unfit
from otf.values.classes import is_record, parameters
from otf.values.raised import definition
from otf.values.strategies import simpler_first
from otf.values.text import as_text

T = TypeVar("T")
LONGEST: Final = 3_600.0
"""The longest time of one `Elapse` in seconds: a trace from a stranger may contain one."""

TRANSITIONS: Final = 10_000
"""The most transitions of one answer, counting each alternative."""

INPUTS: Final = 100_000
"""The most inputs worth trying in one state."""


@dataclass(frozen=True, slots=True)
class Elapse:
    """An input that only waits: otf sends no bytes for `seconds`, and then chooses the next input.

    List an `Elapse` among the inputs of a spec to test what happens when a timer expires. If `step` yields nothing for
    an `Elapse`, the model allows the wait and keeps its state. Timers of the model may expire during an `Elapse`. If
    `step` yields transitions for an `Elapse`, the state changes when the wait begins, and the outputs may come until
    the wait ends. `Elapse` raises ModelError unless `seconds` is more than 0 and at most 3,600.

    >>> Elapse(0.15)
    Elapse(seconds=0.15)
    """

    seconds: float

    def __post_init__(self) -> None:
        """Raise ModelError for an invalid time, or one that would make the tester seem to hang."""
        if isinstance(self.seconds, str) or not 0 < self.seconds <= LONGEST:
            message = f"Elapse({self.seconds!r}): give the seconds to wait, more than 0 and at most {LONGEST:g}"
            raise ModelError(message)


@dataclass(frozen=True, slots=True)
class Idle(Elapse):
    """A wait of so many `seconds`, which shrinking adds if a failure depends on the path's duration.

    The model ignores the wait.

    For instance, if a device fails 50 seconds after power-on whatever otf sends, the shrunk path contains an `Idle`.

    >>> Idle(50.0)
    Idle(seconds=50.0)
    """


def limited(items: Iterable[T], most: int, what: str) -> Iterator[T]:
    """Yield the items, so that an endless model raises an error instead of filling the memory.

    Raises ModelError if there are more than `most` items; the message calls them `what`, a plural.

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
COMPARED: Final = 1_000  # inputs of a list whose keys are tried
FEW: Final = 100  # inputs taken of a class with infinitely many values
MANY: Final = 10_000  # inputs taken of a class with finitely many values


def offering(step: object, inputs: Any, values: Values | None) -> Offering:  # noqa: ANN401 -- any source of a user
    """Return the function that maps a state of a spec to the inputs worth trying in that state."""
    if values is not None and inputs is not None:
        raise UsageError(f"{_name(step)}: give inputs or values, not both; values replace those of the declared type")
    if inputs is None:
        return _declared(step, values or {})
    if gives_values(inputs):
        return _all([_values_of(inputs)])
    return cast("Offering", inputs) if callable(inputs) else _listed(inputs)


def worth_trying(values: Enumeration[Any]) -> list[Any]:
    """Return the values of an enumeration, at most `MANY`; the first `FEW` if it may be endless."""
    found = _row(values)
    # for shrinking, the simplest inputs come first, but a strategy generates its values batch by batch
    return found if values.complete else simpler_first(found)


def _declared(step: object, values: Values) -> Offering:
    kind, where = _second(step)
    # a function among the values is called in each state, so ids that the system chose come back as inputs
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
    """The inputs of a spec, if they are the same in every state; `sample` describes the choice if they are not all.

    `redraw` returns what a path sends instead of those generated by `strategies`.
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
    # a strategy in a list stands for its values: as an input it would be specified by no model, and never be sent
    return (
        _all([_values_of(each if gives_values(each) else [each]) for each in row])
        if any(map(gives_values, row))
        else Always(row)
    )


def gives_values(source: object) -> bool:
    """Return whether a source of inputs stands for values: an enumeration, or a strategy of Hypothesis."""
    return is_enumeration(source) or is_strategy(source)


def _values_of(source: object) -> tuple[str, Make]:
    return "the given values", lambda drawn: drawn(given(source, "inputs"))


class ByState:
    """The inputs of a spec, if they depend on the state: those of `values(state)`."""

    def __init__(self, values: Callable[[Any], Values], kind: object, where: str) -> None:
        self._values, self._kind, self._where = values, kind, where

    def __call__(self, state: object) -> Iterator[Any]:
        """Return the inputs of a state."""
        values = self._values(state)
        return chain.from_iterable(worth_trying(every(part, values, self._where)) for part in _classes(self._kind))

    def redraw(self, seed: str) -> Redrawn:
        """Return what a path sends in place of inputs generated by a strategy."""
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
    # a strategy's values are never known to be complete
    most = MANY if values.finite else FEW
    return not values.complete or (len(found) == most and len(values.first(most + 1)) > most)


def declared(step: object) -> list[object]:
    """Return the types that a step function declares for its input; empty if it declares none that otf can read."""
    try:
        return list(_classes(_second(step)[0]))
    except UsageError:
        return []


def _second(step: Any) -> tuple[object, str]:  # noqa: ANN401 -- any step function
    try:
        _, name, *_ = parameters(step)
        return get_type_hints(step, include_extras=True)[name], name
    except (KeyError, NameError, TypeError, ValueError) as error:
        unknown = f" ({error})" if isinstance(error, NameError) else ""
        message = f"{_name(step)}: give inputs=[...], or declare the type of its second argument{unknown}"
        raise UsageError(message) from error


def _name(step: object) -> str:
    return getattr(step, "__name__", None) or show(step)


def callable_refused(what: str, function: Any, *arguments: str) -> Iterator[str]:  # noqa: ANN401 -- whatever a user gives
    """Yield why otf cannot call a function with these arguments.

    >>> list(callable_refused("emits", [], "state"))
    ['emits=[]: a function of (state) is needed']
    """
    what = f"{what}={brief(function)}"
    if not callable(function):
        advice = "; write its name without calling it" * hasattr(function, "__next__")
        yield f"{what}: a function of ({', '.join(arguments)}) is needed{advice}"
    elif iscoroutinefunction(function) or isasyncgenfunction(function):
        yield f"{what}: a model does not wait: write def instead of async def{definition(function)}"
    elif why := unfit(function, *arguments):
        yield f"{what}: {why}"


def arguments_refused(step: Any, initial: object, inputs: Any, emits: Any, malformed: Any) -> Iterator[str]:  # noqa: ANN401 -- whatever a user gives
    """Yield what is wrong with the parts of a model."""
    yield from callable_refused("step", step, "state", "input")
    yield from incomparable("state", [initial])
    if inputs is not None and not gives_values(inputs):
        yield from inputs_refused(inputs)
    if emits is not None:
        yield from callable_refused("emits", emits, "state")
    if malformed is not None:
        yield from callable_refused("malformed", malformed, "state", "input")


def options_refused(name: object, values: object, guarded: object, counters: object) -> Iterator[str]:
    """Yield what is wrong with the other arguments of a spec."""
    yield from kind_refused("name", name, str, "a text")
    yield from kind_refused("values", values, (Mapping, type(None)), "a dict from types to their values")
    for each in cast("Mapping[object, object]", values) if isinstance(values, Mapping) else ():
        if isinstance(each, str):
            yield f"values={{{each!r}: …}}: the keys are types, such as int, not their names"
    yield from kind_refused("guarded", guarded, bool, "True or False")
    if counters is not None and not _is_list_of_names(counters):
        yield f"counters={show(counters)}: a list of field names is needed, such as counters=['alive']"


def _is_list_of_names(given: object) -> bool:
    # a text would be taken for a list of its letters
    listed = isinstance(given, Collection) and not isinstance(given, str)
    return listed and all(isinstance(each, str) for each in cast("Collection[object]", given))


def kind_refused(what: str, given: object, kind: type | tuple[type, ...], needs: str) -> Iterator[str]:
    """Yield why an argument has the wrong type."""
    if not isinstance(given, kind):
        yield f"{what}={show(given)}: {needs} is needed"


def incomparable(what: str, values: Iterable[object]) -> Iterator[str]:
    """Yield the values that otf cannot compare, each called `what`."""
    for each in islice(values, COMPARED):
        try:
            key(each)
        except Exception as error:  # noqa: BLE001 -- the user's code may raise anything
            yield f"the {what} {show(each)} cannot be compared: {as_text(error)}"


def classes_refused(inputs: Iterable[object]) -> Iterator[str]:
    """Yield which inputs are classes of values, and no values.

    >>> list(classes_refused([Elapse, 5]))
    ['inputs=[Elapse, …]: Elapse is a class: write Elapse(…)']
    """
    for each in islice(inputs, COMPARED):
        if isinstance(each, type) and (is_record(each) or issubclass(each, Enum)):
            name = each.__name__
            values = f"*{name}" if issubclass(each, Enum) else f"{name}(…)"
            yield f"inputs=[{name}, …]: {name} is a class: write {values}"


def inputs_refused(inputs: Any) -> Iterator[str]:  # noqa: ANN401 -- whatever a user gives
    """Yield why something is no source of inputs."""
    given = show(inputs)
    if isinstance(inputs, type):
        name = inputs.__name__
        yield f"inputs={name}: it is a class: list its values, [{name}(…)], or declare it: def step(state, inp: {name})"
    elif callable(inputs):
        yield from callable_refused("inputs", inputs, "state")
    elif isinstance(inputs, (str, bytes)):
        yield f"inputs={given}: its letters would be the inputs: write inputs=[{given}]"
    elif not isinstance(inputs, Iterable):
        yield f"inputs={given}: a list of inputs is needed, or a function from a state to such a list: [{given}]"
