"""One thing that may happen: the next state, and the outputs on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeAlias, TypeVar

from otf.errors import ModelError

EVER: Final = float("inf")


@dataclass(frozen=True, slots=True)
class TimerStart:
    """Starts a timer, or starts it anew; usually written with `start`."""

    name: str
    lo: float
    hi: float

    def __post_init__(self) -> None:
        """Refuse what no timer can be."""
        if not self.name:
            message = "a timer needs a name, by which a transition in `emits` says that it comes after it"
            raise ModelError(message)
        checked((self.lo, self.hi), f"of start({self.name!r}, {self.lo!r}, {self.hi!r})")


@dataclass(frozen=True, slots=True)
class TimerStop:
    """Stops a timer if it runs; usually written with `stop`."""

    name: str


TimerAction: TypeAlias = TimerStart | TimerStop


def start(name: str, lo: float, hi: float) -> TimerStart:
    """Return what starts a timer in a transition: it expires `lo` to `hi` seconds after the transition.

    A timer runs on, whatever else happens, until it expires, is stopped, or is started anew. What comes of it is a
    transition of `emits` that names it: `goto(state, output, after="session")`.

    >>> start("session", 0.4, 0.7)
    TimerStart(name='session', lo=0.4, hi=0.7)
    """
    return TimerStart(name, lo, hi)


def stop(name: str) -> TimerStop:
    """Return what stops a timer in a transition; a timer that does not run is left alone.

    >>> stop("session")
    TimerStop(name='session')
    """
    return TimerStop(name)


def timely(within: object, after: str) -> None:
    """Raise ModelError for a transition whose time is none, or is said twice."""
    if within is None:
        return
    checked(within)
    if after:
        message = f"within={within!r} and after={after!r}: a timer has its window from its start, leave one out"
        raise ModelError(message)


def checked(window: object, where: str = "") -> None:
    """Raise ModelError for what is no time window: in a wrong one no system could answer, and all would be blamed."""
    if _is_window(window):
        return
    named = where or f"within={window!r}"
    message = f"the time window {named} is none; write (lo, hi), seconds with 0 <= lo <= hi, lo not infinite"
    raise ModelError(message)


def _is_window(window: object) -> bool:
    match window:
        # NaN is neither larger nor smaller than anything
        case (int() | float() as lo, int() | float() as hi) if isinstance(window, tuple):
            return 0 <= lo <= hi and lo < EVER
        case _:
            return False


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
