"""A campaign: paths with different seeds, one after another or several at once, then a shrunk trace of each failure."""

from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import aclosing, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Final
from uuid import uuid4

import anyio

from otf.adapter import Bench
from otf.adapter.child.faster import refused
from otf.adapter.exits import blaming, watched
from otf.adapter.serial import keeping
from otf.campaign.cluster import Cluster
from otf.campaign.confirm import STRICT, ConfirmedPath, Confirmer, DriveAgain
from otf.campaign.journal import Journal
from otf.campaign.knowledge import Knowledge
from otf.campaign.lanes import Executor, InProcess, Lease, ShrinkWatch, trace_of
from otf.campaign.listener import Listener
from otf.campaign.merged import Known, Merged
from otf.campaign.past import About, Past
from otf.campaign.paths import Pace
from otf.campaign.processes import Processes
from otf.campaign.requirements import note_requirements
from otf.campaign.results import FailureGroup, KnownIssueCount, PathResult, Shrunk, Summary
from otf.campaign.saved import Saved
from otf.campaign.settings import Settings, Workers, header
from otf.campaign.shrinking import INTERRUPTED
from otf.campaign.speed import check_speed
from otf.errors import ContactError, OtfError
from otf.runner.path import AT_FAULT
from otf.runner.time_spent import spending
from otf.runner.writer import writing
from otf.strategy.kinds import known
from otf.trace.requirements import RequirementRecord
from otf.trace.verdict import Verdict

SHARE: Final = 0.3  # of the time, left for shrinking once a path has failed
LEAST: Final = 0.2  # seconds: in less, nothing is shrunk
LOST: Final = "the contact to the system was lost"
SELDOM: Final = 100  # the oldest objects are searched for garbage this many times less often than usual


class Campaign:
    """One campaign on one bench; `summary` has its results so far, also after an interruption.

    Each of n jobs takes every n-th path, and knows of the others what they learned some paths ago: the same seed and
    number of jobs give the same paths, whatever the speed of each job.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from otf.models.coffee import bench
    >>> with TemporaryDirectory() as folder:
    ...     campaign = Campaign(bench(), Settings(out=Path(folder, "out"), traces=2, steps=10))
    ...     summary = anyio.run(campaign.run)
    >>> summary.verdict, summary.paths
    ('pass', 2)
    """

    def __init__(self, bench: Bench, settings: Settings, listener: Listener | None = None) -> None:
        self.bench = bench
        self.settings = settings
        self.listener: Listener = listener or Listener()
        self.summary: Summary = Summary(
            known_issues=[KnownIssueCount(issue.says) for issue in bench.known_issues],
            requirements=RequirementRecord(bench.requirements),
        )
        self._lanes = settings.lanes
        # what is reported was seen at the system's own speed: a program may follow a faster clock in part only
        self._own = bench.at_speed(1)
        self._confirmer = Confirmer(bench, self.summary)
        if bench.speed > 1 and settings.burst > 1:
            raise refused(bench.speed, "a failure in a burst cannot be driven again at the system's own speed")
        self._done = known(settings.strategy).done
        self._stop = False
        self._deadline = float("inf")
        self._past: Past
        self._merged: Merged
        self._executor: Executor

    async def run(self) -> Summary:
        """Run all paths, then shrink; return the summary. Raises ModelError if the model is broken."""
        if self.settings.time is not None:
            self._deadline = anyio.current_time() + self.settings.time
        out, joins = self.settings.out, self.settings.resume
        with Journal(out, joins=joins) as journal, undisturbed(), watched():
            with spending(self.summary.spent):
                async with keeping():
                    with blaming():
                        self._begin(journal)
                        await self._all(journal)
            journal.completed(self.summary.trouble, self.summary.spent.shares())
        return self.summary

    def _begin(self, journal: Journal) -> None:
        """Begin the journal; of a campaign that continues, the counted paths are in the summary then."""
        about, self._past = About.of(self.bench, self.settings), Past(self.settings.out)
        self._past.check(about)
        self._past.restore(self.summary, self.bench)
        self._past.tidy()
        journal.begin(about, self._past.names)
        self._merged = Merged(self._lanes, self._past, remote=self.settings.workers is not None)
        self._executor = self._executor_of(self.settings.workers)

    def _executor_of(self, workers: Workers | None) -> Executor:
        def ends() -> float:
            return self._paths_end

        if workers is not None and workers.cluster:
            return Cluster(self.bench, self.settings, workers, self._merged.whole, ends)
        if workers is not None:
            return Processes(self.bench, self.settings, workers, self._merged.whole, ends)
        return InProcess(self.bench, self.settings, self.listener, ends, self._aftermath)

    async def _all(self, journal: Journal) -> None:
        await self._retry(journal)
        await check_speed(self.bench, self.settings, self._deadline)
        async with self._executor.running():
            await self._paths(journal)
            self.summary.admit()
            await self._shrink_all(journal)

    async def _retry(self, journal: Journal) -> None:
        """Drive the failures of earlier campaigns first."""
        saved = self._saved()
        if saved is None:
            return
        try:
            # an oracle of its own: its memory of these runs must not change the paths
            async with aclosing(
                saved.retried(self._own, self._own.oracle(), self.settings.out, self._deadline)
            ) as retried:
                async for found in retried:
                    known = None if found.result is None else self._confirmer.known_issue(found.result)
                    each = found if known is None else replace(found, result=None, known_issue=known.says)
                    self.summary.saved.append(each)
                    journal.retried(each)
                    self._stop = self._stop or (self.settings.stop_first and each.result is not None)
        except ContactError as error:
            self._lost(error)

    def _keep(self, group: FailureGroup) -> None:
        saved, shortest = self._saved(), group.shrunk or group.first
        if saved is not None and (group.shrunk is None or group.shrunk.rate):
            saved.keep(group.signature, shortest.trace)

    def _saved(self) -> Saved | None:
        if self.settings.saved is None:
            return None
        head = header(self._own, replace(self.settings, mode="strict"), 0, strategy="script")
        return Saved(self.settings.saved, head, self.settings.where)

    async def _paths(self, journal: Journal) -> None:
        lanes = iter(range(self._lanes))

        async def work() -> None:
            await self._lane(next(lanes), journal)

        await _together(work, min(self._lanes, self.settings.traces))

    async def _lane(self, lane: int, journal: Journal) -> None:
        numbers = range(lane + 1, self.settings.traces + 1, self._lanes)
        for number in (each for each in numbers if each not in self._past.counted):
            known = await self._merged.known(number)
            if known is None or self._stop or self._done() or anyio.current_time() >= self._paths_end:
                break
            try:
                with blaming():
                    result, learned = await self._path(number, lane, known, journal)
                    counts = partial(self._finish, driven=result, learned=learned, journal=journal)
                    oracle, again = self._executor.oracle(lane), self._again(lane)
                    path = await self._confirmer.confirmed(result, oracle, again, counts, doubtful=self._doubtful)
                    await note_requirements(self.summary.requirements, path.result, self.bench, oracle)
            except ContactError as error:
                self._lost(error)
                break
            counts(path)
        else:
            return
        self._merged.end()

    def _again(self, lane: int) -> DriveAgain:
        def again(failing: PathResult, first: str, *, strict: bool) -> Awaitable[ConfirmedPath]:
            return self._executor.confirm(lane, failing, first, self._deadline, strict=strict)

        return again

    @property
    def _doubtful(self) -> bool:
        settings, waits = self.settings, self.bench.system is None
        return Pace(settings.mode, settings.burst, self.bench.timing, waits=waits).doubtful or self.bench.speed > 1

    @property
    def _paths_end(self) -> float:
        """Return when the last path begins: once there is a failure to shrink, some of the time is left for that."""
        if not self.summary.failures or not self.settings.shrink or self.settings.time is None:
            return self._deadline
        return self._deadline - SHARE * self.settings.time

    async def _path(self, number: int, lane: int, known: Known, journal: Journal) -> tuple[PathResult, Knowledge]:
        """Run a path; run it again if the line was at fault, as often as the bench allows."""
        learned = Knowledge()
        for _ in range(self.bench.retries):
            result = await self._attempt(Lease(number, lane, uuid4().hex[:12], known), journal, learned)
            if not result.verdict.why.startswith(AT_FAULT):
                return result, learned
        return await self._attempt(Lease(number, lane, uuid4().hex[:12], known), journal, learned), learned

    async def _attempt(self, lease: Lease, journal: Journal, learned: Knowledge) -> PathResult:
        number, knows = lease.number, self._merged.reach(lease.number)
        with journal.path(lease.run, number, trace_of(self.settings.out, number), knows) as done:
            leased = await self._executor.drive(lease)
            done(leased.result)
        if leased.deaths:
            journal.driven_again(lease.run, number, leased.deaths)
        learned.add(leased.learned)
        self.summary.cut |= leased.cut
        return leased.result

    def _aftermath(self, verdict: Verdict) -> float:
        """Return for how long the ports are heard after a failure: what follows a known one has been seen."""
        known = verdict.failure is None or verdict.failure.signature in self.summary.failures
        return 0.0 if known else self.settings.aftermath

    def _finish(self, path: ConfirmedPath, driven: PathResult, learned: Knowledge, journal: Journal) -> None:
        if path.trouble is not None:
            self._lost(path.trouble)
        result, known_issue = path.result, self._confirmer.known_issue(path.result)
        self.summary.add(result, path.tries, path.known, known_issue, driven)
        journal.counted(path, driven, "" if known_issue is None else known_issue.says, learned)
        self._merged.add(result.number, learned)
        self.listener.path(result, self.summary)
        if result.verdict.outcome == "pass" and self.settings.keep == "failures":
            with writing(result.trace, "what passed"):
                result.trace.unlink(missing_ok=True)
        self._stop = self._stop or (self.settings.stop_first and result.verdict.failed and known_issue is None)

    def _lost(self, error: ContactError) -> None:
        before = "; paths before this one reached it: it may have died since" if self.summary.steps else ""
        self.summary.trouble = f"{error}{before}"
        self._stop = True

    async def _shrink_all(self, journal: Journal) -> None:
        """Shrink all failures, several at the same time if there are workers, and report them in their order."""
        groups, together = [*self.summary.failures.values()], self._executor.together
        waiting, reported, done = iter(enumerate(groups)), 0, set[int]()

        async def work() -> None:
            nonlocal reported
            for at, group in waiting:
                if self.settings.shrink and group.shrunk is None:
                    turns = -(-(len(groups) - at) // together)
                    await self._shrink(group, journal, (self._deadline - anyio.current_time()) / turns)
                done.add(at)
                while reported in done:
                    self._keep(groups[reported])
                    self.listener.failure(groups[reported])
                    reported += 1

        await _together(work, min(together, len(groups)))

    async def _shrink(self, group: FailureGroup, journal: Journal, seconds: float) -> None:
        """Shrink a failure, in at most so many seconds."""
        if seconds < LEAST:
            group.unshrunk = "the time of the run was used up"
            return

        def progress(length: int, transitions: int) -> None:
            self.listener.shrinking(group, length, transitions)

        def found(shrunk: Shrunk) -> None:
            group.shrunk = shrunk

        watch = ShrinkWatch(progress, found)
        confirmed = group.tries == 1 and group.first.trace.name.endswith(STRICT)
        group.unshrunk = INTERRUPTED
        try:
            shrunk = await self._executor.shrink(group.first, seconds, watch, confirmed=confirmed)
            group.shrunk, group.unshrunk = (shrunk, "") if shrunk.tried else (None, shrunk.ended)
        except ContactError as error:
            # the failure stays found, as short as it is now
            self._lost(error)
            group.unshrunk = LOST
            if group.shrunk is not None:
                group.shrunk = replace(group.shrunk, ended=LOST)
        journal.shrunk(group)


async def _together(work: Callable[[], Coroutine[Any, Any, None]], times: int) -> None:
    """Do something several times at the same time."""
    if times == 1:
        await work()
        return
    try:
        async with anyio.create_task_group() as tasks:
            for _ in range(times):
                tasks.start_soon(work)
    except* OtfError as group:
        # all fail for the same reason; a group would hide the message with its advice
        raise group.exceptions[0] from None


@contextmanager
def undisturbed() -> Generator[None, None, None]:
    """Exclude all existing objects from garbage collection until the context is left.

    Searching all modules and models takes ten milliseconds and more, in which the tester neither sends nor receives:
    under time windows an output may come in that time. Objects made during a run are collected as before, but the
    oldest generation a hundred times less often: the core remembers 100,000 answers without any cycle among them, and
    searching these takes a third of a second. Objects that were frozen before stay frozen.
    """
    young, middle, old = gc.get_threshold()
    ours = gc.get_freeze_count() == 0
    if ours:
        gc.freeze()
    gc.set_threshold(young, middle, old * SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)
        if ours:
            gc.unfreeze()
