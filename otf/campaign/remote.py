"""Drives paths in other processes: a lease becomes a line of JSON for a worker, which answers with another line.

A worker's answers are decoded into declared types, and events are read from the traces. Local processes and a cluster
share only this; they differ in how a line gets to a worker, and a cluster uses pickle.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal

import anyio
import msgspec

from otf.adapter import Bench
from otf.campaign.confirm import ConfirmedPath
from otf.campaign.contact import NoWorkersError
from otf.campaign.journal_lines import Knowledge, ShrunkLine
from otf.campaign.lane_knowledge import Known
from otf.campaign.lanes import Executor, Lease, Leased, ShrinkTask, ShrinkWatch
from otf.campaign.recorder import reread
from otf.campaign.restored import shrunk_of
from otf.campaign.results import PathResult, Shrunk
from otf.campaign.settings import Settings, Workers
from otf.core import Oracle
from otf.errors import ContactError, ModelError, OtfError, TraceError, UsageError, WriteError
from otf.runner.time_spent import TimeSpent, spent
from otf.trace.kinds import Scope
from otf.trace.verdict import Verdict

STOPPING: Final = 5.0  # seconds for a worker to say what an interrupted search has found
DEATHS: Final = 4
"""Workers that one path may kill before the campaign ends: a path that kills its tester would go on for ever."""
ERRORS: Final = {kind.__name__: kind for kind in (ContactError, ModelError, TraceError, UsageError, WriteError)}


SAME: Final = (
    *("number", "verdict", "steps", "faults", "unwritten", "silence"),
    *("seconds", "short", "malformed", "together", "digest", "heard"),
)
"""The fields that a run and its line share."""


class ResultLine(msgspec.Struct, omit_defaults=True):
    """A worker's result, as it writes it; `error` and its `kind` if it has none. `trace` is the name of the file.

    `lacks`: the worker has not driven the path, since it lacks some of the path's knowledge or changed transitions.
    `tries` counts the runs that confirmed a failure, or left it undecided (`again`). `time` is what the job took.
    """

    job: int
    number: int = 0
    verdict: Verdict = msgspec.field(default_factory=lambda: Verdict("inconclusive"))
    steps: int = 0
    trace: str = ""
    faults: tuple[str, ...] = ()
    unwritten: str = ""
    silence: str = ""
    seconds: float = 0.0
    short: bool = False
    malformed: int = 0
    together: int = 0
    digest: str = ""
    heard: bool = True
    learned: Knowledge = msgspec.field(default_factory=Knowledge)
    cut: bool = False
    lacks: bool = False
    tries: int = 0
    again: bool = False
    shrunk: ShrunkLine | None = None
    time: TimeSpent = msgspec.field(default_factory=TimeSpent)
    error: str = ""
    kind: str = ""

    @classmethod
    def of(cls, job: int, result: PathResult) -> ResultLine:
        """Return the line of a run."""
        same: dict[str, Any] = {name: getattr(result, name) for name in SAME}
        return cls(job, trace=result.trace.name, **same)

    def result(self, settings: Settings, bench: Bench) -> PathResult:
        """Return the run, with its trace in the campaign's folder. Raises TraceError if that cannot be read."""
        # only a name, so whatever a worker says leads nowhere else
        trace = settings.out / Path(self.trace).name
        events = reread(trace, bench) if self.verdict.failed else ()
        same: dict[str, Any] = {name: getattr(self, name) for name in SAME}
        return PathResult(trace=trace, events=events, **same)


class JobLine(msgspec.Struct, omit_defaults=True):
    """A worker's job, as it reads it: drive a leased path, or confirm, shrink or retry the `failing` one.

    `retry` is for a failure of an earlier campaign; the answer is a pass if all runs pass. `stop` ends the search of
    this `job`; its answer is the shortest trace so far. `seconds` are those left for it; `strict`, `first` and
    `confirmed` tell `confirm` and `Shrinker` about the failing run. `looks`: the path first tries changed transitions;
    `changed` lists them for a worker that does not know them yet. `scope` tells the kind to shrink from others.
    """

    job: int
    does: Literal["drive", "confirm", "shrink", "stop", "retry"] = "drive"
    number: int = 0
    lane: int = 0
    run: str = ""
    known: Known = msgspec.field(default_factory=Known)
    seconds: float | None = None
    failing: ResultLine | None = None
    strict: bool = False
    first: str = ""
    confirmed: bool = False
    looks: bool = False
    changed: list[str] = []
    scope: Scope = msgspec.field(default_factory=Scope)


class WorkerDiedError(Exception):
    """A worker ended with a path under way."""


class Remote(Executor):
    """An executor whose paths other processes drive.

    `whole` adds to a path's knowledge all that a new worker lacks; `ends` returns the moment at which a path ends,
    whatever it did.
    """

    def __init__(
        self,
        bench: Bench,
        settings: Settings,
        workers: Workers,
        whole: Callable[[Known], Known],
        ends: Callable[[], float],
    ) -> None:
        super().__init__(bench, settings)
        self.workers, self._whole, self._ends = workers, whole, ends
        self._oracle = bench.oracle()
        self._jobs = count(1)

    @abstractmethod
    async def ask(self, line: JobLine) -> ResultLine:
        """Have a worker do something. Raises WorkerDiedError; ContactError if there can be no more workers."""

    @abstractmethod
    async def stop(self, line: JobLine) -> ResultLine | None:
        """Stop a search that nothing waits for any more; return its answer, or None."""

    def oracle(self, lane: int) -> Oracle:
        """Return the oracle of this process, which asks the model again."""
        del lane
        return self._oracle

    async def drive(self, lease: Lease) -> Leased:
        """Drive a path in a worker."""
        changed = self._changed(lease.lane)
        line = JobLine(0, "drive", *lease, looks=bool(changed))
        found, deaths = await self._ask(line)
        if found.lacks:
            whole = msgspec.structs.replace(line, known=self._whole(lease.known), changed=changed)
            found, more = await self._ask(whole)
            deaths += more
        return Leased(found.result(self.settings, self.bench), found.learned, found.cut, deaths)

    def _changed(self, lane: int) -> list[str]:
        """Return a lane's changed transitions if workers cannot see them; those on this machine see the folder."""
        del lane
        return []

    async def confirm(self, lane: int, failing: PathResult, first: str, until: float, *, strict: bool) -> ConfirmedPath:
        """Drive a failing path again in a worker."""
        line = JobLine(
            0, "confirm", failing.number, lane, failing=ResultLine.of(0, failing), strict=strict, first=first
        )
        found, _ = await self._ask(line, until - anyio.current_time())
        return ConfirmedPath(found.result(self.settings, self.bench), found.tries, again=found.again)

    async def shrink(self, lane: int, task: ShrinkTask, watch: ShrinkWatch) -> Shrunk:
        """Shrink a failing path in a worker; there is no progress to show, and the findings come at the end."""
        failing, seconds, confirmed, scope = task
        job = JobLine(0, "shrink", failing.number, lane, failing=ResultLine.of(0, failing), confirmed=confirmed)
        job.scope = scope
        try:
            found, _ = await self._ask(job, seconds)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True), anyio.move_on_after(STOPPING):
                left = await self.stop(job)
                shrunk = None if left is None else self._shrunk(left, failing)
                if shrunk is not None and watch.found is not None:
                    watch.found(shrunk)
            raise
        shrunk = self._shrunk(found, failing)
        if shrunk is None:
            message = f"{failing.trace}: a worker shrank it, and the shrunk trace cannot be read"
            raise TraceError(message)
        return shrunk

    def _shrunk(self, found: ResultLine, failing: PathResult) -> Shrunk | None:
        line = found.shrunk
        return None if line is None else shrunk_of(self.settings.out, line, failing.number, self.bench)

    async def _ask(self, line: JobLine, seconds: float | None = None) -> tuple[ResultLine, int]:
        """Return an answer without an error, and how many workers died before one gave it."""
        last = ""
        for deaths in range(DEATHS):
            left = self._ends() - anyio.current_time() if seconds is None else seconds
            line.job, line.seconds = next(self._jobs), None if left == float("inf") else left
            try:
                found = await self.ask(line)
            except WorkerDiedError as died:
                last = f", the last with {died}" if died.args else ""
                continue
            spent().add(found.time)
            if found.error:
                raise ERRORS.get(found.kind, OtfError)(found.error)
            return found, deaths
        message = f"{DEATHS} worker processes died of path {line.number}{last}: drive it alone, without --processes"
        raise NoWorkersError(message)
