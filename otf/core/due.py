"""What must have come: by when something must be seen, and whether a conforming system is silent."""

from __future__ import annotations

from collections.abc import Iterable

from otf.core.belief import Belief
from otf.core.clock import FOREVER, Window, deadline
from otf.core.hypothesis import Hypothesis
from otf.core.model import Model
from otf.core.moves import Moves
from otf.core.nodes import UNKNOWN, Node


def due(belief: Belief, latency: float) -> float | None:
    """Return the time by which something must have been seen in every explanation; None where nothing must be."""
    dues = [_due(each, latency) for each in belief.hypotheses]
    return None if FOREVER in dues else max(dues, default=None)


def pending(belief: Belief, latency: float) -> float | None:
    """Return the time by which all answers have been seen that may be due in windows; None where there are none."""
    dues = (deadline(window, latency) for each in belief.hypotheses for window in _answers(each))
    return max((by for by in dues if by < FOREVER), default=None)


def silent(model: Model, belief: Belief) -> bool:
    """Return whether in every explanation, all inputs in flight taken, nothing is owed and nothing can come unasked."""
    if belief.silent is None:
        belief.silent = all(_silent(Moves(model), each) for each in belief.hypotheses)
    return belief.silent


def slow(model: Model, hypotheses: Iterable[Hypothesis], busy: float) -> bool:
    """Return whether the system may be busy for longer than R with an input in flight, or half answered.

    So it is where it answers in a window that is longer.
    """
    return any(
        any(window.hi > busy for window in _answers(each)) or _slow(Moves(model), each, busy) for each in hypotheses
    )


def _due(now: Hypothesis, latency: float) -> float:
    windows = [*_windows(now), *_expiring(now)]
    return min((deadline(window, latency) for window in windows), default=FOREVER)


def _expiring(now: Hypothesis) -> Iterable[Window]:
    # of a named timer that means nothing here, nothing would be seen
    node = now.position
    if not isinstance(node, Node):
        return ()
    return [each.window for each in now.timers if isinstance(each.name, int) or each.name in node.expiring]


def _windows(now: Hypothesis) -> Iterable[Window]:
    return (each.window for _, owing in now.outstanding for each in owing if each.window)


def _answers(now: Hypothesis) -> Iterable[Window]:
    return (each.window for _, owing in now.outstanding for each in owing if each.window and not each.spontaneous)


def _silent(moves: Moves, start: Hypothesis) -> bool:
    """Return whether no way of taking what is in flight brings an output."""
    seen = {start}
    stack = [start]
    while stack:
        now = stack.pop()
        if now.outstanding or now.beyond or not isinstance(now.position, Node) or moves.model.spontaneous(now.position):
            return False
        for port, in_flight in now.flight:
            fresh = {step.then for step in moves.taking(now, port, in_flight[0])} - seen
            seen |= fresh
            stack.extend(fresh)
    return True


def _slow(moves: Moves, start: Hypothesis, busy: float) -> bool:
    seen = set[Hypothesis]()
    stack = [Hypothesis(start.position, (), start.flight)]
    while stack:
        now = stack.pop()
        if now in seen or not now.flight:
            continue
        if now.position is UNKNOWN:
            # the outputs of an Accept may tell a state in which it answers slowly
            return True
        seen.add(now)
        for step in moves.of(now):
            if step.in_flight and step.move and step.move.within and step.move.within[1] > busy:
                return True
            stack.append(Hypothesis(step.then.position, (), step.then.flight))
    return False
