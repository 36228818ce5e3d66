"""Lanes, and who drives their paths: the one place where a campaign in one process differs from one in several.

A campaign leases paths by number, and an executor returns what each did. Each of n lanes takes every n-th path, one
after another. If all lanes shared one memory, the choices of a path would depend on which copy of the system is faster.
So the lease fixes what a path knows of others (`otf.campaign.lane_knowledge`), and a path depends only on the seed, its
number and the number of lanes.
"""

from __future__ import annotations

import resource
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple, Self

import anyio

from otf.adapter import Bench
from otf.adapter.observed_rest.wakers import LOST, Wakers
from otf.campaign.again import both_ways
from otf.campaign.changes import ChangedTransitions
from otf.campaign.confirm import ConfirmedPath, confirm
from otf.campaign.contact import Boards, Result, TakenOut
from otf.campaign.journal_lines import Knowledge
from otf.campaign.lane_knowledge import Known, Rounds
from otf.campaign.lane_memory import Layer, Learning
from otf.campaign.pace import Pace, clients, lasts
from otf.campaign.paths import PathRun
from otf.campaign.recorder import header_of
from otf.campaign.results import PathResult, Shrunk
from otf.campaign.saved import DriveSaved
from otf.campaign.settings import Settings, header, length
from otf.campaign.shrinking import OnShrunk, Shrinker, ShrinkProgress
from otf.campaign.speed import check_speed
from otf.campaign.summary import Listener, callback, listened
from otf.codec.malformed import MalformedCodec
from otf.core import Oracle
from otf.core.idling import Idling
from otf.core.timed_ways import TimedWays
from otf.core.timer_waits import Timers
from otf.runner.driving import Aftermath
from otf.runner.lookout import patience
from otf.runner.observing import WRONGLY
from otf.spec.redrawing import redraw_of
from otf.strategy import Strategy, StrategyKind
from otf.strategy.kinds import known
from otf.strategy.malformed import malforming
from otf.strategy.pool import ChangedFirst
from otf.trace.kinds import Scope
from otf.trace.record import Header
from otf.trace.verdict import Verdict

FILES: Final = 10  # files for one copy of a system: sockets, pipes, its trace
OWN_FILES: Final = 64


class Lease(NamedTuple):
    """A path to drive: its number, counted from 1, its lane, counted from 0, the id of the run, and what it knows."""

    number: int
    lane: int
    run: str
    known: Known


class Leased(NamedTuple):
    """What a leased path did, and what it learned.

    `cut`: a state enabled more inputs than the draw considered. `deaths` counts the workers that it killed.
    """

    result: PathResult
    learned: Knowledge
    cut: bool = False
    deaths: int = 0


class ShrinkTask(NamedTuple):
    """A failing path to shrink within `seconds`; `confirmed` and `scope` are those of `Shrinker`."""

    failing: PathResult
    seconds: float
    confirmed: bool = False
    scope: Scope = Scope()


class ShrinkWatch(NamedTuple):
    """Receives the progress of shrinking, and each shorter trace."""

    progress: ShrinkProgress | None = None
    found: OnShrunk | None = None


class Executor(ABC):
    """Drives leased paths, in this process or elsewhere, one at a time per lane."""

    def __init__(self, bench: Bench, settings: Settings) -> None:
        self.bench, self.settings = bench, settings

    def running(self) -> AbstractAsyncContextManager[None]:
        """Return the context in which paths are driven; leaving it ends everything that was started for that."""
        return nullcontext()

    @property
    def drive_saved(self) -> DriveSaved | None:
        """Return the function that drives a saved failure where paths are driven; None if this process does so."""
        return None

    async def check_speed(self, until: float) -> None:
        """Refuse a faster clock that the system does not follow; runs end at the time `until`. Raises UsageError."""
        await check_speed(self.bench, self.settings, until)

    @property
    def together(self) -> int:
        """Return how many failures to shrink at a time: one, if a search uses all available copies."""
        return 1

    @abstractmethod
    async def drive(self, lease: Lease) -> Leased:
        """Drive a path. Raises ContactError if the system cannot be reached, ModelError if the model is broken."""

    @abstractmethod
    async def confirm(self, lane: int, failing: PathResult, first: str, until: float, *, strict: bool) -> ConfirmedPath:
        """Drive a failing path of a lane again, as `otf.campaign.confirm.confirm` does. Raises ContactError."""

    @abstractmethod
    async def shrink(self, lane: int, task: ShrinkTask, watch: ShrinkWatch) -> Shrunk:
        """Shrink a failing path as a lane would drive it. Raises ContactError."""

    @abstractmethod
    def oracle(self, lane: int) -> Oracle:
        """Return the oracle whose model is asked again about a failure in a lane."""


def make_room(copies: int) -> str:
    """Raise this process's limit of open files for `copies` copies of a system; return a note if it stays too low."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed, endless = OWN_FILES + FILES * copies, resource.RLIM_INFINITY
    if soft != endless and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed if hard == endless else min(needed, hard), hard))
    if endless in {soft, hard} or needed <= hard:
        return ""
    return f"{copies} copies may need {needed} open files, and this process may have {hard}: see `ulimit -Hn`"


def trace_of(out: Path, number: int) -> Path:
    """Return the trace of a path."""
    return out / f"path-{number:04}.jsonl"


def with_malformed(strategy: str | StrategyKind, bench: Bench) -> str | StrategyKind:
    """Return the strategy, with malformed inputs if the bench asks for a share of them."""
    if not isinstance(bench.codec, MalformedCodec):
        return strategy
    return malforming(known(strategy), bench.malformed, bench.codec)


@dataclass(frozen=True, slots=True)
class Lane:
    """The memory of one lane: the oracle's for the whole campaign, the rest for a path, or for all if it is alone."""

    oracle: Oracle
    strategy: Strategy
    pace: Pace
    learning: Learning

    @classmethod
    def of(
        cls, bench: Bench, settings: Settings, oracle: Oracle, layers: Iterable[Layer], first: ChangedFirst | None
    ) -> Self:
        """Return a lane that knows what other paths learned; its paths look for the changed transitions `first`."""
        learning, patient = Learning(layers, bench.known_issue), patience(bench)
        kind = with_malformed(settings.strategy, bench)
        redraw = redraw_of(oracle.model.spec.inputs)
        steering = learning.failing.steering
        strategy = Strategy(kind, bench.inputs, settings.seed, learning.visits, patient, first, redraw, steering)
        timers, told = Timers(passed=learning.waited, between=False, first=True), learning.waited
        idling = Idling(told, TimedWays(learning.visits.inputs, told) if strategy.kind.covers else None)
        waits = bench.system is None
        alike = clients(bench) if settings.burst is None else frozenset[str]()
        pace = Pace(settings.mode, 1, bench.timing, learning.proven, timers, waits, alike, idling=idling)
        return cls(oracle, strategy, pace, learning)


class InProcess(Executor):
    """The executor of this process: all lanes share its event loop.

    `ends` returns the moment at which a path ends, whatever it did; `aftermath` is as in `PathRun`. `lanes` counts
    those of all processes, if there are several. `taken_out` receives the devices that stopped answering.
    """

    def __init__(  # noqa: PLR0913, PLR0917 -- what a path needs, each once
        self,
        bench: Bench,
        settings: Settings,
        listener: Listener,
        ends: Callable[[], float] = lambda: float("inf"),
        aftermath: Aftermath = lambda _: 0.0,
        lanes: int | None = None,
        taken_out: TakenOut = lambda _number, _why: None,
    ) -> None:
        super().__init__(bench, settings)
        # lanes of other processes have devices that this one cannot know to be free
        alone = settings.device is not None and lanes is None and settings.workers is None
        self._boards = Boards(settings.device, settings.lanes, taken_out) if alone and settings.device else None
        self._listener, self._ends, self._aftermath = listener, ends, aftermath
        self._rounds = Rounds()
        self._oracles: defaultdict[int, Oracle] = defaultdict(bench.oracle)
        self._alone: Lane | None = None
        self._changed = ChangedTransitions.of(settings.out)
        self._first: dict[int, ChangedFirst | None] = {}
        self._number = lanes or settings.lanes
        self._began: float | None = None
        self._wakers = Wakers()

    def oracle(self, lane: int) -> Oracle:
        """Return the oracle of a lane."""
        return self._oracles[lane]

    async def confirm(self, lane: int, failing: PathResult, first: str, until: float, *, strict: bool) -> ConfirmedPath:
        """Drive a failing path again, strictly, at the system's own speed, and from a reset."""

        async def again() -> ConfirmedPath:
            bench, after = self._on(lane), self.settings.aftermath
            own = bench.at_speed(1).by_reset()
            oracle = self._oracles[lane] if bench is own else own.oracle()
            head, speed = self._head(own, failing), bench.speed / own.speed
            return await confirm(
                own, oracle, head, failing, strict=strict, first=first, until=until, aftermath=after, speed=speed
            )

        return await self._on_device(lane, again)

    async def shrink(self, lane: int, task: ShrinkTask, watch: ShrinkWatch) -> Shrunk:
        """Shrink a failing path at the system's own speed."""
        return await self._on_device(lane, lambda: self._shrinker(lane, task, watch).run(task.failing))

    def _shrinker(self, lane: int, task: ShrinkTask, watch: ShrinkWatch) -> Shrinker:
        bench, settings = self._on(lane), self.settings
        own = bench.at_speed(1)
        return Shrinker(
            bench=own,
            oracle=self._oracles[lane] if bench is own else own.oracle(),
            header=self._head(own, task.failing),
            budget=replace(settings.budget, seconds=min(settings.budget.seconds, task.seconds)),
            jobs=settings.jobs if settings.device is None else 1,
            mode=settings.mode,
            where=settings.where,
            confirmed=task.confirmed,
            scope=task.scope,
            progress=watch.progress,
            found=watch.found,
        )

    def look_for(self, lane: int, changed: Sequence[str]) -> None:
        """Have the paths of a lane look for changed transitions first, where the folder lacks them."""
        self._first[lane] = ChangedTransitions([*changed]).first(lane, self._number)

    def looks(self, lane: int) -> bool:
        """Return whether the paths of a lane look for changed transitions."""
        return self._first.get(lane) is not None

    def takes(self, known: Known) -> bool:
        """Take what a path knows; return False if this process lacks some of it."""
        return self._rounds.take(known)

    async def drive(self, lease: Lease) -> Leased:
        """Drive a path against a fresh copy of the system."""
        if not self.takes(lease.known):
            raise AssertionError
        return await self._on_device(lease.lane, lambda: self._drive(lease))

    async def _on_device(self, lane: int, does: Callable[[], Awaitable[Result]]) -> Result:
        return await (does() if self._boards is None else self._boards.drive(lane, does))

    async def _drive(self, lease: Lease) -> Leased:
        lane = self._lane(lease)
        result = await self._drive_once(lease, lane)
        tries = 0
        while not result.verdict.failed and result.silence.startswith(WRONGLY):
            # a pass is worth nothing if a thread was trusted wrongly; it is not trusted the next time
            result = replace(result, verdict=Verdict("inconclusive", why=result.silence))
            tries += 1
            if tries > LOST or anyio.current_time() >= self._ends():
                break
            result = await self._drive_once(lease, lane)
        bench = self._on(lease.lane)
        snapshot = None if bench.life is None else bench.life.snapshot
        if snapshot is not None and result.verdict.outcome == "pass" and lease.number % snapshot.both == 0:
            own, until = bench.by_reset(), self._ends()
            result = await both_ways(own, own.oracle(), self._head(own, result), result, until)
        return Leased(result, lane.learning.path(), lane.oracle.model.cut)

    async def _drive_once(self, lease: Lease, lane: Lane) -> PathResult:
        bench, settings = self._on(lease.lane), self.settings
        head = replace(header(bench, settings, lease.number), run=lease.run)
        run = PathRun(
            bench,
            lane.oracle,
            head,
            trace_of(settings.out, lease.number),
            callback(self._listener, "event", lease.number),
            largest=settings.largest,
            aftermath=self._aftermath,
            wakers=self._wakers,
            observe=lane.learning.answers.observe if lane.strategy.kind.listens else None,
            goes_past=lane.learning.failing.goes_past,
        )
        enabled = callback(self._listener, "enabled", lease.number)
        chooser = listened(lane.strategy.path(lease.number), enabled)
        steps = length(settings, lease.number, late=self._late(head.burst))
        pacing = replace(lane.pace, burst=head.burst).pacing()
        return await run.run(chooser, steps, pacing, until=self._ends())

    def _head(self, own: Bench, failing: PathResult) -> Header:
        """Return the header of a strict run of a path's inputs, at the system's own speed, with its bursts."""
        settings = replace(self.settings, mode="strict", burst=header_of(failing.trace).burst)
        return header(own, settings, failing.number, strategy="script")

    def _late(self, size: int) -> bool:
        """Return whether a path that begins now, with bursts of this size, lasts to the end."""
        now = anyio.current_time()
        self._began = now if self._began is None else self._began
        return lasts(self.bench, self.settings.burst, size, now - self._began, self._ends() - now)

    def _on(self, lane: int) -> Bench:
        if self._boards is not None:
            return self._boards.on(lane)
        return self.bench if self.settings.device is None else self.settings.device(lane)

    def _lane(self, lease: Lease) -> Lane:
        if self._alone is not None:
            return self._alone
        oracle, layers = self._oracles[lease.lane], self._rounds.layers(lease.known)
        if lease.lane not in self._first:
            self._first[lease.lane] = self._changed.first(lease.lane, self._number)
        lane = Lane.of(self._on(lease.lane), self.settings, oracle, layers, self._first[lease.lane])
        if lease.known.alone:
            self._alone = lane
        return lane
