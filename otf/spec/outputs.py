"""The outputs of a transition, other than plain values.

An item of a transition's outputs is one of: a value (exactly this one), a class (any value of it), a function or
`Where` (any value for which it is true), `AnyOrder`, `OneOf`, or one of these on a named port with `on`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import isroutine
from typing import Any, cast

from otf.errors import UsageError
from otf.spec.transition import RequirementIds, TimerAction, requirements, timely

Test = Callable[[Any], bool]


@dataclass(frozen=True, init=False, slots=True)
class AnyOrder:
    """Outputs that come in any order, all before the later outputs on the same port.

    >>> AnyOrder("pong", "ready").items
    ('pong', 'ready')

    Raises UsageError for a list of outputs in their place.
    """

    items: tuple[object, ...]

    def __init__(self, *items: object) -> None:
        object.__setattr__(self, "items", _one_by_one(self, items))


@dataclass(frozen=True, init=False, slots=True)
class OneOf:
    """One of these outputs: the system chooses, and each choice leads to the same next state.

    >>> OneOf("tea", "coffee").items
    ('tea', 'coffee')

    Raises UsageError for a list of outputs in their place.
    """

    items: tuple[object, ...]

    def __init__(self, *items: object) -> None:
        object.__setattr__(self, "items", _one_by_one(self, items))


def _one_by_one(group: object, items: tuple[object, ...]) -> tuple[object, ...]:
    """Return the items. Raises UsageError for a collection in their place: it would be one output that never comes."""
    first: Any = items[0] if len(items) == 1 else None
    if isinstance(first, (list, set, frozenset, Iterator)):
        name, what = type(group).__name__, type(cast("object", first)).__name__
        raise UsageError(f"{name}({what}): it takes outputs one by one: {name}(*outputs)")
    return items


@dataclass(frozen=True, slots=True)
class Where:
    """Any output for which `test` is true; `says` is its description in a failure.

    `examples` are outputs that it accepts, for a model that is served as a system; where there are none, they are
    looked for among the values near it.

    >>> Where(lambda text: text.startswith("001"), says="a welcome", examples=("001 hello",)).says
    'a welcome'
    """

    test: Test
    says: str = ""
    examples: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class On:
    """An item of outputs on a named port, for an item whose value does not determine its port; made by `on`.

    >>> On("cpe2", Where(str.isdigit, says="a number")).port
    'cpe2'
    """

    port: str
    item: object


def on(port: str, item: object) -> On:
    """Return `item` as an output that is expected on `port`.

    >>> on("cpe2", "hello")
    On(port='cpe2', item='hello')
    """
    return On(port, item)


@dataclass(frozen=True, slots=True)
class Accept:
    """A transition whose next states depend on the outputs, such as an id that the system chooses.

    This is the functional transition `Ft` of Koopman and Plasmeijer, "Fully Automatic Testing with Functions as
    Specifications". With a tuple of ports, the functions receive a dictionary from each port to its outputs, in place
    of a tuple of outputs.

    Attributes:
        then: Receives the outputs, and returns the possible next states; none if these outputs are wrong.
        port: The port of the outputs, or several.
        until: How many outputs (of each port) complete it, or a function that says whether they do.
        within: When they have to come, in seconds, as with `goto`.
        says: What is accepted, for the text of a failure.
        timers: What it starts and stops, as with `goto`.
        after: The timer after which it comes, as with `goto`.
        req: The requirements that it decides, as with `goto`.
        closing: Whether the end of a port may be among the outputs, as an `Ended`.
        violates: Receives the outputs so far, the wrong one included, and returns which requirements these violate;
            without it, that may be any of `req`.
        examples: Returns outputs that it accepts, for a model that is served as a system.
        possible: Is asked about outputs that are not complete: if it returns false, the last of them is wrong at once.

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
        """Refuse an invalid time window, and keep lists as tuples: transitions are compared and remembered."""
        timely(self.within, self.after)
        object.__setattr__(self, "timers", tuple(self.timers))
        object.__setattr__(self, "req", requirements(self.req))

    def complete(self, outputs: Any) -> bool:  # noqa: ANN401 -- a tuple, or a dictionary of them
        """Return whether these outputs complete the transition."""
        if not isinstance(self.until, int):
            return self.until(outputs)
        each = outputs.values() if isinstance(self.port, tuple) else [outputs]
        return all(len(seen) >= self.until for seen in each)

    def closing_states(self, outputs: Any) -> Iterable[Any] | None:  # noqa: ANN401 -- a tuple, or a dictionary of them
        """Return the next states after these outputs, none if they are wrong; None if more have to come."""
        if self.complete(outputs):
            return self.then(outputs)
        return None if self.possible is None or self.possible(outputs) else ()

    def full(self, outputs: Sequence[object]) -> bool:
        """Return whether the outputs of one port are complete, so that the next one belongs to a later transition."""
        return isinstance(self.until, int) and len(outputs) >= self.until


def vague(item: object) -> bool:
    """Return whether an item describes values (a class, a function, a `Where`), and is no value itself."""
    return isinstance(item, (Where, type, partial)) or isroutine(item)
