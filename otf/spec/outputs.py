"""What a transition may say of its outputs, besides giving them as values.

An item of a transition's outputs is one of: a value (exactly this one), a class (any value of it), a function or
`Where` (any value for which it is true), `AnyOrder`, `OneOf`, or one of these on a named port with `on`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import isroutine
from typing import Any

from otf.spec.transition import TimerAction, timely

Test = Callable[[Any], bool]


@dataclass(frozen=True, init=False, slots=True)
class AnyOrder:
    """Outputs that come in any order; all of them come before anything later on the same port.

    >>> AnyOrder("pong", "ready").items
    ('pong', 'ready')
    """

    items: tuple[object, ...]

    def __init__(self, *items: object) -> None:
        object.__setattr__(self, "items", items)


@dataclass(frozen=True, init=False, slots=True)
class OneOf:
    """One of these outputs; which one is the system's choice and leads to the same next state.

    >>> OneOf("tea", "coffee").items
    ('tea', 'coffee')
    """

    items: tuple[object, ...]

    def __init__(self, *items: object) -> None:
        object.__setattr__(self, "items", items)


@dataclass(frozen=True, slots=True)
class Where:
    """Any output for which `test` is true; `says` is how a failure names it.

    >>> Where(lambda text: text.startswith("001"), says="a welcome").says
    'a welcome'
    """

    test: Test
    says: str = ""


@dataclass(frozen=True, slots=True)
class On:
    """An item on a named port: needed where the port does not follow from the value. Written `on(port, item)`."""

    port: str
    item: object


def on(port: str, item: object) -> On:
    """Return `item` as expected on `port`.

    >>> on("cpe2", "hello")
    On(port='cpe2', item='hello')
    """
    return On(port, item)


@dataclass(frozen=True, slots=True)
class Accept:
    """A transition whose next states are a function of the outputs seen, such as an id that the system chose.

    `then` gets the tuple of outputs seen on `port` and returns the possible next states (none: these outputs are
    wrong). `until` says when that tuple is complete: a number of outputs, or a predicate on the tuple. With a tuple of
    ports, both functions get a dictionary with the outputs of each, and a number is meant for each. `says` is how a
    failure names what is accepted; `within`, `timers` and `after` are as in `goto`. The functional transition `Ft` of
    Koopman and Plasmeijer, "Fully Automatic Testing with Functions as Specifications".

    >>> Accept(lambda seen: [("job", seen[0])]).until
    1
    """

    then: Callable[[Any], Iterable[Any]]
    port: str | tuple[str, ...] = ""
    until: int | Callable[[Any], bool] = 1
    within: tuple[float, float] | None = None
    says: str = ""
    timers: tuple[TimerAction, ...] = ()
    after: str = ""

    def __post_init__(self) -> None:
        """Refuse a time that is none."""
        timely(self.within, self.after)

    def complete(self, outputs: Any) -> bool:  # noqa: ANN401 -- a tuple, or a dictionary of them
        """Return whether these outputs are all that the transition brings."""
        if not isinstance(self.until, int):
            return self.until(outputs)
        each = outputs.values() if isinstance(self.port, tuple) else [outputs]
        return all(len(seen) >= self.until for seen in each)

    def full(self, outputs: Sequence[object]) -> bool:
        """Return whether no further output of one port belongs to it."""
        return isinstance(self.until, int) and len(outputs) >= self.until


def vague(item: object) -> bool:
    """Return whether an item is no value, but what a value has to be like."""
    return isinstance(item, (Where, type, partial)) or isroutine(item)
