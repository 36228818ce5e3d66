"""One thing that may happen: the next state, and the outputs on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from otf.errors import ModelError

State = TypeVar("State")
FOREVER: Final = float("inf")


@dataclass(frozen=True, slots=True)
class Transition(Generic[State]):
    """A next state and the outputs that are seen on the way to it; usually written with `goto`.

    `within=(lo, hi)` is the time window of the outputs, in seconds after the input was taken. Raises ModelError for one
    in which nothing can be seen.
    """

    state: State
    outputs: tuple[object, ...] = ()
    within: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Refuse a window that is none."""
        if self.within is not None:
            checked(self.within)


def goto(state: State, *outputs: object, within: tuple[float, float] | None = None) -> Transition[State]:
    """Return the transition to `state` with these outputs, in this order on each port.

    >>> goto(5, "coffee")
    Transition(state=5, outputs=('coffee',), within=None)
    """
    return Transition(state, outputs, within)


def checked(window: object) -> None:
    """Raise ModelError for what is no time window: in a wrong one no system could answer, and all would be blamed."""
    match window:
        # NaN is neither larger nor smaller, and the tester would wait for ever for what has no last moment
        case (int() | float() as lo, int() | float() as hi) if isinstance(window, tuple) and 0 <= lo <= hi < FOREVER:
            return
        case _:
            message = (
                f"the time window within={window!r} is none; write (lo, hi), seconds with 0 <= lo <= hi < infinity"
            )
            raise ModelError(message)
