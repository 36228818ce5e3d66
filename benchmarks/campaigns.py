"""Simulated campaigns: paths of a tester against systems that conform, or do not, in virtual time; seeds name them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

from benchmarks.subjects import TICK, Subject
from otf.core import Limits, Model, Monitor, Oracle, Pacing, Routes, Session, Timing
from otf.core.burst import Burst
from otf.core.pacing import Eager, Strict
from otf.core.timer_waits import Timers
from otf.core.timing import Learnt
from otf.simulate import System, TimeBounds, World, conduct
from otf.simulate.world import Chance
from otf.strategy import Strategy
from otf.trace.events import Event
from otf.trace.verdict import Verdict

PATHS: Final = 10  # in a campaign: what one path teaches (proven silence, waits for timers) the next ones use
CAP: Final = Limits(hypotheses=1000)  # fewer than by default: a path that exceeds them is inconclusive, and takes long


@dataclass
class Notes:
    """The memory of pacings over the paths of a campaign."""

    proven: set[Hashable] = field(default_factory=set[Hashable])
    timers: Timers = field(default_factory=Timers)


@dataclass(frozen=True)
class Tester:
    """How a tester paces and judges; the real ones differ in their pacing only, the negative controls in the rest.

    `judging`: the times by which the monitor judges, where they are not those of the pacing.
    """

    pacing: Callable[[Timing, Notes], Pacing]
    monitor: Callable[[Oracle], Monitor] = Monitor
    judging: Callable[[Timing], Timing] = lambda timing: timing


TESTERS: Final[Mapping[str, Tester]] = {
    "strict": Tester(lambda timing, notes: Strict(timing, notes.timers)),
    "eager": Tester(lambda timing, notes: Eager(timing, notes.proven, notes.timers)),
    "burst 2": Tester(lambda timing, notes: Burst(timing, 2, notes.timers)),
    "burst 4": Tester(lambda timing, notes: Burst(timing, 4, notes.timers)),
}


@dataclass(frozen=True)
class Run:
    """The result of one path, its virtual seconds, and the `largest` number of hypotheses on the way."""

    verdict: Verdict
    steps: int
    seconds: float
    largest: int
    events: tuple[Event, ...] = ()


class Campaign:
    """A campaign of a tester against systems made from one subject; its times and orders are random."""

    def __init__(self, subject: Subject, tester: Tester, random: Random) -> None:
        self.random = random
        self.subject = subject
        self.tester = tester
        self.notes = Notes()
        self.bounds = bounds(random, subject)
        self.timing = timing(random, self.bounds)
        self.strategy = Strategy(random.choice(("random", "alternating")), subject.inputs, random.randrange(10**9))
        model = Model(subject.spec, Routes(subject.outputs, subject.port))
        self.oracle = Oracle(model, subject.relation, CAP, tester.judging(self.timing))
        self.steps = random.choice((5, 20, 40))
        self.make: Callable[..., World] = World

    def runs(self, paths: int = PATHS) -> Iterator[Run]:
        """Yield the results of one path after another."""
        for number in range(1, 1 + paths):
            yield self.run(number)

    def run(self, number: int, *, recorded: bool = False) -> Run:
        """Return the result of the next path, which has this number."""
        pacing = self.tester.pacing(self.timing, self.notes)
        session = Session(self.oracle, self.strategy.path(number), pacing, steps=self.steps)
        session.monitor = self.tester.monitor(self.oracle)
        world, events, sizes = self._world(), list[Event](), [1]

        def note(event: Event) -> None:
            sizes[0] = max(sizes[0], len(session.monitor.belief.hypotheses))
            if recorded:
                events.append(event)

        verdict = conduct(session, world, self.subject.port, note)
        return Run(verdict, session.monitor.sent, world.now, sizes[0], tuple(events))

    def _world(self) -> World:
        subject = self.subject
        made = subject.made or subject.spec
        system = System(made, subject.port, self.random, subject.invent, subject.otherwise)
        ignoring, choosy = (self.random.random() < 1 / 2 for _ in range(2))
        return self.make(system, self.bounds, self.random, ignoring=ignoring, choosy=choosy)


def bounds(random: Random, subject: Subject) -> TimeBounds:
    """Draw L and R, where either may be 0 or the longer one, and the distribution of the delays within them."""
    ticks = random.choice(((1, 1), (1, 4), (4, 1), (0, 4), (4, 0), (1, 16)))
    latency, busy = ticks[0] * TICK, max(ticks[1] * TICK, subject.busy)
    chance: Chance = random.choice(("uniform", "extreme", "lopsided"))
    # rarer than the quiescence time, so that there is silence now and then
    spontaneous = random.choice((1, 4)) * 10 * (2 * latency + busy)
    return TimeBounds(latency, busy, spontaneous, chance)


def timing(random: Random, bounds: TimeBounds) -> Timing:
    """Draw a quiescence time: from 0, where only 2L + nR holds, to far on the safe side; or learnt."""
    least = 2 * bounds.latency + bounds.busy
    quiescence = random.choice((0.0, least, 10 * least))
    kind = random.choice((Timing, Timing, Learnt))
    return kind(quiescence, bounds.latency, bounds.busy)
