"""Faulty systems for shrinkers, as functions of their states, and the failing runs that random testing finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import count
from random import Random
from typing import Any, Final, TypeAlias

from benchmarks import shrink_conference as conference
from benchmarks.shrink_classical import TruncatedInputs
from benchmarks.shrink_simulated import Simulated
from otf.core import InputMode, Model, Monitor, Oracle, Symbol
from otf.core.macro_step import MacroSteps, events, follow
from otf.core.walk import Act
from otf.models import laundry, queue, vending_faults
from otf.models.laundry import LAUNDRY, Washer
from otf.models.queue import QUEUE
from otf.models.refusing import REFUSING, moody
from otf.models.vending import VENDING
from otf.models.vending_faults import FAULTS, WEAR, Device
from otf.shrink import AllowedInputs, Candidate, Issue, ModelStep
from otf.shrink.issue import ANYWHERE
from otf.spec import Spec
from otf.strategy import Pool, Uniform
from otf.trace.verdict import Signature

STEPS: Final = 1000  # of a path, as the paper's tool does by default
React: TypeAlias = Callable[[Any, Any], tuple[Any, tuple[object, ...]]]


@dataclass(frozen=True, eq=False)
class Subject:
    """A faulty system: the spec that it does not conform to, and its behaviour.

    `chance`: what it does by the lot that it draws; `react` is then what it does with luck. `judge` makes its oracle,
    where that is not the plain one; `inputs` are those that are offered.
    """

    fault: str
    spec: Spec[Any, Any]
    initial: Any
    react: React
    chance: Callable[[Random], React] | None = None
    judge: Callable[[], Oracle] | None = None
    inputs: InputMode = "uioco"

    @cached_property
    def oracle(self) -> Oracle:
        """Return the oracle; one for all, since asking the model again would take most of the time."""
        return Oracle(Model(self.spec)) if self.judge is None else self.judge()

    def simulated(self, seed: object) -> Simulated:
        """Return the system as a shrinker needs it; the copies of one seed draw from one chance, one after another."""
        random = Random(f"{self.fault}/{seed}")

        def make() -> Act:
            return acting(self.react if self.chance is None else self.chance(random), self.initial)

        if self.chance is not None:
            return Simulated(self.oracle, make)
        return Remembered(self.oracle, make, react=self.react, initial=self.initial)

    def issue(self, seed: int) -> Issue:
        """Return the first failing run that uniformly random inputs find."""
        system, pool = self.simulated(seed), Pool(self.inputs, Random(f"{self.fault}/{seed}/inputs"))
        found = (system.run(Uniform(pool), STEPS) for _ in count())
        return next(issue for issue in found if issue is not None)


class Spot:
    """A pair of states of the model and the system, with the pairs after the inputs taken so far."""

    __slots__ = ("nodes", "state", "then", "ways")

    def __init__(self, ways: MacroSteps, state: Any) -> None:
        self.ways = ways
        self.state = state
        self.nodes = frozenset(ways.view.nodes)
        self.then: dict[Symbol, Spot | Signature | None] = {}


@dataclass(slots=True, kw_only=True)
class Remembered(Simulated):
    """A system without chance, of which no step is computed twice: some algorithms take millions of them.

    The shrinker gets the same answers, and the count is the same; a test compares them.
    """

    react: React
    initial: Any
    _spots: dict[tuple[MacroSteps, Any], Spot] = field(default_factory=dict[tuple[MacroSteps, Any], Spot])

    def shows(self, candidate: Candidate) -> Issue | None:
        """Return the issue that a candidate shows, None if it passes."""
        if not isinstance(candidate, AllowedInputs):
            return self.run(candidate.chooser(), candidate.limit)
        spot, steps = self._spot(MacroSteps.start(self.oracle), self.initial), list[ModelStep]()
        for inp in candidate.symbols:
            then = spot.then[inp] if inp in spot.then else self._step(spot, inp)
            if then is None and isinstance(candidate, TruncatedInputs):
                break
            if then is None:
                continue
            if isinstance(then, Signature):
                self.lengths.append(len(steps) + 1)
                return Issue((*steps, ModelStep(spot.nodes, inp, ANYWHERE)), then)
            steps.append(ModelStep(spot.nodes, inp, then.nodes))
            spot = then
        self.lengths.append(len(steps))
        return None

    def _step(self, spot: Spot, inp: Symbol) -> Spot | Signature | None:
        """Return where an input leads: a failure, or None if the model does not allow it and it is not sent."""
        if not spot.ways.view.allows(inp):
            spot.then[inp] = None
            return None
        then, outputs = self.react(spot.state, inp.value)
        table = spot.ways.tables[inp]
        ways = follow(self.oracle, spot.ways, inp.value, table, outputs)
        after = signature(self.oracle, spot.ways, inp.value, outputs) if ways is None else self._spot(ways, then)
        spot.then[inp] = after
        return after

    def _spot(self, ways: MacroSteps, state: Any) -> Spot:
        found = self._spots.get((ways, state))
        if found is None:
            found = self._spots[ways, state] = Spot(ways, state)
        return found


def signature(oracle: Oracle, ways: MacroSteps, inp: object, outputs: tuple[object, ...]) -> Signature:
    """Return the signature of a step that the model does not allow."""
    monitor = Monitor(oracle, ways.belief)
    for event in events(oracle, inp, outputs):
        if monitor.tell(event) is not None:
            break
    failure = monitor.end().failure
    assert failure is not None
    return failure.signature


def acting(react: React, state: Any) -> Act:
    """Return a copy of a system, as a function from an input to its outputs."""

    def act(inp: object) -> tuple[object, ...]:
        nonlocal state
        state, outputs = react(state, inp)
        return outputs

    return act


def _each(
    faults: Iterable[str], spec: Spec[Any, Any], initial: Any, react: Callable[[str, Any, Any], Any]
) -> list[Subject]:
    return [Subject(fault, spec, initial, partial(react, fault)) for fault in faults]


def _moody(fault: str) -> Subject:
    lucky = partial(vending_faults.react, fault)
    return Subject(fault, REFUSING, Device(), lucky, lambda random: partial(moody, fault, random))


_VENDING: Final = _each(FAULTS, VENDING, Device(), vending_faults.react)
SYSTEMS: Final[Mapping[str, list[Subject]]] = {
    "vending": _VENDING,
    "vending_counters": [*_VENDING, *_each(WEAR, VENDING, Device(), vending_faults.react)],
    "cycles": _each(laundry.FAULTS, LAUNDRY, Washer(), laundry.react),
    "queue": _each(queue.FAULTS, QUEUE, None, queue.react),
    "refusing": [_moody(fault) for fault in FAULTS],
    "conference": [
        Subject(fault, conference.SPEC, conference.START, react, judge=conference.oracle, inputs="mixed")
        for fault, react in conference.REACTS.items()
    ],
}
