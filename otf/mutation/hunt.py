"""A campaign of a bench against a model served as the system, in virtual time: no process, no port, no waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final, Literal, TypeAlias

from otf.adapter import Bench
from otf.core import Chooser, Oracle, Pacing, Session, Symbol, View
from otf.core.pacing import Eager, Strict
from otf.core.timer_waits import Timers
from otf.mutation.served import CodecWire
from otf.simulate import Happening, System, TimeBounds, World, conduct
from otf.simulate.system import Emission, SystemMove
from otf.spec import Spec
from otf.strategy import Script, Strategy
from otf.trace.verdict import Failure

HuntMode: TypeAlias = Literal["eager", "strict"]
"""How paths wait: `strict` waits for silence after each input, and `eager` goes on where the model predicts silence.

>>> from otf.models.coffee import bench
>>> from otf.mutation import mutate
>>> mode: HuntMode = "strict"
>>> mutate(bench(), most=1, mode=mode).mode
'strict'
"""
FLOOD: Final = 1_000  # outputs without a pause
SPARE: Final = 0.1  # seconds of silence, if the bench leaves the quiescence time to be learnt
STEPS: Final = 100  # of a path
ONWARD: Final = 20  # steps of a path after its way to the wrong rule
ANYWHERE: Final = 2  # with 2, every second path heads nowhere in particular
DRAWS: Final = 20  # draws of an input that the served model can answer
SOON, LONG, NEVER = 2.0, 30.0, 1e6  # quiescence times
SHORT = 0.01  # seconds
SLOW: Final = 10  # on each tenth path, answers come at any time in their windows, on the others soon
PROMPT: Final = 0.5  # seconds that an answer takes at most on those other paths
FOREVER: Final = float("inf")


@dataclass(frozen=True, slots=True)
class HuntBudget:
    """The budget for one mutant: otf sends at most `steps` inputs, and spends at most `seconds` of virtual time.

    >>> HuntBudget(steps=100).seconds
    300.0
    """

    steps: int = 20_000
    seconds: float = 300.0


@dataclass(slots=True)
class Hunted:
    """The result of a hunt: the failure that ended it, the inputs of its path, and the cost."""

    failure: Failure | None = None
    path: tuple[Any, ...] = ()
    steps: int = 0
    seconds: float = 0.0
    paths: int = 0
    known: dict[str, None] = field(default_factory=dict[str, None])
    inconclusive: dict[str, None] = field(default_factory=dict[str, None])


@dataclass(slots=True)
class _OnWire(System):
    """A system whose outputs go through the bench's codec."""

    wire: CodecWire | None = None
    watch: Callable[[object, object], object] | None = None
    # answers come at most this many seconds after their window begins
    prompt: float = FOREVER

    def take(self, inp: object) -> Happening:
        if self.watch is not None:
            self.watch(self.state, inp)
        done = System.take(self, inp)
        if done.within is not None:
            lo, hi = done.within
            done = done._replace(within=(lo, min(hi, lo + self.prompt)))
        return self._sent(done)

    def do(self, way: SystemMove) -> Happening:
        return self._sent(System.do(self, way))

    def _sent(self, done: Happening) -> Happening:
        if self.wire is None or self.wire.codec is None:
            return done
        wire = self.wire
        return done._replace(outputs=tuple(Emission(wire.seen(*each), each.port) for each in done.outputs))


@dataclass(slots=True)
class _Served:
    """Skips inputs whose answers have no example in the served model; if none is left, it ends the path (None)."""

    chooser: Chooser
    serves: Callable[[Any, Any], bool]

    def choose(self, view: View) -> Symbol | None:
        for _ in range(DRAWS):
            chosen = self.chooser.choose(view)
            if chosen is None or all(self.serves(node.value, chosen.value) for node in view.nodes):
                return chosen
        return None


@dataclass(slots=True)
class _Onward:
    """Follows a given way, then lets another chooser choose."""

    way: Script
    chooser: Chooser

    def choose(self, view: View) -> Symbol | None:
        return self.way.choose(view) or self.chooser.choose(view)


@dataclass(slots=True)
class Hunt:
    """Tests mutants with one bench; all mutants share the bench's oracle, and each mutant has a new system."""

    bench: Bench
    wire: CodecWire
    mode: HuntMode = "eager"
    seed: int = 1
    serves: Callable[[Any, Any], bool] | None = None
    oracle: Oracle = field(init=False)

    def __post_init__(self) -> None:
        """Fix the times of the bench: in virtual time there is nothing to learn."""
        if self.bench.quiescence is None:
            self.bench = replace(self.bench, quiescence=SPARE)
        if self.bench.barrier is not None:
            # a ping ends each wait as soon as the system is no longer busy, and it is hardly ever busy for long
            latency = self.bench.latency
            rest = min(self.bench.quiescence or SPARE, max(SHORT, latency))
            self.bench = replace(self.bench, barrier=None, busy=min(self.bench.busy, latency), quiescence=rest)
        self.oracle = self.bench.oracle()

    def against(
        self,
        made: Spec[Any, Any],
        budget: HuntBudget,
        watch: Callable[[object, object], object] | None = None,
        ways: Sequence[tuple[Any, ...]] = (),
    ) -> Hunted:
        """Drive paths against a served model until one fails, or the budget is spent.

        Every second path starts with one of the `ways` and stays near there, as a campaign seeks what has changed.
        """
        found = Hunted()
        strategy = Strategy("alternating", self.bench.inputs, self.seed)
        pace = self._pace(Timers())
        while found.steps < budget.steps and found.seconds < budget.seconds:
            before = found.steps
            found.paths += 1
            way = ways[found.paths % len(ways)] if ways and found.paths % ANYWHERE else ()
            most = len(way) + ONWARD if way else STEPS
            steps = min(most, budget.steps - found.steps)
            chooser = self._served(_Onward(Script(way), strategy.path(found.paths)))
            if self._fails(made, found, chooser, pace(), steps, watch) or found.steps == before:
                break  # without inputs, a longer look sees no more
        return found

    def along(self, made: Spec[Any, Any], path: Iterable[object], tries: int = 20) -> Hunted:
        """Drive one list of inputs several times, since the system may choose, and wait for timers at the end."""
        found, inputs, pace = Hunted(), list(path), self._pace(Timers(last=True))
        for _ in range(tries):
            found.paths += 1
            chooser = self._served(Script(inputs, skip=True))
            if self._fails(made, found, chooser, pace(), len(inputs) + 1, None):
                break
        return found

    def _pace(self, timers: Timers) -> Callable[[], Pacing]:
        timing, proven = self.oracle.timing, set[Any]()
        return lambda: Eager(timing, proven, timers) if self.mode == "eager" else Strict(timing, timers)

    def _fails(  # noqa: PLR0913, PLR0917 -- what a path needs, each once
        self,
        made: Spec[Any, Any],
        found: Hunted,
        chooser: Chooser,
        pacing: Pacing,
        steps: int,
        watch: Callable[[object, object], object] | None,
    ) -> bool:
        """Drive a path; return whether it ends the hunt with a failure that is not a known issue."""
        bench, random = self.bench, Random(f"{self.seed}/{found.paths}")
        # an answer that may take twenty seconds rarely does; if it did, waiting would use up the budget
        prompt = PROMPT if found.paths % SLOW else FOREVER
        system = _OnWire(made, self.oracle.model.routes.of, random, wire=self.wire, watch=watch, prompt=prompt)
        world = World(system, TimeBounds(bench.latency, bench.busy, self._pauses(found.paths)), random)
        session = Session(self.oracle, chooser, pacing, steps=steps, flood=FLOOD)
        sent: list[Any] = []

        def port(inp: object) -> str:
            sent.append(inp)
            return bench.port(inp)

        try:
            verdict = conduct(session, world, port)
        finally:
            found.steps += session.monitor.sent
            found.seconds += world.now
        if verdict.outcome == "inconclusive":
            found.inconclusive[verdict.why] = None
        if verdict.failure is None:
            return False
        issue = bench.known_issue(verdict.failure)
        if issue is not None:
            found.known[issue.says] = None
            return False
        found.failure, found.path = verdict.failure, tuple(sent)
        return True

    def _served(self, chooser: Chooser) -> Chooser:
        return chooser if self.serves is None else _Served(chooser, self.serves)

    def _pauses(self, path: int) -> float:
        """Return the mean pause before an output that may come at any time: endless, long, and short, in turn.

        If the output always comes soon, it hides a missing answer; if it comes late, the tester hardly ever sees it.
        """
        return max(SHORT, self.oracle.timing.quiescence * (NEVER, LONG, SOON)[path % 3])
