"""Joins many hypotheses that differ only in times.

If the latency is longer than the period of a message, each message may have been emitted before or after each of the
last inputs, at many times. That can make thousands of explanations, and the tester would fall behind.
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
"""Up to this many hypotheses none is joined with another."""

DEEP: Final = 100
"""Outputs in flight. Beyond this, hypotheses differ in their number, and comparing them takes long."""

_UNDATED: Final = attrgetter("what", "left", "spontaneous", "stamp", "number", "entered")


def join_crowded(found: list[Hypothesis]) -> list[Hypothesis]:
    """Return the hypotheses; if there are too many, join those that differ only in times."""
    if len(found) <= CROWDED:
        return found
    alike: dict[Hashable, Hypothesis] = {}
    for each in found:
        name = _timeless(each)
        known = alike.get(name)
        alike[name] = each if known is None else _hull(known, each)
    return list(alike.values())


class Following(NamedTuple):
    """A hypothesis that the search still has to follow, its depth, and the ports that it may skip there."""

    now: Hypothesis
    depth: int = 0
    asleep: Asleep = AWAKE

    def joined(self, other: Following) -> Following:
        """Return both as one, which explains whatever either of them explains, and a little more.

        So otf may miss a fault, but never reports one that is not there.
        """
        return Following(_hull(self.now, other.now), min(self.depth, other.depth), self.asleep & other.asleep)


@dataclass(slots=True)
class Crowd:
    """What a search still has to follow, joined. It follows the least advanced first, so nearly all only once."""

    _left: dict[Hashable, Following] = field(default_factory=dict[Hashable, Following])
    _followed: dict[Hashable, Following] = field(default_factory=dict[Hashable, Following])
    _order: list[tuple[int, int, Hashable]] = field(default_factory=list[tuple[int, int, Hashable]])
    _pushed: int = 0

    def following(self, more: list[Following]) -> Iterator[Following]:
        """Yield the least advanced until nothing is left; others may add to `more` meanwhile."""
        while more or self._order:
            while more:
                self._push(more.pop())
            if self._order:
                name = heappop(self._order)[2]
                self._followed[name] = found = self._left.pop(name)
                yield found

    def _push(self, each: Following) -> None:
        """Add a hypothesis to follow, unless one that was followed before includes it."""
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
    """Return a hypothesis without its times and the inputs after which its outputs are due."""
    if sum(len(outputs) for _, outputs in now.outstanding) > DEEP:
        return now
    # written out, since this takes a tenth of the time
    outstanding = tuple(
        (port, tuple(map(_UNDATED, outputs)), tuple([each.window and each.window[1:] for each in outputs]))
        for port, outputs in now.outstanding
    )
    timers = tuple([(each.name, each.window[1:], each.stamp) for each in now.timers])
    return now.position, outstanding, now.flight, timers, now.held, now.got


def _progress(now: Hypothesis) -> int:
    """Return how far a hypothesis has advanced: each move takes an input or emits outputs."""
    emitted = sum(len(outputs) for _, outputs in now.outstanding)
    return emitted - sum(len(in_flight) for _, in_flight in now.flight)


def _hull(one: Hypothesis, other: Hypothesis) -> Hypothesis:
    """Join two hypotheses that differ only in their spans and in what they are due after."""
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
