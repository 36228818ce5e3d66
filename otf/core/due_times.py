"""What was due when, in words: the windows in which a model wanted an output, beside the time at which it came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from otf.core.belief import Belief
from otf.core.deadlines import expects, may_cause
from otf.core.hypothesis import Hypothesis, Timer
from otf.core.memory import Symbol
from otf.core.model import Model
from otf.core.moves import Moves
from otf.core.nodes import Node
from otf.core.timing import Clock, Window
from otf.core.windows import Windows
from otf.trace.clock import TAKEN
from otf.trace.events import Closed, Event, Seen, Undecodable
from otf.trace.verdict import FailureKind

LOOKED_AT = 1_000  # explanations searched for windows


class Due(NamedTuple):
    """Outputs of a port (any, if it is empty) that are due in a window, and what the window is counted from."""

    port: str
    window: Window
    since: str


def times(model: Model, belief: Belief, event: Event, clock: Clock, kind: FailureKind | None) -> tuple[str, ...]:
    """Return what was due when, in seconds since the start of the run; nothing if no window says anything of the event.

    Of an output, what another one was due before, or the windows in which this one was.
    """
    at = event.at
    overdue = [due for due in dues(model, belief.hypotheses, clock) if _end(due) + clock.latency < at]
    if not isinstance(event, (Seen, Closed)):
        return (_window(max(overdue, key=_end)), f"nothing had come at {at:.3f} s") if overdue else ()
    if kind in {None, "missing"} and overdue:
        # the output is wrong because another one was due before it
        return _window(min(overdue, key=_end)), f"at {at:.3f} s it had not come"
    output = event.output
    if isinstance(output, Undecodable):
        return ()
    found = list(dues(model, belief.hypotheses, clock, (event.port, model.output_symbol(output))))
    # in a state with several timers, an output is early for one that has not begun, and late for one that is over
    if kind in {"early", "late"}:
        found = [due for due in found if (at < _begin(due) if kind == "early" else at > _end(due))]
    if not found:
        return ()
    due = min(found, key=_begin) if kind == "early" else max(found, key=_end)
    early, late = _begin(due) - at, at - _end(due)
    said = f"{early:.3f} s too early" if early > 0 else f"{late:.3f} s too late" if late > 0 else "in that time"
    return _window(due), f"it came at {at:.3f} s, {said}"


def _begin(due: Due) -> float:
    return due.window.trigger.a + due.window.lo


def _end(due: Due) -> float:
    return due.window.trigger.b + due.window.hi


def _window(due: Due) -> str:
    return (
        f"due {due.window.lo:g} to {due.window.hi:g} s after {due.since}: "
        f"between {max(0.0, _begin(due)):.3f} s and {_end(due):.3f} s of the run"
    )


def dues(
    model: Model, hypotheses: Iterable[Hypothesis], clock: Clock, about: tuple[str, Symbol] | None = None
) -> Iterator[Due]:
    """Yield what is due in windows: outstanding outputs, timers, and the outputs of inputs in flight.

    With `about`, a port and an output, only where that output is due.
    """
    # nothing counts as late here, or the overdue outputs would not be found
    patient = Clock(clock.now, clock.latency, clock.busy, clock.inputs, late=True)
    moves = Moves(model, windows=Windows(model, patient))
    for now in islice(moves.takings(hypotheses), LOOKED_AT):
        yield from (
            Due(port, each.window, "the state was entered" if each.spontaneous else TAKEN)
            for port, outputs in now.outstanding
            for each in outputs
            if each.window and (about is None or (port == about[0] and expects(each, about[1])))
        )
        yield from (
            Due("", each.window, _started(each))
            for each in now.timers
            if isinstance(now.position, Node) and (about is None or may_cause(model, now.position, each, *about))
        )


def _started(timer: Timer) -> str:
    return f"the timer {timer.name!r} was started" if isinstance(timer.name, str) else "the state was entered"
