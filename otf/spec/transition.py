"""One thing that may happen: the next state, the outputs on the way, their time window, and timers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain
from typing import Any, Final, Generic, TypeAlias, TypeGuard, TypeVar

from otf.errors import ModelError

EVER: Final = float("inf")
RequirementIds: TypeAlias = str | Enum | Iterable[str | Enum]
"""The id of a requirement, or several ids; the id of a member of an enum is the member's name."""


@dataclass(frozen=True, slots=True)
class TimerStart:
    """An order to start or restart the timer `name`, which expires after `lo` to `hi` seconds; see `start`.

    `TimerStart` raises ModelError for an invalid time window, or an empty name.

    >>> TimerStart("session", lo=0.4, hi=0.7) == start("session", 0.4, 0.7)
    True
    """

    name: str
    lo: float
    hi: float

    def __post_init__(self) -> None:
        """Raise ModelError for a timer without a name, or with a wrong window."""
        if not isinstance(self.name, str) or not self.name:  # pyright: ignore[reportUnnecessaryIsInstance] -- of the user
            message = (
                f"start({self.name!r}, …): a timer needs a name, to which a transition in `emits` refers by after=…"
            )
            raise ModelError(message)
        checked((self.lo, self.hi), f"of start({self.name!r}, {self.lo!r}, {self.hi!r})")


@dataclass(frozen=True, slots=True)
class BoundStart(TimerStart):
    """Starts a timer that bounds several outputs together: only in a wrong system does it expire before the last.

    So a model need not have a transition for an earlier expiry.

    >>> BoundStart("ten ticks", lo=0.9, hi=1.1).name
    'ten ticks'
    """


@dataclass(frozen=True, slots=True)
class TimerStop:
    """An order to stop the timer `name`, if the timer is running; see `stop`.

    >>> TimerStop("session") == stop("session")
    True
    """

    name: str


TimerAction: TypeAlias = TimerStart | TimerStop
"""What a transition does to a timer: it starts the timer, or stops it.

>>> from otf.spec import goto, start, stop
>>> actions: list[TimerAction] = [stop("blink"), start("off", 5.0, 6.0)]
>>> goto("on", timers=actions).timers == tuple(actions)
True
"""


def start(name: str, lo: float, hi: float) -> TimerStart:
    """Return an order to start a timer that expires `lo` to `hi` seconds later; pass the order to `goto` as `timers=`.

    A timer runs until it expires, or until a transition stops or restarts it. When the timer "session" expires, otf
    follows a transition of `emits` that names this timer: `goto(state, output, after="session")`. `start` raises
    ModelError for an invalid time window.

    >>> start("session", 0.4, 0.7)
    TimerStart(name='session', lo=0.4, hi=0.7)
    """
    return TimerStart(name, lo, hi)


def stop(name: str) -> TimerStop:
    """Return an order to stop a timer if the timer is running; pass the order to `goto` as `timers=`.

    >>> stop("session")
    TimerStop(name='session')
    """
    return TimerStop(name)


def initial_timers(timers: Iterable[TimerStart]) -> tuple[TimerStart, ...]:
    """Return the timers that run when a path begins.

    Raises ModelError if two actions name one timer, or if an action is not the start of a timer.
    """
    found = acts(timers)
    starts = tuple(each for each in found if isinstance(each, TimerStart))
    if wrong := [each for each in found if each not in starts]:
        message = f"timers of a Spec run from the beginning, and {wrong[0]!r} starts none: write start(name, lo, hi)"
        raise ModelError(message)
    names = [each.name for each in found]
    if len(set(names)) < len(names):
        message = f"timers of a Spec: {', '.join(names)}: one name starts one timer; give each a name of its own"
        raise ModelError(message)
    return starts


def acts(timers: Iterable[TimerAction]) -> tuple[TimerAction, ...]:
    """Return what a transition does to timers as a tuple. Raises ModelError for anything else."""
    found = tuple(timers) if isinstance(timers, Iterable) else ()  # pyright: ignore[reportUnnecessaryIsInstance] -- of the user
    known = all(isinstance(each, (TimerStart, TimerStop)) for each in found)  # pyright: ignore[reportUnnecessaryIsInstance] -- of the user
    if known and isinstance(timers, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] -- of the user
        return found
    message = f"timers={timers!r}: give a list: timers=[start(name, lo, hi), stop(name)]"
    raise ModelError(message)


def timely(within: object, after: str) -> None:
    """Raise ModelError for a transition with a wrong window, or with both a window and a timer."""
    if not isinstance(after, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- of the user
        message = f"after={after!r}: the name of a timer is needed, as in start(name, lo, hi)"
        raise ModelError(message)
    if within is None:
        return
    checked(within)
    if after:
        message = f"within={within!r} and after={after!r}: the start of a timer sets its window, leave one out"
        raise ModelError(message)


def checked(window: object, where: str = "") -> None:
    """Raise ModelError for a wrong time window: no system could answer within it, so every system would fail."""
    if _is_window(window):
        return
    named = where or f"within={window!r}"
    message = f"the time window {named} is invalid; write (lo, hi), seconds with 0 <= lo <= hi, lo not infinite"
    raise ModelError(message)


def _is_window(window: object) -> bool:
    match window:
        # NaN is neither larger nor smaller than anything
        case (int() | float() as lo, int() | float() as hi) if isinstance(window, tuple):
            return 0 <= lo <= hi and lo < EVER
        case _:
            return False


def requirements(req: RequirementIds) -> tuple[str, ...]:
    """Return the ids of requirements as a tuple, each once; raise ModelError for an invalid id.

    >>> requirements("RFC1350-5-2")
    ('RFC1350-5-2',)
    """
    given = req if isinstance(req, Iterable) and not isinstance(req, (str, Enum)) else (req,)
    found = tuple(each.name if isinstance(each, Enum) else each for each in given)
    if all(isinstance(each, str) and each and each.isprintable() for each in found):  # pyright: ignore[reportUnnecessaryIsInstance] -- of the user
        return tuple(dict.fromkeys(found))
    message = f"req={req!r}: give the id of a requirement as in the table of requirements, or a list of such ids"
    raise ModelError(message)


def in_words(within: tuple[float, float] | None, timers: Iterable[TimerAction] = (), after: str = "") -> str:
    """Return the times of a transition as text; "" if it has none.

    >>> in_words((0.4, 0.7), [start("retry", 1, 2), stop("session")])
    'within 0.4 to 0.7 s, starts retry (1 to 2 s), stops session'
    >>> in_words(None, after="retry")
    'when retry expires'
    """
    caused = [f"when {after} expires"] if after else []
    window = [f"within {_seconds(*within)}"] if within is not None else []
    return ", ".join([*caused, *window, *map(_action, timers)])


def _action(timer: TimerAction) -> str:
    if isinstance(timer, TimerStop):
        return f"stops {timer.name}"
    return f"starts {timer.name} ({_seconds(timer.lo, timer.hi)})"


def _seconds(lo: float, hi: float) -> str:
    return f"{lo:g} s or more" if hi == EVER else f"{lo:g} to {hi:g} s"


State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Transition(Generic[State]):
    """A transition of a model: the next `state`, and the `outputs` that the system sends; usually made by `goto`.

    `within=(lo, hi)` is the time window of the outputs: in seconds after the system took the input, or in `emits`,
    after the system entered the state. `timers` are the timers that the transition starts and stops. In `emits`,
    `after` names the timer whose expiry causes the transition. `req` contains the ids of the requirements that the
    transition implements. A transition with an invalid time window, or with both `within` and `after`, raises
    ModelError.

    >>> Transition("paid", ("coffee",), within=(0.0, 0.5)).outputs
    ('coffee',)
    """

    state: State
    outputs: tuple[object, ...] = ()
    within: tuple[float, float] | None = None
    timers: tuple[TimerAction, ...] = field(default=(), repr=False)
    after: str = field(default="", repr=False)
    req: tuple[str, ...] = field(default=(), repr=False)


def is_transition(way: object) -> TypeGuard[Transition[Any]]:
    """Return whether something returned by a model is a transition."""
    return isinstance(way, Transition)


def goto(
    state: State,
    *outputs: object,
    within: tuple[float, float] | None = None,
    timers: Iterable[TimerAction] = (),
    after: str = "",
    req: RequirementIds = (),
) -> Transition[State]:
    """Return a transition to `state` with the given outputs, which must come in this order on each port.

    `within=(lo, hi)` is the time window of the outputs, in seconds; `Transition` explains all arguments.

    `goto` raises ModelError for an invalid time window, for `within` together with `after`, and for an invalid
    requirement id.

    >>> goto(5, "coffee")
    Transition(state=5, outputs=('coffee',), within=None)

    This session ends 0.4 to 0.7 seconds after it was opened, even if other things happen in between:

    >>> from otf.spec import start
    >>> opened = goto("open", "welcome", timers=[start("session", 0.4, 0.7)])
    >>> ended = goto("closed", "bye", after="session")  # in `emits`
    >>> opened.timers, ended.after
    ((TimerStart(name='session', lo=0.4, hi=0.7),), 'session')

    This transition implements a requirement, named by its id in a table of `otf.requirements`:

    >>> goto("acknowledged", "ACK 1", req="RFC1350-5-2").req
    ('RFC1350-5-2',)
    """
    if within is not None or after:
        timely(within, after)
    return Transition(state, outputs, within, acts(timers) if timers else (), after, requirements(req) if req else ())


@dataclass(frozen=True, slots=True, eq=False)
class Completed:
    """The step function that `total` gives a spec: an unspecified input causes no output and no change of state.

    The oracle calls `spec.step` itself.
    """

    spec: Any

    def __call__(self, state: object, inp: object) -> Iterable[Any]:
        """Yield the transitions on an input; for an unspecified one, only the transition that ignores it."""
        yields: Iterable[Any] = self.spec.step(state, inp)
        if not isinstance(yields, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] -- of the user
            return yields  # the oracle reports this error, with its place
        happens = iter(yields)
        first = next(happens, None)
        return [Transition(state)] if first is None else chain([first], happens)
