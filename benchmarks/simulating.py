"""Simulated runs of random specs, in every mode, by conforming systems or by mutants; a name determines a run.

No system here asks the core: systems are made from specs by otf/simulate, which has outputs and times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Any, Final, TypeAlias, cast

from benchmarks.blueprints import Blueprint, Branch, Picked, Resolve, Shuffled, State
from benchmarks.campaigns import PATHS, TESTERS, Notes
from benchmarks.drawn import FOREVER, drawn
from benchmarks.mutants import mutated
from benchmarks.subjects import TICK
from otf.core import Limits, Model, Oracle, Session, Timing
from otf.core.timing import Learnt
from otf.simulate import Happening, System, TimeBounds, World, conduct
from otf.simulate.system import SystemMove
from otf.simulate.world import Chance
from otf.spec import Accept, Transition, goto
from otf.strategy import Strategy
from otf.trace.events import Event, Sent
from otf.trace.verdict import Verdict

FEW: Final = Limits(hypotheses=300)  # a run that exceeds them is inconclusive, and takes long
MOVES: Final = 2_000  # of a system in a run
LONGEST: Final = 400  # events after which a run that has not come to its end is given up
FLOOD: Final = 150  # outputs that nothing demands, without a pause between them: far more than any system here gives
OFTEN: Final = 3  # timers that go off, and the system does not rest
TICKS: Final = ((1, 1), (1, 4), (4, 1), (0, 4), (4, 0), (1, 16), (0, 0), (8, 8))  # L and R

Use: TypeAlias = tuple[str, str, int]  # a branch: its state, its input ("" unasked), its number


class StuckError(Exception):
    """A run goes on and on, or waits for ever."""


@dataclass(frozen=True)
class RunName:
    """The name of a run, from which everything in it is drawn."""

    mode: str
    seed: int
    campaign: int
    path: int = 0
    mutant: bool = False

    def __str__(self) -> str:
        """Return the name as the command line takes it."""
        kind = "mutant/" if self.mutant else ""
        return f"{kind}{self.mode}/{self.seed}/{self.campaign}/{self.path}"


def named(text: str) -> RunName:
    """Return the name from its printed form."""
    *kind, mode, seed, campaign, path = text.split("/")
    return RunName(mode, int(seed), int(campaign), int(path), bool(kind))


@dataclass(frozen=True)
class Simulated:
    """The result of a run; `met`: the features in it that every simulation needs; `stuck`: it did not end."""

    name: RunName
    verdict: Verdict
    events: tuple[Event, ...]
    met: frozenset[str]
    used: frozenset[Use]
    stuck: bool


@dataclass(slots=True)
class Noted(System):
    """A system that records its actions: `met` in words, `used` by the branches of its blueprint.

    `ticks`: how often a timer went off.
    """

    met: set[str] = field(default_factory=set[str])
    used: set[Use] = field(default_factory=set[Use])
    ticks: int = 0
    moves: int = 0
    _input: str = ""

    def take(self, inp: Any) -> Happening:
        """Take an input."""
        self._input, before = inp, self.state
        happening = System.take(self, inp)
        self._input = ""
        if happening.state == before and self.spontaneous():
            self.met.add("back into a timed state")
        return happening

    def _make(self, ways: Sequence[SystemMove]) -> Happening:
        self.moves += 1
        if self.moves > MOVES:
            raise StuckError  # a wrong system may loop without an output, and a tester wait for ever
        before, number = cast("State", self.state), self.random.randrange(len(ways))
        way, asked = ways[number], self._input
        if not asked:
            self.met.add("spontaneous")
            number = self.spontaneous().index(way)
        self.used.add((before[0], asked, number))
        happening = System._make(self, [way])
        if way.within and happening.outputs:
            self.met.add("window")
        if isinstance(way, Accept) and System.spontaneous(self):
            self.met.add("Accept into a timed state")
        if not asked and way.within:
            self.ticks += 1
            if happening.state == before and len(self.spontaneous()) > 1:
                self.met.add("cyclic")
        if way.after:
            self.met.add("named timer")
        return happening


def _made(system: Noted, blueprint: Blueprint, item: object) -> object:
    if not isinstance(item, Accept):
        return system.random.choice([each for each, port in blueprint.outputs.items() if port == "P"])
    system.met |= {"Accept", "Accept, window"} if item.within else {"Accept"}
    assert isinstance(item.then, Resolve)
    seen, _ = system.random.choice(item.then.branch.accepts)
    return seen


def _anything(random: Random, blueprint: Blueprint, _state: object, _inp: object) -> list[Transition[Any]]:
    state = random.choice(sorted({state for state, _ in blueprint.steps}))
    return [goto((state, 0), *random.choices("xyz", k=random.randint(0, 2)))]


@dataclass
class Playing:
    """One run of a system at work."""

    name: RunName
    system: Noted
    events: list[Event] = field(default_factory=list[Event])

    def note(self, event: Event) -> None:
        """Keep an event; a run that is too long ends here."""
        self.events.append(event)
        if len(self.events) >= LONGEST or event.at == FOREVER:
            raise StuckError

    def met(self) -> Iterator[str]:
        """Yield the features of the run."""
        yield from self.system.met
        ports = {event.port for event in self.events if isinstance(event, Sent)}
        if len(ports) > 1:
            yield "two input ports"
        if len(ports) > 2:  # noqa: PLR2004 -- more than two
            yield "three input ports"


class Rehearsal:
    """A campaign of a tester against systems made from one random spec, in a world whose times are drawn."""

    def __init__(self, name: RunName) -> None:
        """Draw the common parts of the runs."""
        kind = "mutant/" if name.mutant else ""
        self.random = random = Random(f"{kind}{name.seed}/{name.mode}/{name.campaign}")
        self.name = name
        self.blueprint = drawn(random)
        self.made, self.change = mutated(random, self.blueprint) if name.mutant else (self.blueprint, "")
        self.bounds, self.timing = times(random)
        self.strategy = Strategy(random.choice(("random", "alternating")), "uioco", random.randrange(10**9))
        self.oracle = Oracle(Model(self.blueprint.spec(), self.blueprint.routes()), "uioco", FEW, self.timing)
        self.notes = Notes()
        self.steps = random.choice((2, 3, 4) if name.mutant else (3, 6, 12))
        self.hesitant = random.choice((0.0, 0.0, 4 * TICK, 40 * TICK, 400 * TICK))

    def runs(self) -> Iterator[Simulated]:
        """Yield one run after another."""
        for path in range(1, 1 + PATHS):
            yield self.run(path)

    def run(self, path: int) -> Simulated:
        """Return the next run, which has this number."""
        name = replace(self.name, path=path)
        pacing = TESTERS[name.mode].pacing(self.timing, self.notes)
        session = Session(self.oracle, self.strategy.path(path), pacing, steps=self.steps, flood=FLOOD)
        run, world = self.started(name)
        port = self.blueprint.inputs.__getitem__
        try:
            verdict, stuck = conduct(session, world, port, run.note, self._think if self.hesitant else None), False
        except StuckError:
            verdict, stuck = session.monitor.end(), True
        met = frozenset((*run.met(), *self._lasting(run)))
        return Simulated(name, verdict, tuple(run.events), met, frozenset(run.system.used), stuck)

    def started(self, name: RunName) -> tuple[Playing, World]:
        """Return a run of a fresh system, and its world."""
        random, made = self.random, self.made
        system = Noted(made.spec(), made.outputs.__getitem__, random, otherwise=partial(_anything, random, made))
        system.invent = partial(_made, system, made)
        ignoring, wavering, choosy = (random.random() < 1 / 2 for _ in range(3))
        world = World(system, self.bounds, random, ignoring=ignoring, wavering=wavering, choosy=choosy)
        return Playing(name, system), world

    def _think(self) -> float:
        return self.random.choice((0.0, self.random.uniform(0.0, self.hesitant)))

    def _lasting(self, run: Playing) -> Iterator[str]:
        """Yield the features of the run that follow from its spec and its times."""
        if run.system.ticks >= OFTEN and _restless(self.blueprint):
            yield "never rests"
        if self.hesitant:
            yield "thinking tester"
        if not self.bounds.latency or not self.bounds.busy:
            yield "L or R is 0"
        if self.timing.quiescence in {self.bounds.latency, self.bounds.busy}:
            yield "Q is L or R"
        yield from _words(self.blueprint)


def times(random: Random) -> tuple[TimeBounds, Timing]:
    """Draw L and R, 0 or equal to Q or in between, what is drawn within them, and the quiescence time."""
    latency, busy = (number * TICK for number in random.choice(TICKS))
    least = 2 * latency + busy
    # spontaneous outputs that may come for ever are rarer than the quiescence time
    spontaneous = max(20 * TICK, random.choice((1, 4)) * 10 * least)
    chance: Chance = random.choice(("uniform", "extreme", "lopsided"))
    quiescence = random.choice((0.0, latency, busy, least, 10 * least))
    kind = random.choice((Timing, Timing, Learnt))
    return TimeBounds(latency, busy, spontaneous, chance), kind(quiescence, latency, busy)


def _words(blueprint: Blueprint) -> Iterator[str]:
    branches = [
        each for known in (blueprint.steps, blueprint.spontaneous) for found in known.values() for each in found
    ]
    if blueprint.memory > 1:
        yield "memory (in the spec)"
    if any(_row(each) for each in branches):
        yield "OneOf in a row (in the spec)"
    if any(isinstance(item, Shuffled) for each in branches for item in each.items):
        yield "AnyOrder (in the spec)"


def _restless(blueprint: Blueprint) -> bool:
    states = {state for state, _ in blueprint.steps}
    return all(any(branch.within for branch in blueprint.spontaneous.get(state, ())) for state in states)


def _row(branch: Branch) -> bool:
    return sum(isinstance(item, Picked) for item in branch.items) > 1
