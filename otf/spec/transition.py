"""One thing that may happen: the next state, and the outputs on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Transition(Generic[State]):
    """A next state and the outputs that are seen on the way to it; usually written with `goto`.

    `within=(lo, hi)` is the time window of the outputs, in seconds after the input was taken.
    """

    state: State
    outputs: tuple[object, ...] = ()
    within: tuple[float, float] | None = None


def goto(state: State, *outputs: object, within: tuple[float, float] | None = None) -> Transition[State]:
    """Return the transition to `state` with these outputs, in this order on each port.

    >>> goto(5, "coffee")
    Transition(state=5, outputs=('coffee',), within=None)
    """
    return Transition(state, outputs, within)
