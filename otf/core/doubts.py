"""What stalls leave in doubt: the windows that they widened, and the events judged within these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from otf.core.belief import Belief
from otf.core.deadlines import may_cause
from otf.core.hypothesis import Hypothesis, Timer
from otf.core.model import Model
from otf.core.nodes import Node, Position
from otf.core.timing import Window, is_later
from otf.core.windows import opened, windows
from otf.trace.events import Event, Seen, Sent, Stalled
from otf.trace.verdict import Judged


@dataclass(slots=True)
class Doubts:
    """Window ends that the stalls of a run moved to later, each with the end before the stall.

    `events` and `seconds` count what was judged while only a stall allowed several states, or excused a late output.
    `unheard` counts, per timer, how often an input stopped it when it was due and its output had not come. A timer that
    may expire without output never counts.
    """

    model: Model
    ends: dict[float, float] = field(default_factory=dict[float, float])
    events: int = 0
    seconds: float = 0.0
    unheard: Counter[str] = field(default_factory=Counter[str])
    # timers that are due, each with when it was started, at the earliest and, but for all stalls, at the latest
    _due: set[tuple[str, float, float]] = field(default_factory=set[tuple[str, float, float]])
    _flying: int = 0  # the inputs in flight then, unless a timer may have caused the last event
    _sent: float = 0.0  # when the last of them was sent

    def opened(self, belief: Belief, stall: Stalled, latency: float) -> Belief:
        """Return the belief after a stall: whatever was due may come later by the length of the stall."""
        if not belief.timed:
            return belief
        then = Belief(tuple(opened(each, stall, latency) for each in belief.hypotheses))
        for old, new in zip(_windows(belief), _windows(then), strict=True):
            if new.trigger.b > old.trigger.b:
                self.ends[new.trigger.b] = self.ends.get(old.trigger.b, old.trigger.b)
        return then

    def judged(self, events: int, seconds: float) -> Judged:
        """Return how much was judged, and how much of that while stalls left times in doubt."""
        return Judged(events, seconds, self.events, self.seconds, tuple(self.unheard.items()))

    def weigh(self, event: Event, since: float, belief: Belief, latency: float) -> None:
        """Count an event that, but for the stalls, might have left other states or none; the last was at `since`."""
        before = event.at - latency
        self._hear(event, belief, before)
        open_now = [each for each in _windows(belief) if each.trigger.b in self.ends]
        if not open_now:
            self.ends.clear()
            return
        overdue = any(self._is_due(each, before) for each in open_now)
        states = {(each.position, *(timer.name for timer in each.timers)) for each in belief.hypotheses}
        if overdue or len(states) > 1:
            self.events += not isinstance(event, Stalled)
            self.seconds += max(0.0, event.at - since)

    def _hear(self, event: Event, belief: Belief, before: float) -> None:
        """Count the timers that were due when the system took an input and restarted or stopped them."""
        timers = [(now, each) for now in belief.hypotheses for each in now.timers] if belief.timed else []
        if len(belief.in_flight) < self._flying:
            goes_on = {name for name, *since in self._due if any(self._is(each, name, *since) for _, each in timers)}
            self.unheard.update({name for name, *_ in self._due} - goes_on)
        heard = isinstance(event, Seen) and any(self._causes(*each, event) for each in timers)
        self._flying = 0 if heard else len(belief.in_flight) + isinstance(event, Sent)
        self._sent = event.at if isinstance(event, Sent) else self._sent
        self._due = {
            (each.name, each.window.trigger.a, self.ends[each.window.trigger.b])
            for now, each in timers
            if isinstance(each.name, str) and self._is_due(each.window, before) and self._speaks(now.position, each)
        }

    def _is(self, timer: Timer, name: str, begin: float, end: float) -> bool:
        """Return whether a timer is one that was started between these times, and not anew by the last input."""
        a, b = timer.window.trigger
        return timer.name == name and (self.ends.get(b) == end or is_later(self._sent, a) or not is_later(a, begin))

    def _causes(self, now: Hypothesis, timer: Timer, seen: Seen) -> bool:
        output, node = self.model.output_symbol(seen.output), now.position
        return isinstance(node, Node) and may_cause(self.model, node, timer, seen.port, output)

    def _speaks(self, position: Position, timer: Timer) -> bool:
        """Return whether outputs come when the timer expires, whatever the system chooses then."""
        moves = self.model.spontaneous(position) if isinstance(position, Node) else ()
        found = [move for move in moves if move.after == timer.name]
        return bool(found) and not any(move.silent for move in found)

    def _is_due(self, window: Window, before: float) -> bool:
        """Return whether the window would be over by now but for a stall."""
        return window.trigger.b in self.ends and is_later(before, self.ends[window.trigger.b] + window.hi)


def _windows(belief: Belief) -> Iterator[Window]:
    return (window for each in belief.hypotheses for window in windows(each)) if belief.timed else iter(())
