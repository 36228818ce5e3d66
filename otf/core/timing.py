"""Time: the bounds of a bench, stated or learnt, and the intervals in which the search places moves.

Times are known only as intervals [a, b]. An input sent at s was taken between s and s + L + nR, where n counts those
that may have been taken before it; an output seen at u was emitted between u - L and u. Every comparison uses the end
that can never blame a conforming system.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final, NamedTuple

from otf.trace.events import Stalled

FIRST: Final = 0.1  # seconds of silence that count as quiescence before anything is learnt
ENOUGH: Final = 30  # replies needed before anything is learnt from them
KEPT: Final = 1000  # latest replies kept; the slowest hundredth of them sets the quiescence time
MANY: Final = 8  # the quiescence time, as a multiple of a slow reply


@dataclass(slots=True)
class Timing:
    """The times of a bench, in seconds.

    `quiescence` is how many seconds the system must be silent before otf takes silence for quiescence. `latency` is the
    longest time in seconds of a message through a port. `busy` is the longest time in seconds for which one input keeps
    the system busy. Formulas such as 2L + nR, and the option `--set`, call `latency` L and `busy` R. `speed` is how
    many seconds pass on the system's clocks in one real second. An `Elapse` counts seconds of the system's clocks; all
    other times are real seconds.

    >>> Timing(quiescence=0.5, latency=0.01).busy
    0.002
    """

    quiescence: float = 0.1
    latency: float = 0.002
    busy: float = 0.002
    speed: float = 1.0

    def round_trip(self, inputs: int) -> float:
        """Return the longest time until all outputs of n inputs have come: 2L + nR, with latency L and busy time R."""
        return 2 * self.latency + inputs * self.busy

    def learn(self, reply: float) -> None:
        """Adapt a learned quiescence time to a `reply`: the seconds from an input to its last output."""

    def slept(self, seconds: float) -> None:
        """Adapt a learned quiescence time to the seconds that an observed system slept before an answer."""


@dataclass(slots=True)
class Learnt(Timing):
    """Times whose quiescence time is learnt from the replies; the stated one is only the start.

    It is a multiple of the time within which 99 % of the replies come, and at least 2L + R. If the bounds hold, a
    window learnt too short costs a second look, never a verdict.

    In an observed system, only the part of a reply during which all its threads slept counts, and the longest of these.
    Otherwise a rest could not be told from an answer delayed by a busy machine or a slow disk.
    """

    asleep: float = 0.0
    replies: deque[float] = field(default_factory=lambda: deque[float](maxlen=KEPT))
    _heard: int = 0

    def learn(self, reply: float) -> None:
        """Learn from a reply; updates the quiescence time only every thirtieth time, since sorting is slow."""
        self.replies.append(reply)
        self._heard += 1
        if self._heard % ENOUGH == 0:
            self.quiescence: float = max(self.round_trip(1), MANY * self.quantile(0.99))

    def slept(self, seconds: float) -> None:
        """Learn for how long an answer may let the system sleep."""
        self.asleep = max(self.asleep, seconds)

    def rest(self, wanted: float, inputs: int) -> float:
        """Return how long a rest must last: by the longest sleep before an answer, but never longer than silence."""
        return min(wanted, max(FIRST, self.round_trip(inputs), MANY * self.asleep))

    def quantile(self, share: float) -> float:
        """Return the time within which this share of the replies came."""
        ordered = sorted(self.replies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


FOREVER: Final = float("inf")
ROUNDING: Final = 1e-6  # seconds: far above the rounding errors of sums, far below anything measured


def is_later(one: float, other: float) -> bool:
    """Return whether one moment is later than another by more than rounding; use this for all moments.

    Two sums of the same times in another order differ in their last digit, which must not blame anyone.
    """
    return one > other + ROUNDING


class Span(NamedTuple):
    """The interval, in seconds since the start of the run, in which something happened."""

    a: float
    b: float


class Window(NamedTuple):
    """When outputs are due: `lo` to `hi` seconds after a trigger that happened within `trigger`."""

    trigger: Span
    lo: float
    hi: float

    def opened(self, stall: Stalled, latency: float) -> Window:
        """Return the window, extended if a stall may have delayed its trigger or its outputs."""
        (a, b), begun = self.trigger, stall.begun
        triggering = not is_later(begun, b)
        ending = not is_later(a + self.lo, stall.at) and not is_later(begun, b + self.hi + latency)
        if not triggering and not ending:
            return self
        # the output that showed the trigger may have been due when the stall began, and the system keep its schedule
        due = max(begun, a - stall.seconds) if triggering and is_later(stall.at, a) else a
        return self._replace(trigger=Span(min(a, due), b + stall.seconds))


def behind(stalls: Iterable[Stalled], now: float, bound: float) -> float:
    """Return for how long stalls, the latest first, may have delayed what arrives now.

    What a stall held up arrives within `bound` seconds after it, not counting further lost time.
    """
    lost, free, begin = 0.0, 0.0, now
    for stall in stalls:
        end = min(stall.at, begin)
        free += begin - end
        if is_later(free, bound):
            break
        lost += max(0.0, end - stall.begun)
        begin = min(end, stall.begun)
    return lost


@dataclass(slots=True)
class Clock:
    """The time of one event, in the form that a search needs.

    `inputs` holds, for each input in flight from number 1, when it was sent and by when it was taken. With `late`
    or `early`, windows are not enforced at that end. `used`: a time mattered, so the result must not be cached for
    other times. `stalls` are those of the run, the latest first; `behind` is by how much they may have delayed what
    arrives now.
    """

    now: float
    latency: float
    busy: float = 0.0
    inputs: tuple[Span, ...] = ()
    late: bool = False
    early: bool = False
    behind: float = 0.0
    stalls: Iterable[Stalled] = ()
    used: bool = False

    def taken(self, number: int) -> Span:
        """Return when the input with this number was taken, if it was taken by now."""
        sent, by = self.inputs[number - 1]
        return Span(sent, min(self.now, by))

    def entered(self, number: int, hi: float = 0.0) -> Span:
        """Return when a state was entered by taking an input whose outputs come up to `hi` seconds later.

        The system sets a timer at some time while it is busy with the input, whatever has been seen by now.
        """
        sent, by = self.inputs[number - 1]
        return Span(sent, min(self.now, by) + max(self.busy, hi))

    def opened(self, window: Window) -> Window:
        """Return a window that began in the past, extended by the stalls since."""
        since = takewhile(lambda stall: not is_later(window.trigger.a, stall.at), self.stalls)
        for stall in reversed(list(since)):
            window = window.opened(stall, self.latency)
        return window

    def begun(self, window: Window) -> bool:
        """Return whether an output due in the window may have been emitted by now."""
        self.used = True
        return self.early or not is_later(window.trigger.a + window.lo, self.now)

    def over(self, window: Window) -> bool:
        """Return whether an output due in the window must have been seen by now."""
        self.used = True
        return not self.late and is_later(self.now, deadline(window, self.latency))

    def seen(self, entered: Span, hi: float = 0.0) -> Span:
        """Return when a state was entered, given an output, seen now, of the move into it.

        The output was emitted within the last L; the timer was set at most R before or after that. If the move answers
        within `hi` seconds, the system may be busy that long: other parts of the answer may come later on other ports.
        """
        busy = max(self.busy, hi)
        return Span(max(entered.a, self.now - self.latency - self.behind - busy), min(entered.b, self.now + busy))

    def narrowed(self, window: Window, hi: float = 0.0) -> Window:
        """Return the window of a timer, given an output of the move that set it; see `seen`.

        An output that was held back was seen before now, and stalls since then may have delayed the timer.
        """
        (a, b), then = self.seen(window.trigger, hi), window
        for stall in reversed(list(takewhile(lambda stall: is_later(stall.at, self.now), self.stalls))):
            then = then._replace(trigger=Span(a, b)).opened(stall, self.latency)
            b = min(window.trigger.b, then.trigger.b)
        return window._replace(trigger=Span(a, b))

    def running(self, window: Window, until: float) -> Window:
        """Return the window of a timer without effect so far, which would have shown one if it expired by `until`."""
        a, b = window.trigger
        last = min(until, self.now - self.latency - self.behind) - window.hi - 2 * ROUNDING
        return window if self.late or a >= last else window._replace(trigger=Span(min(last, b), b))

    def emitted(self, window: Window) -> Span:
        """Return when an output due in the window was emitted, if it was emitted by now."""
        # if early outputs are allowed, time does not bound the number of moves, so it must not make them differ
        begin = window.trigger.a + (0.0 if self.early else window.lo)
        return Span(begin, min(self.now, window.trigger.b + window.hi))

    def unseen(self, span: Span) -> Span:
        """Return the part of `span` in which the system may have emitted outputs that are still unseen.

        An output emitted long ago has arrived by now, so the part leaves out early times. Otherwise, a timer without an
        end (`hi` infinite) might have gone off a thousand times.
        """
        since = self.now - self.latency - self.behind - 2 * ROUNDING
        return span if self.early or self.late or since <= span.a else Span(min(since, span.b), span.b)


def deadline(window: Window, latency: float) -> float:
    """Return the time by which outputs due in the window must have been seen."""
    return window.trigger.b + window.hi + latency


class Untimely(NamedTuple):
    """What was due when, in words, by how many seconds an event misses all windows that concern it, and whose it was.

    `timer` is the name of the timer whose output did not come, if it has one. `entered` is when the state was
    entered, if the window begins there.
    """

    words: tuple[str, ...] = ()
    off: float = 0.0
    timer: str = ""
    entered: Span | None = None

    def dated(self, sent: Iterable[tuple[int, float]], busy: float) -> Untimely:
        """Return it with when the state was entered, and in which step; `sent`: the steps and when they began.

        A change of any field of the state begins the window anew, and people overlook the input that changed one.
        """
        if self.entered is None:
            return self
        a, b = max(0.0, self.entered.a), self.entered.b
        told = f"the state was entered between {a:.3f} s and {b:.3f} s of the run"
        before = [number for number, at in sent if at <= a]
        steps = [*before[-1:], *(number for number, at in sent if a < at < b - busy)]
        which = f"steps {steps[0]} to {steps[-1]}" if steps[1:] else f"step {before[-1]}" if before else ""
        return self._replace(words=(*self.words, f"{told}, in {which}" if before else told))


NEVER: Final = Untimely()
