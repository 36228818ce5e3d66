"""An exact judge of small runs, which asks whether any behaviour of the spec explains the events, with any delays.

It goes through every sequence of moves, and asks for each whether there are times for it within L and R: difference
constraints, by Bellman and Ford. It knows blueprints and nothing of the core. What a behaviour is:

- An input that was sent at s arrives between s and s + L, after those before it on its port.
- One move after another. Taking an input takes up to R, or until the last output of an answer that has a window; its
  outputs are emitted meanwhile, or in their window, in their order on each port. An unasked move takes no time.
- What was emitted is seen within L, in its order on each port.
- The system never idles while an input is there that it has not taken, nor beyond the end of a window of its state:
  so a move begins when the last one ends, or no input is waiting and no window is over.
- Timers are set at some time while the system is busy with the input that leads into the state. On a way back into the
  same state they are set anew or run on; one that went off is set anew in any case.
- Timers with names are set at that time too, and run on until they expire, are stopped or set anew; one that expires in
  a state which says nothing of it does so without effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from benchmarks.blueprints import Blueprint, Branch, Course, State
from benchmarks.differences import Differences
from benchmarks.evidence import BLURRED, EXACT, PATIENT, Given, Rigour, given
from otf.trace.events import Event, Quiet, Seen, Sent

Decision: TypeAlias = Literal["explained", "impossible", "slow", "borderline", "cut off"]
FOREVER: Final = float("inf")
NODES: Final = 20_000  # moves after which the search is cut off
UNSEEN: Final = 6  # unasked moves of which nothing is seen


class CutOffError(Exception):
    """There are more sequences of moves than are looked at."""


class InFlight(NamedTuple):
    """An input in flight: its port, its number there from 0, the number of its event, and that."""

    port: str
    number: int
    cause: int
    event: Sent


class Option(NamedTuple):
    """A move that may be made: the input that is taken (None: unasked), and what the spec says (None: nothing).

    `expired`: the timer that brings it; without a course it has no effect.
    """

    input: InFlight | None
    course: Course | None
    expired: str = ""


class Since(NamedTuple):
    """A timer with a name: when it was set, and its window."""

    moment: int
    within: tuple[float, float]


class Here(NamedTuple):
    """A point in a sequence of moves.

    `free`: when the last move ended. `since`: when the timers of the state were set, by their numbers; `named`: those
    that run by their names. `taken` and `matched`: how many inputs and outputs of each port. `cause`: the number of the
    last event that had a part in it.
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
class Solver:
    """A search for an explanation."""

    blueprint: Blueprint
    given: Given
    latency: float
    busy: float
    rigour: Rigour
    times: Differences = field(default_factory=Differences)
    arrived: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    nodes: int = 0
    cut: bool = False

    def explained(self) -> bool:
        """Return whether there is an explanation. Raises CutOffError where there may be one."""
        for port, inputs in self.given.sent.items():
            for number, (_, event) in enumerate(inputs):
                self.arrived[port, number] = here = self.times.unknown(event.at)
                self._between(0, here, event.at, event.at + self.latency)
                if number and not self._not_before(here, self.arrived[port, number - 1]):
                    return False
        begun = self.times.unknown()
        self.times.at_most(begun, 0, 0.0)
        state = self.blueprint.initial
        ends = [hi for _, hi in self._windows(state)]
        if ends and min(ends) < FOREVER:
            self.times.at_most(0, begun, min(ends))
        since = (begun,) * len(self.blueprint.branches(state, ""))
        found = self._go(Here(state, 0, since, {}, {}))
        if not found and self.cut:
            raise CutOffError
        return found

    def _go(self, here: Here) -> bool:
        if self._ends(here):
            return True
        self.nodes += 1
        if self.nodes > NODES:
            raise CutOffError
        return any(self._tried(here, option) for option in self._options(here))

    def _options(self, here: Here) -> Iterator[Option]:
        for port, inputs in self.given.sent.items():
            number = here.taken.get(port, 0)
            if number < len(inputs):
                inp = InFlight(port, number, *inputs[number])
                courses = self.blueprint.courses(here.state, str(inp.event.input))
                yield from (Option(inp, course) for course in courses or (None,))
        courses = self.blueprint.courses(here.state, "")
        for course in courses:
            if not course.branch.after or course.branch.after in here.named:
                yield Option(None, course, course.branch.after)
        for name in here.named.keys() - {course.branch.after for course in courses}:
            yield Option(None, None, name)

    def _tried(self, here: Here, option: Option) -> bool:
        if option.input is not None:
            port, number, cause, _ = option.input
            here = here._replace(taken={**here.taken, port: number + 1}, cause=max(here.cause, cause))
        matched = self._matched(here, option)
        if matched is None:
            return False
        unseen = here.unseen + (option.input is None and option.course is not None and matched == here.matched)
        if unseen > UNSEEN:
            self.cut = True
            return False
        here = here._replace(unseen=unseen)
        return self._timed(here, option, matched, chained=True) or self._timed(here, option, matched, chained=False)

    def _matched(self, here: Here, option: Option) -> Mapping[str, int] | None:
        """Return how many outputs of each port are explained then; None where an output is another than was seen."""
        matched = dict(here.matched)
        if option.input is not None and option.course is None and self._owes(here, option.input.cause):
            return None
        silence = self._silence(option)
        for port, outputs in option.course.outputs if option.course else ():
            seen = self.given.seen.get(port, ())
            for output in outputs:
                number = matched.get(port, 0)
                if number < len(seen):
                    event, at = seen[number]
                    if at.output != output or event < here.cause or event > (silence or (event,))[0]:
                        return None
                    matched[port] = number + 1
                elif silence:
                    return None
        return matched

    def _owes(self, here: Here, event: int) -> bool:
        """Return whether an output that was seen before an event is not explained yet."""
        return any(
            number < event
            for port, outputs in self.given.seen.items()
            for number, _ in outputs[here.matched.get(port, 0) :]
        )

    def _silence(self, option: Option) -> tuple[int, Quiet] | None:
        """Return the silence before which the answer to an input must have come, where R does not say."""
        if not self.rigour.patient or option.input is None or option.course is None or option.course.within:
            return None
        return next((each for each in self.given.quiets if each[0] > option.input.cause), None)

    def _timed(self, here: Here, option: Option, matched: Mapping[str, int], *, chained: bool) -> bool:
        times = self.times
        mark = times.mark()
        moment = times.unknown(times.solution[here.free])
        found = self._begun(here, moment, option) and self._in_order(here, moment, option, chained=chained)
        found = found and self._on(here, moment, option, matched)
        times.back(mark)
        return found

    def _on(self, here: Here, moment: int, option: Option, matched: Mapping[str, int]) -> bool:
        """Return whether an explanation goes on with this move at this moment."""
        if option.course is not None:
            return self._made(here, moment, option, option.course, matched)
        # where the spec says nothing of an input everything is allowed from here on
        named = {name: each for name, each in here.named.items() if name != option.expired}
        return option.input is not None or self._tracked(here._replace(free=moment, named=named))

    def _begun(self, here: Here, moment: int, option: Option) -> bool:
        """Demand what is demanded of the beginning of a move."""
        # what happens after the end explains nothing
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
        """Demand that a move begins when the last one ends, or that nothing was there to be done before."""
        if chained:
            return self._not_before(here.free, moment)
        waiting = [*self._waiting(here)]
        if option.input is not None:
            waiting.append(self.arrived[option.input.port, option.input.number])
        ends = ((since, hi) for since, (_, hi) in self._running(here) if hi < FOREVER)
        return all(self._not_before(each, moment) for each in waiting) and all(
            self._at_most(moment, since, hi) for since, hi in ends
        )

    def _made(self, here: Here, moment: int, option: Option, course: Course, matched: Mapping[str, int]) -> bool:
        """Return whether an explanation goes on with this move."""
        if option.input is None:
            instant = all(self._seen(moment, event) for event in self._events(here, course))
            return instant and self._entered(here, moment, moment, option, course, matched)
        times = self.times
        free, lasts = times.unknown(times.solution[moment]), list[int]()
        if not (self._not_before(free, moment) and self._emitted(here, moment, free, course, lasts)):
            return False
        for early, seconds in self._bounds(moment, course, lasts):
            mark = times.mark()
            if self._at_most(free, early, seconds) and self._entered(here, moment, free, option, course, matched):
                return True
            times.back(mark)
        return False

    def _bounds(self, moment: int, course: Course, lasts: Sequence[int]) -> list[tuple[int, float]]:
        """Return by when the system has done with an input: one of these times, each so many seconds after another."""
        hi = course.within[1] if course.within else FOREVER if self.rigour.patient else 0.0
        if hi <= self.busy or not lasts:
            return [(moment, self.busy)]
        if self.rigour.loose and course.within:
            return [(moment, hi)]
        return [(moment, self.busy), *((last, 0.0) for last in lasts)]

    def _events(self, here: Here, course: Course) -> Iterator[Seen | None]:
        """Yield for each output of a move when it was seen, if it was."""
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

    def _entered(
        self, here: Here, moment: int, free: int, option: Option, course: Course, matched: Mapping[str, int]
    ) -> bool:
        """Return whether an explanation goes on from the state that a move leads to."""
        timers = len(self.blueprint.branches(course.state, ""))
        windows = any(True for _ in self._windows(course.state))
        entered = moment
        if option.input is not None and (windows or course.branch.starts):
            entered = self.times.unknown(self.times.solution[moment])
            if not (self._not_before(entered, moment) and self._not_before(free, entered)):
                return False
        named = self._named(here, option, course.branch, entered)
        then = here._replace(state=course.state, free=free, matched=matched, named=named)
        if windows and course.state == here.state:
            own = course.number if option.input is None else -1
            kept = tuple(moment if number == own else each for number, each in enumerate(here.since))
            if kept != (moment,) * timers and self._tracked(then._replace(since=kept)):
                return True
        return self._tracked(then._replace(since=(entered,) * timers))

    def _named(self, here: Here, option: Option, branch: Branch, entered: int) -> Mapping[str, Since]:
        """Return the timers with names that run after a move."""
        kept = {name: each for name, each in here.named.items() if name not in (option.expired, *branch.stops)}
        return kept | {name: Since(entered, within) for name, within in branch.starts}

    def _tracked(self, here: Here) -> bool:
        mark = self.times.mark()
        found = self._go(here)
        self.times.back(mark)
        return found

    def _ends(self, here: Here) -> bool:
        """Return whether everything that was seen is explained, and nothing that was not seen had to be."""
        if any(here.matched.get(port, 0) < len(seen) for port, seen in self.given.seen.items()):
            return False
        mark = self.times.mark()
        found = self._after_end(here.free, 0.0)
        self.times.back(mark)
        if not found:
            ends = ((since, hi) for since, (_, hi) in self._running(here) if hi < FOREVER)
            found = all(self._after_end(each, 0.0) for each in self._waiting(here)) and all(
                self._after_end(since, hi) for since, hi in ends
            )
            self.times.back(mark)
        return found

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

    def _after_end(self, moment: int, seconds: float) -> bool:
        """Demand that so many seconds after a moment is after the end of what was observed."""
        later = self.rigour.later if self.given.quiet else min(self.rigour.later, 0.0)
        return self.times.at_most(0, moment, seconds - self.given.end - later + self.rigour.slack)

    def _at_most(self, late: int, early: int, seconds: float) -> bool:
        return seconds == FOREVER or self.times.at_most(late, early, seconds + self.rigour.slack)

    def _not_before(self, late: int, early: int, seconds: float = 0.0) -> bool:
        return self.times.at_most(early, late, self.rigour.slack - seconds)

    def _between(self, begin: int, moment: int, lo: float, hi: float) -> bool:
        return self._not_before(moment, begin, lo) and self._at_most(moment, begin, hi)


def decided(blueprint: Blueprint, events: Sequence[Event], latency: float, busy: float) -> Decision:
    """Return whether some behaviour of the spec explains these events.

    `impossible`: none does, even if each bound may be missed by a hair. `slow`: none does, but all that is wrong is
    that an answer without a window took longer than R, and came at last; that is no failure. `borderline`: only by a
    hair.
    """
    seen = given(events)
    try:
        if not Solver(blueprint, seen, latency, busy, BLURRED).explained():
            return "slow" if Solver(blueprint, seen, latency, busy, PATIENT).explained() else "impossible"
        if Solver(blueprint, seen, latency, busy, EXACT).explained():
            return "explained"
    except CutOffError:
        return "cut off"
    return "borderline"
