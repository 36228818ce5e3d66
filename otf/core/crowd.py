"""Many hypotheses that differ in times alone, as one.

Where the latency is longer than the period of a message, each message may have been emitted before or after each of the
last inputs, and at many times: these are thousands of explanations, and the tester falls behind.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from operator import attrgetter
from typing import Final, NamedTuple

from otf.core.hypothesis import AWAKE, Asleep, Hypothesis, Outstanding, Timer
from otf.core.timing import Span, Window
from otf.core.windows import each_output

CROWDED: Final = 64
"""Hypotheses with times of which none is joined with another."""

DEEP: Final = 100
"""Outputs under way. With more of them, hypotheses differ in their number, and to compare them takes long."""

_UNDATED: Final = attrgetter("what", "left", "spontaneous", "stamp", "number", "entered")


def join_crowded(found: list[Hypothesis]) -> list[Hypothesis]:
    """Return the hypotheses; of too many, those that differ in times alone as one."""
    if len(found) <= CROWDED:
        return found
    alike: dict[Hashable, Hypothesis] = {}
    for each in found:
        name = _timeless(each)
        known = alike.get(name)
        alike[name] = each if known is None else _hull(known, each)
    return list(alike.values())


class Following(NamedTuple):
    """A hypothesis to be followed, how deep it lies, and the ports that need not be followed from it."""

    now: Hypothesis
    depth: int = 0
    asleep: Asleep = AWAKE

    def joined(self, other: Following) -> Following:
        """Return both as one. It explains whatever each of them explains, and a little more.

        So a fault may be missed, but none is reported that is none.
        """
        return Following(_hull(self.now, other.now), min(self.depth, other.depth), self.asleep & other.asleep)


@dataclass(slots=True)
class Crowd:
    """What is left to be followed in a search, joined; the least far comes first, so that nearly all come once."""

    _left: dict[Hashable, Following] = field(default_factory=dict[Hashable, Following])
    _followed: dict[Hashable, Following] = field(default_factory=dict[Hashable, Following])
    _order: list[tuple[int, int, Hashable]] = field(default_factory=list[tuple[int, int, Hashable]])
    _pushed: int = 0

    def following(self, more: list[Following]) -> Iterator[Following]:
        """Yield what has come least far until nothing is left; meanwhile others may add `more`."""
        while more or self._order:
            while more:
                self._push(more.pop())
            if self._order:
                name = heappop(self._order)[2]
                self._followed[name] = found = self._left.pop(name)
                yield found

    def _push(self, each: Following) -> None:
        """Add what is to be followed, unless it is included in what was followed before."""
        name = _timeless(each.now)
        followed = self._followed.get(name)
        if followed is not None:
            wide = followed.joined(each)
            if wide == followed:
                return
            each = wide
        left = self._left.get(name)
        self._left[name] = each if left is None else left.joined(each)
        if left is None:
            self._pushed += 1
            heappush(self._order, (_progress(each.now), self._pushed, name))


def _timeless(now: Hypothesis) -> Hashable:
    """Return what a hypothesis is without its times, and without what its outputs are due after."""
    if sum(len(outputs) for _, outputs in now.outstanding) > DEEP:
        return now
    # by hand this takes a tenth of the time
    outstanding = tuple(
        (port, tuple(map(_UNDATED, outputs)), tuple([each.window and each.window[1:] for each in outputs]))
        for port, outputs in now.outstanding
    )
    timers = tuple([(each.name, each.window[1:], each.stamp) for each in now.timers])
    return now.position, outstanding, now.flight, timers, now.held, now.got


def _progress(now: Hypothesis) -> int:
    """Return how far a hypothesis has come: each move takes an input or emits outputs."""
    emitted = sum(len(outputs) for _, outputs in now.outstanding)
    return emitted - sum(len(in_flight) for _, in_flight in now.flight)


def _hull(one: Hypothesis, other: Hypothesis) -> Hypothesis:
    """Return two hypotheses as one; they are the same but for their spans and for what they are due after."""
    outputs = iter([output for _, queue in other.outstanding for output in queue])
    outstanding = each_output(one.outstanding, lambda each: _later(each, next(outputs)))
    timers = tuple(
        Timer(each.name, _both(each.window, same.window), each.stamp)
        for each, same in zip(one.timers, other.timers, strict=True)
    )
    return one._replace(outstanding=outstanding, timers=timers)


def _later(one: Outstanding, other: Outstanding) -> Outstanding:
    window = one.window and other.window and _both(one.window, other.window)
    return one._replace(due=max(one.due, other.due), loose=max(one.loose, other.loose), window=window)


def _both(one: Window, other: Window) -> Window:
    (a, b), (c, d) = one.trigger, other.trigger
    return one._replace(trigger=Span(min(a, c), max(b, d)))
