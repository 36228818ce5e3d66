"""Deadlines: by when an output must be seen, whether an answer may still come, and a text of what was due when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from otf.core.belief import Belief, silent
from otf.core.expectations import Chain
from otf.core.hypothesis import Hypothesis, Outstanding, Timer, queue
from otf.core.memory import Symbol
from otf.core.model import Model
from otf.core.moves import Moves
from otf.core.nodes import UNKNOWN, Move, Node
from otf.core.timing import FOREVER, NEVER, Clock, Span, Untimely, Window, deadline
from otf.core.windows import Windows
from otf.trace.clock import TAKEN
from otf.trace.events import Closed, Event, Seen, Undecodable
from otf.trace.verdict import ABSENT, FailureKind


def due(belief: Belief, latency: float) -> float | None:
    """Return the time by which every explanation must have shown an output; None if one allows silence."""
    dues = [_due(each, latency) for each in belief.hypotheses]
    return None if FOREVER in dues else max(dues, default=None)


def pending(belief: Belief, latency: float) -> float | None:
    """Return the time by which all answers due in windows must have been seen; None if there are none."""
    dues = (deadline(window, latency) for each in belief.hypotheses for window in _answers(each))
    return max((by for by in dues if by < FOREVER), default=None)


def timers(belief: Belief, latency: float) -> dict[str | int | None, float]:
    """Return the running timers that have an effect, each with the time by which its output must have been seen."""
    found: dict[str | int | None, float] = {}
    for each in belief.hypotheses:
        for timer in _effective(each):
            found[timer.name] = max(found.get(timer.name, 0.0), deadline(timer.window, latency))
    return found


def starts(belief: Belief) -> dict[str | int | None, Span]:
    """Return the running timers that have an effect, each with the interval in which it was started."""
    found: dict[str | int | None, Span] = {}
    for each in belief.hypotheses:
        for timer in _effective(each):
            (a, b), known = timer.window.trigger, found.get(timer.name, timer.window.trigger)
            found[timer.name] = Span(min(a, known.a), max(b, known.b))
    return found


def is_overdue(model: Model, now: Hypothesis, port: str, output: Symbol, clock: Clock) -> bool:
    """Return whether an output must have been seen earlier on its port."""
    for each in queue(now.outstanding, port)[:1]:
        if each.window and clock.over(each.window):
            return expects(each, output)
    late = (each for each in _effective(now) if clock.over(each.window))
    return any(isinstance(now.position, Node) and may_cause(model, now.position, each, port, output) for each in late)


def expects(outstanding: Outstanding, output: Symbol) -> bool:
    """Return whether an output may be the next one of `outstanding`."""
    what = outstanding.what
    return not isinstance(what, Chain) or bool(what.bag.without(outstanding.left, output))


def may_cause(model: Model, node: Node, timer: Timer, port: str, output: Symbol) -> bool:
    """Return whether a timer may cause an output on a port."""
    moves = enumerate(model.spontaneous(node))
    return any(timer.name == (move.after or at) and _emits(move, port, output) for at, move in moves)


def _emits(move: Move, port: str, output: Symbol) -> bool:
    if move.opening is not None and port in move.opening.ports:
        return True
    return any(name == port and chain.bag.without(chain.bag.all, output) for name, chain in move.emitted)


def answered(model: Model, belief: Belief) -> bool:
    """Return whether no explanation has an answer outstanding or possible, once all inputs in flight are taken.

    Spontaneous outputs may be outstanding and may come at any time; nothing requires them to stop. But if a timer runs
    whose expiry shows no output, otf tests it at every age, so each step takes as long as a silence.
    """
    if model.alone:
        return silent(model, belief)
    if belief.answered is None:
        belief.answered = not any(
            _ages(model, each) or next(_answering(Moves(model), each), None) is not None for each in belief.hypotheses
        )
    return belief.answered


def may_answer(model: Model, belief: Belief, port: str) -> bool:
    """Return whether an output on a port may be the answer to an input, not just a spontaneous one."""
    return model.alone or any(
        not isinstance(each.position, Node) or port in _answering(Moves(model), each) for each in belief.hypotheses
    )


def slow(model: Model, hypotheses: Iterable[Hypothesis], busy: float) -> bool:
    """Return whether the system may be busy for longer than R with an input in flight, or half answered.

    It may if it answers within a longer window.
    """
    return any(
        any(window.hi > busy for window in _answers(each)) or _slow(Moves(model), each, busy) for each in hypotheses
    )


def _due(now: Hypothesis, latency: float) -> float:
    windows = [*_windows(now), *(each.window for each in _effective(now))]
    return min((deadline(window, latency) for window in windows), default=FOREVER)


def _effective(now: Hypothesis) -> Iterable[Timer]:
    # a named timer without effect in this state would show no output
    node = now.position
    if not isinstance(node, Node):
        return ()
    return [each for each in now.timers if isinstance(each.name, int) or each.name in node.expiring]


def _windows(now: Hypothesis) -> Iterable[Window]:
    return (each.window for _, outputs in now.outstanding for each in outputs if each.window)


def _answers(now: Hypothesis) -> Iterable[Window]:
    return (each.window for _, outputs in now.outstanding for each in outputs if each.window and not each.spontaneous)


def _answering(moves: Moves, start: Hypothesis) -> Iterator[str]:
    """Yield the ports on which answers are outstanding, or may come to the inputs in flight."""
    yield from (port for port, outputs in start.outstanding if not all(each.spontaneous for each in outputs))
    for now in _taking(moves, start):
        yield from _ports(moves, now)


def _ages(model: Model, now: Hypothesis) -> bool:
    """Return whether a timer runs whose expiry changes the state without an output."""
    node = now.position
    return isinstance(node, Node) and any(
        not move.ports and (move.within is not None or move.after) for move in model.spontaneous(node)
    )


def _ports(moves: Moves, now: Hypothesis) -> set[str]:
    """Return the ports on which the next input in flight may be answered: all of them if the state is unknown."""
    if not isinstance(now.position, Node):
        return set(moves.model.routes.outputs)
    return {port for move in _next(moves, now) for port in move.ports}


def _next(moves: Moves, now: Hypothesis) -> list[Move]:
    """Return the moves on the next input in flight, on each port."""
    if not isinstance(now.position, Node):
        return []
    heads = (in_flight[0].symbol for _, in_flight in now.flight)
    return [move for inp in heads for move in moves.model.moves(now.position, inp)]


def _taking(moves: Moves, start: Hypothesis) -> Iterator[Hypothesis]:
    """Yield the hypotheses in which inputs in flight are taken; a few spontaneous moves may precede each input."""
    seen = set[Hypothesis]()
    stack = [(Hypothesis(start.position, (), start.flight), 0)]
    while stack:
        now, ahead = stack.pop()
        if now in seen or not (now.flight or not isinstance(now.position, Node)):
            continue
        seen.add(now)
        yield now
        for step in moves.of(now):
            then = Hypothesis(step.then.position, (), step.then.flight)
            if step.in_flight is not None:
                stack.append((then, 0))
            elif ahead < moves.limits.spontaneous:
                stack.append((then, ahead + 1))


def _slow(moves: Moves, start: Hypothesis, busy: float) -> bool:
    for now in _taking(moves, start):
        # the outputs of an Accept may lead to a state in which the system answers slowly
        unknown = now.position is UNKNOWN and now.flight
        if unknown or any(move.within and move.within[1] > busy for move in _next(moves, now)):
            return True
    return False


ENTERED: Final = "the state was entered"
LOOKED_AT = 1_000  # explanations searched for windows


class Due(NamedTuple):
    """Outputs due in a window on a port ("" for any), what the window starts from, and its timer's name, if any."""

    port: str
    window: Window
    since: str
    timer: str = ""


def times(model: Model, belief: Belief, event: Event, clock: Clock, kind: FailureKind | None) -> Untimely:
    """Return what was due when, in seconds since the start of the run; no words if no window concerns the event.

    For an output, returns what was due before it, or the windows in which it was due itself.
    """
    at, late = event.at, event.at - clock.latency
    overdue = [due for due in dues(model, belief.hypotheses, clock) if _end(due) < late]
    if not isinstance(event, (Seen, Closed)):
        return _overdue(overdue, max(overdue, key=_end), f"nothing had come at {at:.3f} s", late) if overdue else NEVER
    if kind in {None, "missing"} and overdue:
        # the output is wrong because another one was due before it
        return _overdue(overdue, min(overdue, key=_end), f"at {at:.3f} s {ABSENT}", late)
    if kind == "missing":
        return _unanswered(clock, at)
    output = event.output
    if isinstance(output, Undecodable):
        return NEVER
    found = list(dues(model, belief.hypotheses, clock, (event.port, model.output_symbol(output))))
    # in a state with several timers, an output is early for one that has not begun, and late for one that is over
    if kind in {"early", "late"}:
        found = [due for due in found if (at < _begin(due) if kind == "early" else at > _end(due))]
    if not found:
        # in time itself, but another one was due before it, and would have been ahead of it
        ended = [due for due in dues(model, belief.hypotheses, clock) if kind == "late" and _end(due) < at]
        return _overdue(ended, min(ended, key=_end), f"at {at:.3f} s {ABSENT}", late) if ended else NEVER
    due = min(found, key=_begin) if kind == "early" else max(found, key=_end)
    early, over = _begin(due) - at, at - _end(due)
    said = f"{early:.3f} s too early" if early > 0 else f"{over:.3f} s too late" if over > 0 else "in that time"
    words = _window(due), f"it came at {at:.3f} s, {said}"
    return Untimely(words, max(early, over - clock.latency), entered=_entered(due))


def _overdue(every: Iterable[Due], told: Due, what: str, late: float) -> Untimely:
    return Untimely((_window(told), what), late - max(map(_end, every)), told.timer, _entered(told))


def _unanswered(clock: Clock, at: float) -> Untimely:
    """Return by when the inputs in flight must have been answered: the system works on the last, the answer travels."""
    sent, due = clock.inputs[0].a, clock.inputs[-1].b + clock.busy + clock.latency
    words = f"due after the input was sent: between {sent:.3f} s and {due:.3f} s of the run"
    return Untimely((words, f"at {at:.3f} s {ABSENT}"), at - due)


def _entered(due: Due) -> Span | None:
    return due.window.trigger if due.since == ENTERED else None


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

    `about` is a port and an output; with it, yields only where that output is due.
    """
    # nothing counts as late here; otherwise overdue outputs would not be found
    patient = Clock(clock.now, clock.latency, clock.busy, clock.inputs, late=True)
    moves = Moves(model, windows=Windows(model, patient))
    for now in islice(moves.takings(hypotheses), LOOKED_AT):
        yield from (
            Due(port, each.window, ENTERED if each.spontaneous else TAKEN)
            for port, outputs in now.outstanding
            for each in outputs
            if each.window and (about is None or (port == about[0] and expects(each, about[1])))
        )
        yield from (
            Due("", each.window, _started(each), each.name if isinstance(each.name, str) else "")
            for each in now.timers
            if isinstance(now.position, Node) and (about is None or may_cause(model, now.position, each, *about))
        )


def named_timers(belief: Belief, earlier: Belief | None) -> dict[Node, tuple[str, ...]]:
    """Return, for each possible state, its named timers in words: those that run, and those that have just ended."""
    before = {each.name: each for each in _named(earlier.hypotheses if earlier is not None else ())}
    found: dict[Node, tuple[str, ...]] = {}
    for now in belief.hypotheses:
        if isinstance(now.position, Node):
            running = {each.name: f"{_of(each)} runs" for each in _named([now])}
            ended = [f"{_of(each)} has ended" for name, each in before.items() if name not in running]
            found[now.position] = tuple(dict.fromkeys((*found.get(now.position, ()), *running.values(), *ended)))
    return found


def _named(hypotheses: Iterable[Hypothesis]) -> Iterator[Timer]:
    return (each for now in hypotheses for each in now.timers if isinstance(each.name, str))


def _of(timer: Timer) -> str:
    return f"{timer.name!r} ({timer.window.lo:g} to {timer.window.hi:g} s)"


def _started(timer: Timer) -> str:
    return f"the timer {timer.name!r} was started" if isinstance(timer.name, str) else ENTERED
