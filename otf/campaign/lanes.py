"""Lanes, and who drives their paths: the one place where a campaign in one process differs from one in several.

A campaign leases paths by number, and an executor returns what each did. Each of n lanes takes every n-th path, one
after another, and remembers what they learned. If all paths shared one memory, the order in which state sets are first
found, and which of them are known to be quiet, would depend on which copy of the system is faster, and so would the
choices. So a path depends on the seed, its number and the number of lanes alone.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple, Protocol, Self

from otf.adapter import Bench
from otf.campaign.changes import ChangedTransitions
from otf.campaign.knowledge import Knowledge, Learning
from otf.campaign.listener import Listener, callback, listened
from otf.campaign.paths import Pace, PathRun
from otf.campaign.results import PathResult
from otf.campaign.settings import Settings, header
from otf.core import Oracle
from otf.core.pacing import Timers
from otf.runner.driving import Aftermath
from otf.runner.reproduce import patience
from otf.strategy import Strategy
from otf.strategy.visits import ChangedFirst

FILES: Final = 10  # that one copy of a system may need: sockets, pipes, its trace
OWN_FILES: Final = 64


class Lease(NamedTuple):
    """A path to be driven: its number, counted from 1, its lane, counted from 0, and the id of the run."""

    number: int
    lane: int
    run: str


class Leased(NamedTuple):
    """What a leased path did, and what it learned.

    `cut`: a state enabled more inputs than were drawn from. `deaths` is how many workers died of it before.
    """

    result: PathResult
    learned: Knowledge
    cut: bool = False
    deaths: int = 0


class Executor(Protocol):
    """Drives leased paths, in this process or elsewhere; of each lane one at a time."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Return the context in which paths are driven; leaving it ends all that was started for that."""
        ...

    async def drive(self, lease: Lease) -> Leased:
        """Drive a path. Raises ContactError if the system cannot be reached, ModelError if the model is broken."""
        ...

    def oracle(self, lane: int) -> Oracle:
        """Return the oracle with which the failures of a lane are judged and driven again."""
        ...


def lanes(settings: Settings) -> int:
    """Return the number of lanes of a campaign: of paths at the same time."""
    return settings.jobs * (1 if settings.workers is None else settings.workers.processes)


def make_room(copies: int) -> str:
    """Raise this process's limit of open files for so many copies of a system; return a note if it stays too low."""
    try:
        import resource
    except ImportError:
        return ""  # Windows has no such limit
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


@dataclass(frozen=True, slots=True)
class Lane:
    """The memory of one lane."""

    oracle: Oracle
    strategy: Strategy
    pace: Pace
    learning: Learning

    @classmethod
    def of(cls, bench: Bench, settings: Settings, before: Knowledge, first: ChangedFirst | None = None) -> Self:
        """Return a lane that knows what its paths learned before, and what they look for `first`."""
        learning = Learning(before)
        patient = patience(bench)
        strategy = Strategy(settings.strategy, bench.inputs, settings.seed, learning.visits, patient, first)
        timers = Timers(passed=learning.waited)
        waits = bench.system is None
        pace = Pace(settings.mode, settings.burst, bench.timing, learning.proven, timers, waits)
        return cls(bench.oracle(), strategy, pace, learning)


class InProcess:
    """The executor of this process: all lanes share its event loop. `before` returns what the paths of a lane learned.

    `ends` returns the moment at which a path ends, whatever it did; `aftermath` is as in `PathRun`.
    """

    def __init__(  # noqa: PLR0913, PLR0917 -- what a path needs, each once
        self,
        bench: Bench,
        settings: Settings,
        listener: Listener,
        before: Callable[[int], Knowledge],
        ends: Callable[[], float] = lambda: float("inf"),
        aftermath: Aftermath = lambda _: 0.0,
    ) -> None:
        self._bench, self._settings, self._listener = bench, settings, listener
        self._before, self._ends, self._aftermath = before, ends, aftermath
        self._lanes: dict[int, Lane] = {}
        self._changed = ChangedTransitions.of(settings.out)

    def running(self) -> AbstractAsyncContextManager[None]:
        """Return a context that does nothing."""
        return nullcontext()

    def oracle(self, lane: int) -> Oracle:
        """Return the oracle of a lane."""
        return self._lane(lane).oracle

    async def drive(self, lease: Lease) -> Leased:
        """Drive a path against a fresh copy of the system."""
        bench, settings, lane = self._bench, self._settings, self._lane(lease.lane)
        run = PathRun(
            bench,
            lane.oracle,
            replace(header(bench, settings, lease.number), run=lease.run),
            trace_of(settings.out, lease.number),
            callback(self._listener, "event", lease.number),
            largest=settings.largest,
            aftermath=self._aftermath,
        )
        enabled = callback(self._listener, "enabled", lease.number)
        chooser = listened(lane.strategy.path(lease.number), self._ends(), enabled)
        result = await run.run(chooser, settings.steps, lane.pace.pacing())
        return Leased(result, lane.learning.path(), lane.oracle.model.cut)

    def _lane(self, number: int) -> Lane:
        if number not in self._lanes:
            first = self._changed.first(number, lanes(self._settings))
            self._lanes[number] = Lane.of(self._bench, self._settings, self._before(number), first)
        return self._lanes[number]
