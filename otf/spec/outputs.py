"""The outputs of a transition, other than plain values.

An output is a value (exactly this one), a class (any value of it), or a function or `Where` (any value that it
accepts). It can also be `AnyOrder`, `OneOf`, or any of these on a named port, with `on`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import isroutine
from typing import Any, cast

from otf.errors import UsageError
from otf.spec.transition import RequirementIds, TimerAction, acts, requirements, timely
from otf.values import show

Test = Callable[[Any], bool]


@dataclass(frozen=True, init=False, slots=True)
class AnyOrder:
    """A set of outputs (`items`) that may come in any order; later outputs on the same port must come after all items.

    >>> AnyOrder("pong", "ready").items
    ('pong', 'ready')

    `AnyOrder` raises UsageError if it gets a list of outputs instead of the outputs themselves.
    """

    items: tuple[object, ...]

    def __init__(self, *items: object) -> None:
        object.__setattr__(self, "items", _one_by_one(self, items))


@dataclass(frozen=True, init=False, slots=True)
class OneOf:
    """Exactly one output of `items`: the system chooses which, and the next state does not depend on the choice.

    >>> OneOf("tea", "coffee").items
    ('tea', 'coffee')

    `OneOf` raises UsageError if it gets a list of outputs instead of the outputs themselves.
    """

    items: tuple[object, ...]

    def __init__(self, *items: object) -> None:
        object.__setattr__(self, "items", _one_by_one(self, items))


def _one_by_one(group: object, items: tuple[object, ...]) -> tuple[object, ...]:
    """Return the items. Raises UsageError for a single collection: as one output, it would never come."""
    first: Any = items[0] if len(items) == 1 else None
    if isinstance(first, (list, set, frozenset, Iterator)):
        name, what = type(group).__name__, type(cast("object", first)).__name__
        raise UsageError(f"{name}({what}): it takes outputs one by one: {name}(*outputs)")
    return items


@dataclass(frozen=True, slots=True)
class Where:
    """Any output for which the function `test` returns true; `says` describes these outputs in the text of a failure.

    `examples` are outputs that the test accepts. If otf simulates the system, for instance by a mutant of the model,
    otf sends one of the examples. If there are no `examples`, otf searches values similar to those of the model for an
    output that the test accepts.

    >>> Where(lambda text: text.startswith("001"), says="a welcome", examples=("001 hello",)).says
    'a welcome'
    """

    test: Test
    says: str = ""
    examples: tuple[object, ...] = ()

    def __post_init__(self) -> None:
        """Raise UsageError if the test is no function."""
        if not callable(self.test):
            raise UsageError(f"Where({show(self.test)}): a function is needed, such as lambda output: output > 0")


@dataclass(frozen=True, slots=True)
class On:
    """An output `item` that must come on a given `port`; the function `on` returns an `On`.

    >>> On("cpe2", Where(str.isdigit, says="a number")).port
    'cpe2'
    """

    port: str
    item: object


def on(port: str, item: object) -> On:
    """Return an output that must come on `port`, whatever port the codec names for its value.

    >>> on("cpe2", "hello")
    On(port='cpe2', item='hello')
    """
    return On(port, item)


@dataclass(frozen=True, slots=True)
class Accept:
    """A transition whose next states depend on the outputs, for instance on an id that the system chooses.

    An `Accept` is the functional transition `Ft` of Koopman and Plasmeijer, "Fully Automatic Testing with Functions as
    Specifications". The functions of an `Accept` receive a tuple of outputs. If `port` is a tuple of ports, the
    functions receive a dictionary from each port to its outputs.

    Attributes:
        then: The function that receives the outputs and returns the possible next states; none if an output is wrong.
        port: The port of the outputs, or a tuple of ports.
        until: How many outputs (per port) complete the transition, or a function that says whether they do.
        within: The time window in which the outputs must come, in seconds, as with `goto`.
        says: A description of the accepted outputs, for the text of a failure.
        timers: The timers that the transition starts and stops, as with `goto`.
        after: The timer whose expiry causes the transition, as with `goto`.
        req: The requirements that the transition decides, as with `goto`.
        closing: Whether the end of a port may be among the outputs, as an `Ended`.
        violates: The function that receives the outputs up to the wrong one and returns the requirements that they
            violate; without it, any of `req` may be violated.
        examples: The function that returns accepted outputs, for a model that otf serves as a system.
        possible: The function that receives incomplete outputs; if it returns false, the last output is wrong at once.

    >>> opened = Accept(lambda seen: [("job", seen[0])], says="the id of a job")
    >>> opened.complete((7,)), opened.then((7,))
    (True, [('job', 7)])
    """

    then: Callable[[Any], Iterable[Any]]
    port: str | tuple[str, ...] = ""
    until: int | Callable[[Any], bool] = 1
    within: tuple[float, float] | None = None
    says: str = ""
    timers: tuple[TimerAction, ...] = ()
    after: str = ""
    req: RequirementIds = ()
    closing: bool = False
    violates: Callable[[Any], RequirementIds] | None = None
    examples: Callable[[], Iterable[Any]] | None = None
    possible: Callable[[Any], bool] | None = None

    def __post_init__(self) -> None:
        """Check the time window, and turn lists into tuples, since transitions are compared and cached."""
        timely(self.within, self.after)
        if isinstance(self.until, bool) or not (isinstance(self.until, int) or callable(self.until)):
            raise UsageError(f"Accept(until={show(self.until)}): give the number of outputs, or a function of them")
        for name in ("then", "violates", "examples", "possible"):
            given = getattr(self, name)
            if not callable(given) and (given is not None or name == "then"):
                raise UsageError(f"Accept({name}={show(given)}): a function is needed, such as lambda outputs: …")
        object.__setattr__(self, "timers", acts(self.timers))
        object.__setattr__(self, "req", requirements(self.req))

    def complete(self, outputs: Any) -> bool:  # noqa: ANN401 -- a tuple, or a dictionary of them
        """Return whether the given outputs are all outputs of the transition."""
        if not isinstance(self.until, int):
            return self.until(outputs)
        each = outputs.values() if isinstance(self.port, tuple) else [outputs]
        return all(len(seen) >= self.until for seen in each)

    def closing_states(self, outputs: Any) -> Iterable[Any] | None:  # noqa: ANN401 -- a tuple, or a dictionary of them
        """Return the next states after some outputs: empty if an output is wrong, None if more outputs must come."""
        if self.complete(outputs):
            return _states(self.then(outputs))
        return None if self.possible is None or self.possible(outputs) else ()

    def full(self, outputs: Sequence[object]) -> bool:
        """Return whether one port has sent all its outputs of the transition."""
        return isinstance(self.until, int) and len(outputs) >= self.until


def _states(given: Any) -> Iterable[Any]:  # noqa: ANN401 -- whatever a function of a user returns
    if isinstance(given, str) or not isinstance(given, Iterable):
        message = f"`then` returned {show(given)}; return a list of the next states: [{show(given)}]"
        raise TypeError(message)
    return given  # pyright: ignore[reportUnknownVariableType] -- of any states


def vague(item: object) -> bool:
    """Return whether an item describes outputs without giving a value: a class, a function or a `Where`."""
    return isinstance(item, (Where, type, partial)) or isroutine(item)
