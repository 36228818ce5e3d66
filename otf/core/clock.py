"""Time in the search: when a move may have been made, and whether what it brings is still in time.

Times are known as intervals [a, b] only: an input that was sent at s was taken between s and s + L + nR, and what was
seen at u was emitted between u - L and u. Every comparison takes the end that can never blame a conforming system.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

FOREVER = float("inf")
ROUNDING = 1e-6  # seconds: far more than sums of times are off by, far less than anything measured


class Span(NamedTuple):
    """The interval, in seconds since the start of the run, in which something happened."""

    a: float
    b: float


class Window(NamedTuple):
    """When outputs are due: `lo` to `hi` seconds after a trigger that happened in `trigger`."""

    trigger: Span
    lo: float
    hi: float


@dataclass(slots=True)
class Clock:
    """The time of one event, as a search needs it.

    `inputs` has for each input in flight, by number from 1, when it was sent and by when it was dealt with. `late` and
    `early`: windows are not enforced at that end. `used` tells that a time mattered, so that what was found must not
    be remembered for other times.
    """

    now: float
    latency: float
    busy: float = 0.0
    inputs: tuple[Span, ...] = ()
    late: bool = False
    early: bool = False
    used: bool = False

    def taken(self, number: int) -> Span:
        """Return when the input of this number was taken, if it was taken by now."""
        sent, by = self.inputs[number - 1]
        return Span(sent, min(self.now, by))

    def entered(self, number: int, hi: float = 0.0) -> Span:
        """Return when a place was entered by taking an input, whose outputs come up to `hi` seconds after that.

        A timer is set at some time while the system is busy with the input, whatever was seen by now.
        """
        sent, by = self.inputs[number - 1]
        return Span(sent, min(self.now + max(self.busy, hi), by + hi))

    def sent_by(self, number: int, moment: float) -> bool:
        """Tell whether the input of this number was sent by then."""
        return self.inputs[number - 1].a <= moment

    def begun(self, window: Window) -> bool:
        """Tell whether what is due in the window may have been emitted by now."""
        self.used = True
        return self.early or self.now + ROUNDING >= window.trigger.a + window.lo

    def over(self, window: Window) -> bool:
        """Tell whether what was due in the window must have been seen by now."""
        self.used = True
        return not self.late and self.now > deadline(window, self.latency) + ROUNDING

    def seen(self, entered: Span, hi: float = 0.0) -> Span:
        """Return when a place was entered whose entering brought an output that is seen now.

        It was emitted in the last L; its timer was set up to R before that or after it. Where it answers within `hi`
        seconds, that is how long the system may be busy: other parts of the answer may come later, on other ports.
        """
        busy = max(self.busy, hi)
        return Span(max(entered.a, self.now - self.latency - busy), min(entered.b, self.now + busy))

    def running(self, window: Window) -> Window:
        """Return the window of a timer of which nothing is seen by now: it was set not long ago, or there would be."""
        a, b = window.trigger
        last = self.now - window.hi - self.latency - 2 * ROUNDING
        return window if self.late or a >= last else window._replace(trigger=Span(min(last, b), b))

    def emitted(self, window: Window) -> Span:
        """Return when what is due in the window was emitted, if it was emitted by now."""
        # where what is early is let pass, time does not bound the number of moves: so they must not differ by it
        begin = window.trigger.a + (0.0 if self.early else window.lo)
        return Span(begin, min(self.now, window.trigger.b + window.hi))


def deadline(window: Window, latency: float) -> float:
    """Return the time by which what is due in the window must have been seen."""
    return window.trigger.b + window.hi + latency
