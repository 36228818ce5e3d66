"""Actions, and the patterns of which scenarios consist."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NamedTuple

from otf.values import key, likeness, show


class Action(NamedTuple):
    """What happens in one transition: an input with its outputs, or spontaneous outputs (then `input` is None).

    `outputs` is None while the outputs are not known.

    >>> Action("coin", ("tea",)).spontaneous, Action(None, ("beep",), spontaneous=True).outputs
    (False, ('beep',))
    """

    input: Any
    outputs: tuple[Any, ...] | None = None
    spontaneous: bool = False


@dataclass(frozen=True)
class Pattern:
    """A set of actions, as an item of a scenario; made by `does`, `out`, `any_action`, a name, a class or a value.

    `matches` returns whether an action is one of them. `concerns` returns whether the scenario controls an action; what
    it does not control is free. `says` is the text of the pattern.

    >>> push = does("push", 1)
    >>> push.matches(Action("push", (1,))), push.matches(Action("push", (2,))), push.concerns(Action("push"))
    (True, False, True)
    """

    says: str
    concerns: Callable[[Action], bool]
    matches: Callable[[Action], bool]

    def __repr__(self) -> str:
        """Return the text of the pattern."""
        return self.says


any_action: Final = Pattern(".", lambda _action: True, lambda _action: True)
"""The pattern of any action; `.` in an expression."""


def pattern(item: object) -> Pattern:
    """Return the pattern of an item of a scenario: a name, a class, a value, or a pattern.

    A name matches all inputs of the class of that name, and members of enumerations with that name.
    """
    if isinstance(item, Pattern):
        return item
    if isinstance(item, type):
        return _input_pattern(item.__name__, lambda value: isinstance(value, item))
    if isinstance(item, str):
        return _input_pattern(item, lambda value: item in names(value))
    named, own = key(item), set(names(item))
    # an action is known by its name: other values of the same name are controlled, not free
    concerned = _input_pattern("", lambda value: not own.isdisjoint(names(value))).matches
    return Pattern(show(item), concerned, _input_pattern("", lambda value: key(value) == named).matches)


def does(item: object, *outputs: object) -> Pattern:
    """Return the pattern of an input with exactly these outputs; the input is a name, a class or a value.

    >>> does("pop", 1), does("pop")
    (pop/1, pop/nothing)
    """
    base, wanted = pattern(item), likeness(outputs)
    says = f"{base.says}/{', '.join(map(show, outputs)) or 'nothing'}"

    def matches(action: Action) -> bool:
        return base.matches(action) and (action.outputs is None or likeness(action.outputs) == wanted)

    return Pattern(says, base.concerns, matches)


def out(item: object) -> Pattern:
    """Return the pattern of a spontaneous output: a name, a class or a value.

    >>> beep = out("beep")
    >>> beep, beep.matches(Action(None, ("beep",), spontaneous=True))
    (!beep, True)
    """
    base = pattern(item)

    def matches(action: Action) -> bool:
        return action.spontaneous and any(base.matches(Action(each)) for each in action.outputs or ())

    return Pattern(f"!{base.says}", matches, matches)


def names(value: object) -> tuple[str, ...]:
    """Return the names of an input: of its class, of the member of an enumeration, or the string itself."""
    if isinstance(value, Enum):
        return value.name, f"{type(value).__name__}.{value.name}"
    return (value,) if isinstance(value, str) else (type(value).__name__, *_own(value))


def _own(value: object) -> tuple[str, ...]:
    name = getattr(value, "name", None)
    return (name,) if isinstance(name, str) else ()


def _input_pattern(says: str, holds: Callable[[Any], bool]) -> Pattern:
    def matches(action: Action) -> bool:
        return not action.spontaneous and holds(action.input)

    return Pattern(says, matches, matches)
