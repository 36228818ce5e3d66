"""Actions, and the patterns that scenarios are written with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NamedTuple

from otf.values import key, likeness, show


class Action(NamedTuple):
    """What happens at one transition: an input (None: unasked), and the outputs, None where they are not known yet."""

    input: Any
    outputs: tuple[Any, ...] | None = None
    spontaneous: bool = False


@dataclass(frozen=True)
class Pattern:
    """Actions of a kind: `concerns` tells whether an input is meant, `matches` whether an action is."""

    says: str
    concerns: Callable[[Action], bool]
    matches: Callable[[Action], bool]

    def __repr__(self) -> str:
        """Return how it was written."""
        return self.says


any_action: Final = Pattern(".", lambda _action: True, lambda _action: True)
"""Any action."""


def pattern(item: object) -> Pattern:
    """Return the pattern of what may stand in a scenario: a name, a class, a value, or a pattern.

    A bare name stands for all inputs of the class of that name, or members of enumerations, whatever their values.
    """
    if isinstance(item, Pattern):
        return item
    if isinstance(item, type):
        return _asked(item.__name__, lambda value: isinstance(value, item))
    if isinstance(item, str):
        return _asked(item, lambda value: item in names(value))
    named, own = key(item), set(names(item))
    # an action is shared by its name: other values of it are held back, not free
    concerned = _asked("", lambda value: not own.isdisjoint(names(value))).matches
    return Pattern(show(item), concerned, _asked("", lambda value: key(value) == named).matches)


def does(item: object, *outputs: object) -> Pattern:
    """Return the pattern of an input with exactly these outputs: `does(Pop(), 1)`."""
    base, wanted = pattern(item), likeness(outputs)
    says = f"{base.says}/{', '.join(map(show, outputs)) or 'nothing'}"

    def matches(action: Action) -> bool:
        return base.matches(action) and (action.outputs is None or likeness(action.outputs) == wanted)

    return Pattern(says, base.concerns, matches)


def out(item: object) -> Pattern:
    """Return the pattern of an output that comes unasked: a name, a class or a value."""
    base = pattern(item)

    def matches(action: Action) -> bool:
        return action.spontaneous and any(base.matches(Action(each)) for each in action.outputs or ())

    return Pattern(f"!{base.says}", matches, matches)


def names(value: object) -> tuple[str, ...]:
    """Return the names of an input: its class, its own where it is a member of an enumeration, or a text itself."""
    if isinstance(value, Enum):
        return value.name, f"{type(value).__name__}.{value.name}"
    return (value,) if isinstance(value, str) else (type(value).__name__, *_own(value))


def _own(value: object) -> tuple[str, ...]:
    name = getattr(value, "name", None)
    return (name,) if isinstance(name, str) else ()


def _asked(says: str, holds: Callable[[Any], bool]) -> Pattern:
    def matches(action: Action) -> bool:
        return not action.spontaneous and holds(action.input)

    return Pattern(says, matches, matches)
