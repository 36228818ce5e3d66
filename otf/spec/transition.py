"""One thing that may happen: the next state, and the outputs on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from otf.spec.timing import TimerAction, timely

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Transition(Generic[State]):
    """A next state and the outputs that are seen on the way to it; usually written with `goto`.

    `within=(lo, hi)` is the time window of the outputs, in seconds: after the input was taken, and in `emits` after
    the state was entered. `timers` are started and stopped by it; in `emits`, `after` names the timer that brings it.
    Raises ModelError for a window in which nothing can be seen, and for a window of what comes after a timer.
    """

    state: State
    outputs: tuple[object, ...] = ()
    within: tuple[float, float] | None = None
    timers: tuple[TimerAction, ...] = field(default=(), repr=False)
    after: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        """Refuse a time that is none."""
        timely(self.within, self.after)


def goto(
    state: State,
    *outputs: object,
    within: tuple[float, float] | None = None,
    timers: Iterable[TimerAction] = (),
    after: str = "",
) -> Transition[State]:
    """Return the transition to `state` with these outputs, in this order on each port.

    >>> goto(5, "coffee")
    Transition(state=5, outputs=('coffee',), within=None)

    A session that ends 0.4 to 0.7 seconds after it was opened, whatever else happens in between:

    >>> from otf.spec import start
    >>> opened = goto("open", "welcome", timers=[start("session", 0.4, 0.7)])
    >>> ended = goto("closed", "bye", after="session")  # in `emits`
    >>> opened.timers, ended.after
    ((TimerStart(name='session', lo=0.4, hi=0.7),), 'session')
    """
    return Transition(state, outputs, within, tuple(timers), after)
