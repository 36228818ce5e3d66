"""The demands of a behaviour of a blueprint on its times, as difference constraints.

- An input that was sent at s arrives between s and s + L, after those before it on its port.
- One move after another. Taking an input takes up to R, or until the last output of an answer that has a window; its
  outputs are emitted meanwhile, or in their window, in their order on each port. A spontaneous move takes no time.
- An output is seen within L, in its order on each port.
- The system never idles while an arrived input is not taken, nor beyond the end of a window of its state: so a move
  begins when the last one ends, or no input is waiting and no window is over.
- Timers are set at some time while the system is busy with the input that leads to the state. On a transition back to
  the same state they are set again or run on; a timer that went off is set again in any case.
- Named timers are set at that time too, and run on until they expire, are stopped or set again; a timer that expires in
  a state without a branch for it has no effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from benchmarks.blueprints import Blueprint, Course, State
from benchmarks.differences import Differences
from benchmarks.evidence import Given, Rigour
from otf.trace.events import Seen, Sent

FOREVER: Final = float("inf")


class InFlight(NamedTuple):
    """An input in flight: its port, its number there from 0, and its event with the number of that."""

    port: str
    number: int
    cause: int
    event: Sent


class Option(NamedTuple):
    """A possible move: the input that is taken (None: spontaneous), and its course (None: unspecified).

    `expired`: the timer that causes it; without a course it has no effect.
    """

    input: InFlight | None
    course: Course | None
    expired: str = ""


class Since(NamedTuple):
    """A named timer: the moment when it was set, and its window."""

    moment: int
    within: tuple[float, float]


class Here(NamedTuple):
    """A point in a sequence of moves.

    `free`: the moment when the last move ended. `since`: the moments when the timers of the state were set, by their
    numbers; `named`: the running named timers. `taken` and `matched`: the number of inputs and outputs of each port.
    `cause`: the number of the last event that took part.
    """

    state: State
    free: int
    since: tuple[int, ...]
    taken: Mapping[str, int]
    matched: Mapping[str, int]
    cause: int = -1
    unseen: int = 0
    named: Mapping[str, Since] = MappingProxyType({})


@dataclass
class Demands:
    """The times of a behaviour that is to explain a run; each demand returns whether all demands can still be met."""

    blueprint: Blueprint
    given: Given
    latency: float
    busy: float
    rigour: Rigour
    times: Differences = field(default_factory=Differences)
    arrived: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])

    def _begun(self, here: Here, moment: int, option: Option) -> bool:
        """Demand that a move begins after its causes."""
        # a move after the end explains nothing
        if not (self._not_before(moment, here.free) and self._at_most(moment, 0, self.given.end)):
            return False
        if option.input is not None:
            return self._not_before(moment, self.arrived[option.input.port, option.input.number])
        if option.expired:
            since, window = here.named[option.expired]
            return self._not_before(moment, since, window[0])
        course = option.course
        return (
            course is None
            or course.within is None
            or self._not_before(moment, here.since[course.number], course.within[0])
        )

    def _in_order(self, here: Here, moment: int, option: Option, *, chained: bool) -> bool:
        """Demand that a move begins when the last one ends, or that there was nothing to do before."""
        if chained:
            return self._not_before(here.free, moment)
        waiting = [*self._waiting(here)]
        if option.input is not None:
            waiting.append(self.arrived[option.input.port, option.input.number])
        ends = ((since, hi) for since, (_, hi) in self._running(here) if hi < FOREVER)
        return all(self._not_before(each, moment) for each in waiting) and all(
            self._at_most(moment, since, hi) for since, hi in ends
        )

    def _bounds(self, moment: int, course: Course, lasts: Sequence[int]) -> list[tuple[int, float]]:
        """Return the times, as a moment and seconds after it, one of which bounds the work on an input."""
        hi = course.within[1] if course.within else FOREVER if self.rigour.patient else 0.0
        if hi <= self.busy or not lasts:
            return [(moment, self.busy)]
        if self.rigour.loose and course.within:
            return [(moment, hi)]
        return [(moment, self.busy), *((last, 0.0) for last in lasts)]

    def _events(self, here: Here, course: Course) -> Iterator[Seen | None]:
        """Yield the event of each output of a move, None if it was not seen."""
        for port, outputs in course.outputs:
            number, seen = here.matched.get(port, 0), self.given.seen.get(port, ())
            for place in range(number, number + len(outputs)):
                yield seen[place][1] if place < len(seen) else None

    def _emitted(self, here: Here, moment: int, free: int, course: Course, lasts: list[int]) -> bool:
        """Demand of each output that it was emitted in time and seen in time; note the last of each port."""
        lo, hi = course.within or (0.0, FOREVER)
        events = self._events(here, course)
        for _, outputs in course.outputs:
            last = moment
            for _ in outputs:
                out = self.times.unknown(self.times.solution[last])
                fine = self._not_before(out, last) and self._not_before(free, out) and self._not_before(out, moment, lo)
                if not (fine and self._at_most(out, moment, hi) and self._seen(out, next(events))):
                    return False
                last = out
            lasts.append(last)
        return True

    def _seen(self, out: int, event: Seen | None) -> bool:
        """Demand that an output was seen in time, or may still come."""
        if event is None:
            return self._after_end(out, self.latency)
        return self._between(0, out, event.at - self.latency, event.at)

    def _after_end(self, moment: int, seconds: float) -> bool:
        """Demand that the time `seconds` after a moment is after the end of the observation."""
        later = self.rigour.later if self.given.quiet else min(self.rigour.later, 0.0)
        return self.times.at_most(0, moment, seconds - self.given.end - later + self.rigour.slack)

    def _at_most(self, late: int, early: int, seconds: float) -> bool:
        return seconds == FOREVER or self.times.at_most(late, early, seconds + self.rigour.slack)

    def _not_before(self, late: int, early: int, seconds: float = 0.0) -> bool:
        return self.times.at_most(early, late, self.rigour.slack - seconds)

    def _between(self, begin: int, moment: int, lo: float, hi: float) -> bool:
        return self._not_before(moment, begin, lo) and self._at_most(moment, begin, hi)

    def _waiting(self, here: Here) -> Iterator[int]:
        for port, inputs in self.given.sent.items():
            number = here.taken.get(port, 0)
            if number < len(inputs):
                yield self.arrived[port, number]

    def _running(self, here: Here) -> Iterator[tuple[int, tuple[float, float]]]:
        for since, branch in zip(here.since, self.blueprint.branches(here.state, ""), strict=True):
            if branch.within:
                yield since, branch.within
        yield from here.named.values()

    def _windows(self, state: State) -> Iterator[tuple[float, float]]:
        yield from (branch.within for branch in self.blueprint.branches(state, "") if branch.within)
