"""Windows: what time allows and demands in a hypothesis.

otf knows the moment at which a timer started only as an interval. Each spontaneous transition with a window has its own
timer, started when its state is entered. Transitions start and stop named timers, which otherwise run on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from otf.core.hypothesis import PLAIN, Hypothesis, Outstanding, QueuedInput, Queues, Timer, move_on
from otf.core.model import Model
from otf.core.nodes import Midway, Move, Node, OpenAccept, Unknown
from otf.core.timing import FOREVER, Clock, Span, Window, is_later
from otf.trace.events import Stalled

ANY: Final = Span(-FOREVER, FOREVER)
SPONTANEOUS: Final = PLAIN._replace(spontaneous=True)
FAR: Final = 1e9  # seconds: as good as infinite where widths are compared


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of a model, at the time of a clock."""

    model: Model
    clock: Clock

    def missed(self, now: Hypothesis) -> bool:
        """Return whether an outstanding output must have been seen by now."""
        return any(each.window and self.clock.over(each.window) for _, outputs in now.outstanding for each in outputs)

    def moved_on(self, now: Hypothesis) -> bool:
        """Return whether the system must have made a spontaneous move by now."""
        return isinstance(now.position, Node) and any(self.clock.over(each.window) for each in now.timers)

    def waiting(self, now: Hypothesis) -> Hypothesis:
        """Return the hypothesis of a system whose timers have had no effect so far: they were set recently."""
        # a silent move may have happened long ago, and is followed only when an event requires it
        if not now.timers or not isinstance(now.position, Node) or self._silent(now, now.position):
            return now
        running, sent = self.clock.running, self._sent(now)
        return now._replace(
            timers=tuple(
                _on(each, running(each.window, FOREVER if isinstance(each.name, int) else sent)) for each in now.timers
            )
        )

    def _sent(self, now: Hypothesis) -> float:
        """Return when an input in flight may first have left this state, and with it the effect of its named timers."""
        clock = self.clock
        known = len(clock.inputs)
        numbers = (flight[0].number for _, flight in now.flight)
        return min((clock.inputs[each - 1].a if each <= known else clock.now for each in numbers), default=FOREVER)

    def due(self, window: Window) -> bool:
        """Return whether an output due in the window may be seen now."""
        return self.clock.begun(window) and not self.clock.over(window)

    def open(self, now: Hypothesis, window: Window) -> bool:
        """Return whether a timer may have expired by now."""
        # an input in flight is taken by a known time, so outputs due only later do not come before it
        begin = window.trigger.a + window.lo
        overtaken = any(is_later(begin, self.clock.taken(each.number).b) for _, flight in now.flight for each in flight)
        # nor can a timer expire in a state that must have been left earlier because of another timer
        forestalled = not self.clock.early and is_later(begin, _last(now))
        return self.clock.begun(window) and not overtaken and not forestalled

    def in_time(self, now: Hypothesis, in_flight: QueuedInput) -> bool:
        """Return whether an input may have been taken in this state: sent before the state must have been left."""
        return self.clock.late or not is_later(self.clock.inputs[in_flight.number - 1].a, _last(now))

    def after_input(self, after: Hypothesis, move: Move, number: int, loose: int) -> Hypothesis:
        """Return the hypothesis after a move took an input."""
        # the time of the input matters only if the outputs of an Accept may lead to a state with timers
        origin = number if move.opening and not self.model.alone else 0
        if not after.timers and not self._timed(move):
            return move_on(after, move, _answer(loose, None, origin))
        window = self.clock.opened(Window(self.clock.taken(number), *move.within)) if move.within else None
        kind = _answer(loose, window, origin)
        span = self.clock.entered(number, window.hi if window else 0.0)
        # while busy with the input, a system does not react to an expired timer
        until = self.clock.opened(Window(span, 0.0, 0.0)).trigger.b
        running = [_busy(each, until) for each in after.timers if isinstance(each.name, str)]
        return self._set(after, move_on(after, move, kind), move, span, running)

    def spontaneous(self, now: Hypothesis, move: Move, timer: Timer | None, *, spontaneous: bool = True) -> Hypothesis:
        """Return the hypothesis after a spontaneous move, caused by `timer` if given."""
        if not now.timers and not self._timed(move):
            return move_on(now, move, SPONTANEOUS if spontaneous else PLAIN)
        window = timer and _until(timer.window, _last(now))
        began = max((each.window.trigger.a for each in now.timers), default=-FOREVER)
        span = self.clock.emitted(window) if window else Span(min(began, self.clock.now), self.clock.now)
        if timer and timer.window.trigger.b > span.b:
            # an input may have restarted or delayed this timer, and may have come after this move: see `commuting`
            span = Span(span.a, timer.window.trigger.b)
        if isinstance(now.position, Node) and not move.silent:
            span = self.clock.unseen(span)
        if not spontaneous:
            # in the middle of a transition, and busy with it
            span = Span(span.a, self.clock.now + self.clock.busy)
        running = [each for each in now.timers if isinstance(each.name, str) and each is not timer]
        kind = PLAIN._replace(spontaneous=spontaneous, window=window, entered=span if move.opening else None)
        return self._set(now, move_on(now, move, kind), move, span, running, timer)

    def expired(self, now: Hypothesis, timer: Timer) -> Hypothesis:
        """Return the hypothesis after a timer expired without effect, in a state that has no transition for it."""
        self.clock.used = True
        return now._replace(timers=tuple(each for each in now.timers if each is not timer))

    def accepted(self, then: Hypothesis, opening: OpenAccept, outstanding: Outstanding) -> Hypothesis:
        """Return the hypothesis after the last output of an `Accept` was seen, which decides the state."""
        if not then.timers and not (isinstance(then.position, Node) and self.model.windows(then.position)):
            return then
        self.clock.used = True
        span = outstanding.entered or Span(-FOREVER, self.clock.now)
        if outstanding.number:
            span = self.clock.entered(outstanding.number, _lasting(outstanding))
        if outstanding.window and outstanding.number and self.clock.stalls:
            # a stall may have delayed the answer but not the input
            span = Span(span.a, max(span.b, outstanding.window.trigger.b + outstanding.window.hi))
        span = self.clock.seen(span, _lasting(outstanding))
        running = [each for each in then.timers if isinstance(each.name, str)]
        on, fresh = self._own(then._replace(position=opening.origin), then, span, None)
        return then._replace(timers=tuple(sorted((*on, *fresh, *running), key=_order)))

    def seen(self, now: Hypothesis, head: Outstanding) -> tuple[Timer, ...]:
        """Return the timers once the last outputs were seen of the move that started those with its stamp."""
        busy = _lasting(head)
        return tuple(
            _on(each, self.clock.narrowed(each.window, busy)) if each.stamp == head.stamp else each
            for each in now.timers
        )

    def _timed(self, move: Move) -> bool:
        if move.within is not None or move.starts:
            return True
        return isinstance(move.position, Node) and bool(self.model.windows(move.position))

    def _silent(self, now: Hypothesis, node: Node) -> bool:
        ignored = any(isinstance(each.name, str) and each.name not in node.expiring for each in now.timers)
        return ignored or any(move.silent for move in self.model.spontaneous(node))

    def _set(  # noqa: PLR0913, PLR0917 -- what a move changes
        self,
        before: Hypothesis,
        then: Hypothesis,
        move: Move,
        span: Span,
        running: list[Timer],
        fired: Timer | None = None,
    ) -> Hypothesis:
        """Return the hypothesis with its timers after a move that happened within `span`."""
        self.clock.used = True
        opened = self.clock.opened
        started = {each.name: Timer(each.name, opened(Window(span, each.lo, each.hi))) for each in move.starts}
        kept = [each for each in running if each.name not in started and each.name not in move.stops]
        own, fresh = self._own(before, then, span, fired)
        fresh += started.values()
        stamp = _unused((*own, *kept), then) if fresh else 0
        timers = (*own, *kept, *(each._replace(stamp=stamp) for each in fresh))
        return _numbered(tuple(sorted(timers, key=_order)), then._replace(outstanding=_stamped(then, move, stamp)))

    def _own(
        self, before: Hypothesis, then: Hypothesis, span: Span, fired: Timer | None
    ) -> tuple[list[Timer], list[Timer]]:
        """Return the timers of a state's transitions: those that may keep running, and those that start now."""
        if isinstance(then.position, (Unknown, Midway)):
            # the system may return to the state it was in
            return [each for each in before.timers if isinstance(each.name, int) and each is not fired], []
        windows = self.model.windows(then.position) if isinstance(then.position, Node) else ()
        fresh = [Timer(at, self.clock.opened(Window(span, lo, hi))) for at, lo, hi in windows]
        origin = before.position.origin if isinstance(before.position, Midway) else before.position
        if then.position != origin:
            return [], fresh
        # if the state is not left, the model does not say whether its timers restart or run on: both are allowed
        known = {each.name: each for each in before.timers if each is not fired}
        on = [_either(known[each.name], each.window.trigger) for each in fresh if each.name in known]
        return on, [each for each in fresh if each.name not in known]


def opened(now: Hypothesis, stall: Stalled, latency: float) -> Hypothesis:
    """Return the hypothesis after a stall that may have delayed what was due at that time."""
    if not now.timed:
        return now
    return with_windows(now, lambda window: window.opened(stall, latency))


def windows(now: Hypothesis) -> Iterator[Window]:
    """Yield the windows of a hypothesis."""
    yield from (each.window for each in now.timers)
    yield from (each.window for _, outputs in now.outstanding for each in outputs if each.window)


def widest(found: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Drop the hypotheses that differ from another only by narrower start intervals of their timers.

    The wider one explains every later event that the narrower one explains.
    """
    alike: dict[Hypothesis, list[tuple[Timer, ...]]] = {}
    for each in found:
        bare = tuple(_on(timer, timer.window._replace(trigger=ANY)) for timer in each.timers)
        alike.setdefault(each._replace(timers=bare), []).append(each.timers)
    return [each._replace(timers=timers) for each, known in alike.items() for timers in _outermost(known)]


def with_windows(now: Hypothesis, change: Callable[[Window], Window]) -> Hypothesis:
    """Apply `change` to all windows of a hypothesis."""
    outstanding = each_output(now.outstanding, lambda each: each._replace(window=each.window and change(each.window)))
    return now._replace(outstanding=outstanding, timers=tuple(_on(each, change(each.window)) for each in now.timers))


def each_output(queues: Queues[Outstanding], change: Callable[[Outstanding], Outstanding]) -> Queues[Outstanding]:
    """Apply `change` to all outputs in the queues."""
    return tuple((port, tuple(map(change, outputs))) for port, outputs in queues)


def _outermost(known: list[tuple[Timer, ...]]) -> Iterator[tuple[Timer, ...]]:
    kept: list[tuple[Timer, ...]] = []
    for timers in sorted(dict.fromkeys(known), key=_width, reverse=True):
        if not any(all(map(_covers, each, timers)) for each in kept):
            kept.append(timers)
            yield timers


def _width(timers: tuple[Timer, ...]) -> float:
    return sum(each.window.trigger.b - max(each.window.trigger.a, -FAR) for each in timers)


def _covers(one: Timer, other: Timer) -> bool:
    return one.window.trigger.a <= other.window.trigger.a and other.window.trigger.b <= one.window.trigger.b


def _on(timer: Timer, window: Window) -> Timer:
    return timer if window is timer.window else Timer(timer.name, window, timer.stamp)


def _either(timer: Timer, span: Span) -> Timer:
    """Return a timer that may have been restarted."""
    begun = timer.window.trigger
    return Timer(timer.name, timer.window._replace(trigger=Span(begun.a, max(begun.b, span.b))))


def _busy(timer: Timer, until: float) -> Timer:
    """Return a timer of a system that may be busy until then: its outputs may come later than its window."""
    begun, last = timer.window.trigger, until - timer.window.hi
    return timer if last <= begun.b else Timer(timer.name, timer.window._replace(trigger=Span(begun.a, last)))


def _until(window: Window, last: float) -> Window:
    """Return the window of outputs that were emitted by the time `last`."""
    a, b = window.trigger
    if window.hi == FOREVER:
        # it ends now, as if it had been started at the last possible moment
        return window if last == FOREVER else Window(Span(a, max(a, last - window.lo)), window.lo, window.lo)
    b = min(b, last - window.hi)
    return Window(Span(a, b), window.lo, window.hi) if a <= b else Window(Span(a, a), window.lo, last - a)


def _last(now: Hypothesis) -> float:
    """Return the time by which a spontaneous move is due."""
    expiring = now.position.expiring if isinstance(now.position, Node) else frozenset[str]()
    ends = (
        each.window.trigger.b + each.window.hi
        for each in now.timers
        if isinstance(each.name, int) or each.name in expiring
    )
    return min(ends, default=FOREVER)


def _answer(loose: int, window: Window | None, number: int) -> Outstanding:
    return PLAIN._replace(loose=loose, window=window, number=number) if loose or window or number else PLAIN


def _lasting(outstanding: Outstanding) -> float:
    """Return how many seconds the system may be busy with an answer; 0 if the model does not say."""
    return outstanding.window.hi if outstanding.window and not outstanding.spontaneous else 0.0


def _order(timer: Timer) -> tuple[bool, str | int]:
    return isinstance(timer.name, str), timer.name


def _unused(timers: Iterable[Timer], then: Hypothesis) -> int:
    used = {each.stamp for each in timers}.union(each.stamp for _, outputs in then.outstanding for each in outputs)
    return next(stamp for stamp in range(1, len(used) + 2) if stamp not in used)


def _numbered(timers: tuple[Timer, ...], then: Hypothesis) -> Hypothesis:
    """Return a hypothesis with these timers, its used stamps renumbered in order.

    Otherwise, each restart of a heartbeat would give its outputs new stamps, and equal explanations would differ.
    """
    used = {each.stamp for _, outputs in then.outstanding for each in outputs}
    numbers = {0: 0}
    for each in timers:
        if each.stamp in used:
            numbers.setdefault(each.stamp, len(numbers))
    stamped = tuple([each._replace(stamp=numbers.get(each.stamp, 0)) for each in timers])
    if all(numbers.get(stamp) == stamp for stamp in used):
        return then._replace(timers=stamped)
    outstanding = each_output(
        then.outstanding, lambda each: each._replace(stamp=numbers.get(each.stamp, 0)) if each.stamp else each
    )
    return then._replace(timers=stamped, outstanding=outstanding)


def _stamped(then: Hypothesis, move: Move, stamp: int) -> Queues[Outstanding]:
    """Return the outstanding outputs; those of the move itself are stamped, since they narrow its timers once seen."""
    if not stamp:
        return then.outstanding
    return tuple(
        (port, (*outputs[:-1], outputs[-1]._replace(stamp=stamp)) if port in move.ports else outputs)
        for port, outputs in then.outstanding
    )
