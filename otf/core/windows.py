"""Windows: what time allows, and what it demands, in a hypothesis.

A place is timed where something must come unasked within a window of the moment at which it was entered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from otf.core.clock import FOREVER, Clock, Span, Window
from otf.core.hypothesis import Flying, Hypothesis, Owed, moved
from otf.core.model import Model
from otf.core.places import Move, Place


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of a model, seen at the time of a clock."""

    model: Model
    clock: Clock

    def missed(self, now: Hypothesis) -> bool:
        """Tell whether something that is owed must have been seen by now."""
        return any(each.window and self.clock.over(each.window) for _, owing in now.owed for each in owing)

    def gone_on(self, now: Hypothesis) -> bool:
        """Tell whether the system must have left its place by now."""
        must = self._must(now)
        return must is not None and self.clock.over(must)

    def waiting(self, now: Hypothesis) -> Hypothesis:
        """Return the hypothesis of a system that has not left its place by now: its timer was set not long ago."""
        must = self._must(now)
        # what goes on silently may have done so long ago, and is followed only when it is asked for
        if must is None or any(move.silent for move in self._unasked(now)):
            return now
        return now._replace(since=self.clock.waiting(must.trigger, must.hi))

    def due(self, window: Window) -> bool:
        """Tell whether this is the time for what is due in the window to be seen."""
        return self.clock.begun(window) and not self.clock.over(window)

    def of(self, now: Hypothesis, move: Move) -> Window | None:
        """Return the window of an unasked move, None where it may be made at any time."""
        must = self._must(now)
        return Window(must.trigger, move.within[0], must.hi) if must is not None and move.within else None

    def open(self, now: Hypothesis, window: Window) -> bool:
        """Tell whether an unasked move may have been made by now."""
        # an input in flight is taken by its time: what is due only later does not come before it
        begin = window.trigger.a + window.lo
        overtaken = any(self.clock.taken(each.number).b < begin for _, flight in now.flight for each in flight)
        return self.clock.begun(window) and not overtaken

    def in_time(self, now: Hypothesis, flying: Flying) -> bool:
        """Tell whether an input may have been taken in this place: it was sent before the place must have been left."""
        must = self._must(now)
        return must is None or self.clock.late or self.clock.sent_by(flying.number, must.trigger.b + must.hi)

    def triggered(self, after: Hypothesis, move: Move, number: int) -> Hypothesis:
        """Return the hypothesis after an input was taken by a move."""
        if not self._timed(move):
            return moved(after, move)
        window = Window(self.clock.taken(number), *move.within) if move.within else None
        then, span = moved(after, move, window), self.clock.entered(number, window.hi if window else 0.0)
        return self._stayed(then, after, span) or self._entered(then, span, move)

    def unasked(self, now: Hypothesis, move: Move, window: Window | None) -> Hypothesis:
        """Return the hypothesis after an unasked move, in its window if it has one."""
        then = moved(now, move, window, unasked=True)
        if window is not None:
            return self._entered(then, self.clock.emitted(window), move)
        if not self._timed(move):
            return then
        since = now.since or Span(-FOREVER, self.clock.now)
        span = Span(since.a, self.clock.now)
        return self._stayed(then, now, span) or self._entered(then, span, move)

    def accepted(self, then: Hypothesis) -> Hypothesis:
        """Return the hypothesis after an `Accept` has led into its place."""
        return then if self._must_leave(then) is None else self._entered(then, Span(-FOREVER, self.clock.now))

    def seen(self, now: Hypothesis, head: Owed) -> Span | None:
        """Return when the place was entered, now that the last of these outputs is seen."""
        known = now.since is not None and head.entered == now.since
        hi = head.window.hi if head.window and not head.unasked else 0.0
        return self.clock.seen(now.since, hi) if known and now.since else now.since

    def _timed(self, move: Move) -> bool:
        return move.within is not None or (isinstance(move.target, Place) and self.model.must(move.target) is not None)

    def _stayed(self, then: Hypothesis, before: Hypothesis, span: Span) -> Hypothesis | None:
        """Return where a move leads that leaves the system in its timed state, None where it does not.

        Whether its timers run on or start anew there the model does not say: both are allowed.
        """
        if before.since is None or then.spot != before.spot:
            return None
        return then._replace(since=Span(before.since.a, max(before.since.b, span.b)))

    def _entered(self, then: Hypothesis, span: Span, move: Move | None = None) -> Hypothesis:
        self.clock.used = True
        if self._must_leave(then) is None:
            return then
        own = {port for port, _ in move.owes} if move is not None else set[str]()
        owed = tuple(
            (port, (*owing[:-1], owing[-1]._replace(entered=span)) if port in own else owing)
            for port, owing in then.owed
        )
        return then._replace(since=span, owed=owed)

    def _must_leave(self, now: Hypothesis) -> float | None:
        return self.model.must(now.spot) if isinstance(now.spot, Place) else None

    def _unasked(self, now: Hypothesis) -> tuple[Move, ...]:
        return self.model.unasked(now.spot) if isinstance(now.spot, Place) else ()

    def _must(self, now: Hypothesis) -> Window | None:
        """Return the window in which the system must leave the place, None where it may stay."""
        must = self._must_leave(now)
        return None if must is None or now.since is None else Window(now.since, 0.0, must)


def widest(found: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Return the hypotheses without those that differ from another only in knowing better when the place was entered.

    Whatever happens later that the better one explains, the other explains too.
    """
    spans: dict[Hypothesis, list[Span | None]] = {}
    for each in found:
        spans.setdefault(each._replace(since=None), []).append(each.since)
    return [each._replace(since=span) for each, known in spans.items() for span in _outermost(known)]


def _outermost(spans: list[Span | None]) -> Iterator[Span | None]:
    end = -FOREVER
    if None in spans:
        yield None
    for span in sorted({span for span in spans if span is not None}, key=lambda span: (span.a, -span.b)):
        if span.b > end:
            end = span.b
            yield span
