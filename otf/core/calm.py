"""Whether a conforming system is silent now, whatever explanation is the true one."""

from __future__ import annotations

from otf.core.belief import Belief
from otf.core.hypothesis import Hypothesis, moved, taken
from otf.core.model import Model
from otf.core.monitor import Monitor
from otf.core.offer import reachable
from otf.core.places import Place
from otf.core.queues import queue
from otf.core.symbols import Symbol


def calm(monitor: Monitor) -> bool:
    """Tell whether in every explanation, all inputs in flight taken, nothing is owed and nothing can come unasked."""
    return silent(monitor.oracle.model, monitor.belief)


def silent(model: Model, belief: Belief) -> bool:
    """Tell the same of a belief."""
    if belief.calm is None:
        belief.calm = all(_calm(model, each) for each in belief.hypotheses)
    return belief.calm


def slow(monitor: Monitor, inp: Symbol | None = None) -> bool:
    """Tell whether the system may be busy for longer than R with an input in flight or half answered, or with `inp`.

    So it is where it answers in a window that is longer.
    """
    oracle = monitor.oracle
    if not oracle.model.timed:
        return False
    if any(_lasting(each, oracle.timing.busy) for each in monitor.belief.hypotheses):
        return True
    ends = reachable(oracle.model, oracle.limits, monitor.belief.hypotheses)
    return any(_slow(oracle.model, end, inp, oracle.timing.busy) for end in ends)


def _calm(model: Model, start: Hypothesis) -> bool:
    """Tell whether this explanation is of a silent system: no way of taking what is in flight brings an output."""
    seen = {start}
    stack = [start]
    while stack:
        now = stack.pop()
        if now.owed or now.beyond or not isinstance(now.spot, Place) or model.unasked(now.spot):
            return False
        for port, _ in now.flight:
            moves = model.moves(now.spot, queue(now.flight, port)[0].symbol)
            if not moves:
                # what the model leaves open may bring anything
                return False
            fresh = {moved(taken(now, port), move) for move in moves} - seen
            seen |= fresh
            stack.extend(fresh)
    return True


def _lasting(now: Hypothesis, busy: float) -> bool:
    return any(each.window is not None and each.window.hi > busy for _, owing in now.owed for each in owing)


def _slow(model: Model, now: Hypothesis, inp: Symbol | None, busy: float) -> bool:
    if not isinstance(now.spot, Place):
        return False
    inputs = [flying[0].symbol for _, flying in now.flight] + ([] if inp is None else [inp])
    moves = (move for each in inputs for move in model.moves(now.spot, each))
    return any(move.within is not None and move.within[1] > busy for move in moves)
