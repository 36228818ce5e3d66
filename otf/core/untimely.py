"""What a failure says of time: what was due when, and by how much what came was too late or too early."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from otf.core.belief import Belief
from otf.core.clock import Clock, Window
from otf.core.hypothesis import Hypothesis, Timer
from otf.core.model import Model
from otf.core.moves import Moves
from otf.core.nodes import Node
from otf.core.windows import Windows
from otf.trace.events import Closed, Event, Seen
from otf.trace.verdict import FailureKind

LOOKED_AT = 1_000  # explanations that are looked at for their windows


class Due(NamedTuple):
    """Outputs of a port (any, where it is empty) that are due in a window, and since when it is counted."""

    port: str
    window: Window
    since: str


def times(model: Model, belief: Belief, event: Event, clock: Clock, kind: FailureKind | None) -> tuple[str, ...]:
    """Return what was due when, in seconds since the start of the run; nothing where no window was open."""
    port = event.port if isinstance(event, (Seen, Closed)) else ""
    overdue = [due for due in _dues(model, belief.hypotheses, clock) if _end(due) + clock.latency < event.at]
    if kind is None and port and overdue:
        # what came is wrong because something else should have come before
        return _window(min(overdue, key=_end)), f"at {event.at:.3f} s it had not come"
    found = [due for due in _dues(model, belief.hypotheses, clock) if port in {"", due.port} or not due.port]
    if not found:
        return ()
    if kind == "early":
        due = min(found, key=_begin)
        return _window(due), f"it came at {event.at:.3f} s, {_begin(due) - event.at:.3f} s too early"
    due = max(found, key=_end)
    over = event.at - _end(due)
    if not port:
        return _window(due), f"nothing had come at {event.at:.3f} s"
    return _window(due), f"it came at {event.at:.3f} s" + (f", {over:.3f} s too late" if over > 0 else ", in that time")


def _begin(due: Due) -> float:
    return due.window.trigger.a + due.window.lo


def _end(due: Due) -> float:
    return due.window.trigger.b + due.window.hi


def _window(due: Due) -> str:
    return (
        f"due {due.window.lo:g} to {due.window.hi:g} s after {due.since}: "
        f"between {max(0.0, _begin(due)):.3f} s and {_end(due):.3f} s of the run"
    )


def _dues(model: Model, hypotheses: Iterable[Hypothesis], clock: Clock) -> Iterator[Due]:
    """Yield what is due in windows: what is owed, what timers bring, and what inputs in flight would bring."""
    # nothing is too late here, or what is looked for would not be found
    patient = Clock(clock.now, clock.latency, clock.busy, clock.inputs, late=True)
    moves = Moves(model, windows=Windows(model, patient))
    seen, stack = set[Hypothesis](), list(hypotheses)
    while stack and len(seen) < LOOKED_AT:
        now = stack.pop()
        if now in seen:
            continue
        seen.add(now)
        yield from (
            Due(port, each.window, "the state was entered" if each.spontaneous else "its input was taken")
            for port, owing in now.outstanding
            for each in owing
            if each.window
        )
        yield from (Due("", each.window, _started(each)) for each in now.timers if isinstance(now.position, Node))
        stack.extend(step.then for port, in_flight in now.flight for step in moves.taking(now, port, in_flight[0]))


def _started(timer: Timer) -> str:
    return f"the timer {timer.name!r} was started" if isinstance(timer.name, str) else "the state was entered"
