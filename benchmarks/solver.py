"""An exact judge of small runs, which decides whether any behaviour of the spec explains the events, with any delays.

It tries every sequence of moves, and asks for each whether there are times for it within L and R: difference
constraints, solved as by Bellman and Ford. It knows blueprints and nothing of the core. `demands` defines a behaviour.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from benchmarks.blueprints import Blueprint, Branch, Course
from benchmarks.demands import FOREVER, Demands, Here, InFlight, Option, Since
from benchmarks.evidence import BLURRED, EXACT, PATIENT, given
from otf.trace.events import Event, Quiet

Decision: TypeAlias = Literal["explained", "impossible", "slow", "borderline", "cut off"]
NODES: Final = 20_000  # moves after which the search is cut off
UNSEEN: Final = 6  # spontaneous moves without a visible output


class CutOffError(Exception):
    """There are more sequences of moves than the search tries."""


@dataclass
class Solver(Demands):
    """A search for an explanation."""

    nodes: int = 0
    cut: bool = False

    def explained(self) -> bool:
        """Return whether there is an explanation. Raises CutOffError if that is unknown."""
        for port, inputs in self.given.sent.items():
            for number, (_, event) in enumerate(inputs):
                self.arrived[port, number] = here = self.times.unknown(event.at)
                self._between(0, here, event.at, event.at + self.latency)
                if number and not self._not_before(here, self.arrived[port, number - 1]):
                    return False
        state = self.blueprint.initial
        since = tuple(map(self._begun_before, self.blueprint.branches(state, "")))
        found = self._go(Here(state, 0, since, {}, {}))
        if not found and self.cut:
            raise CutOffError
        return found

    def _begun_before(self, branch: Branch) -> int:
        """Return when a timer of the initial state began: the system may have been on before, and set it anew since."""
        begun = self.times.unknown()
        self.times.at_most(begun, 0, 0.0)
        if branch.within and branch.within[1] < FOREVER:
            self.times.at_most(0, begun, branch.within[1])
        return begun

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
        """Return how many outputs of each port are explained then; None if an output differs from the observed one."""
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
        """Return the silence before which the answer to an input must have come, if R does not bound it."""
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
        # after an unspecified input everything is allowed
        named = {name: each for name, each in here.named.items() if name != option.expired}
        return option.input is not None or self._tracked(here._replace(free=moment, named=named))

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
        """Return whether all observed outputs are explained, and no unobserved output was due."""
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


def decided(blueprint: Blueprint, events: Sequence[Event], latency: float, busy: float) -> Decision:
    """Return whether some behaviour of the spec explains these events.

    `impossible`: none does, even if each bound may be missed by a hair. `slow`: none does, but the only deviation is
    that an answer without a window took longer than R, and came at last; that is not a failure. `borderline`: only by a
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
