"""What is wrong with the arguments of `Spec`, and of functions that take a spec."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from inspect import isasyncgenfunction, iscoroutinefunction
from itertools import islice
from typing import Any, Final, cast

from otf.spec.offering import gives_values
from otf.values import as_text, key, show
from otf.values.arguments import brief, unfit
from otf.values.raised import definition

MANY: Final = 1_000  # inputs of a list that are compared with each other


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
    for each in islice(values, MANY):
        try:
            key(each)
        except Exception as error:  # noqa: BLE001 -- the user's code may raise anything
            yield f"the {what} {show(each)} cannot be compared: {as_text(error)}"


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
