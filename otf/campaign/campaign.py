"""A campaign: paths with different seeds, one after another or several at once, then a shrunk trace of each failure."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from functools import cached_property, partial
from uuid import uuid4

import anyio

from otf.adapter import Bench
from otf.adapter.bench_mistakes import empty_refused
from otf.adapter.child.faster import refused
from otf.adapter.kept import keeping
from otf.adapter.third_party import blaming, watched
from otf.campaign.changes import ChangedTransitions, keep_transitions, renew
from otf.campaign.confirm import ConfirmedPath, Confirmer, Counts
from otf.campaign.contact import FailedStarts
from otf.campaign.evidence import cover, new_evidence, passed_steps
from otf.campaign.journal import Journal
from otf.campaign.journal_lines import About, Knowledge
from otf.campaign.journal_reader import Past
from otf.campaign.lane_knowledge import Known, Merged
from otf.campaign.lanes import Executor, InProcess, Lease, trace_of
from otf.campaign.pace import burst, is_doubtful
from otf.campaign.paths import undisturbed
from otf.campaign.processes import Processes
from otf.campaign.recorder import inputs_in
from otf.campaign.reports import FailureReports, together
from otf.campaign.restored import is_idle, restore
from otf.campaign.results import KnownIssueCount, PathResult
from otf.campaign.saved import Saved
from otf.campaign.settings import Settings, Workers
from otf.campaign.summary import Listener, Summary
from otf.campaign.time_shares import Turns
from otf.errors import ContactError, UsageError
from otf.runner.path import AT_FAULT
from otf.runner.time_spent import spending
from otf.runner.writer import writing
from otf.spec.redrawing import redraw_of
from otf.strategy.kinds import known
from otf.trace.kinds import Kinds
from otf.trace.requirements import RequirementRecord
from otf.trace.verdict import Verdict


class Campaign:
    """A campaign on one `bench` with `settings`; `summary` contains the results so far, even after an interruption.

    The campaign calls the `listener` for each event, path and failure. If there are n jobs, each job drives every n-th
    path, and learns from other jobs only after a fixed number of paths. Therefore the seed and the number of jobs
    determine all paths, however fast each job is. `Campaign` raises UsageError for an unknown strategy, and for bursts
    on a bench whose clocks run fast.

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
            kinds=Kinds(parts=settings.group_by, drawn=redraw_of(bench.spec.inputs) is not None),
        )
        self.spent: float = 0.0  # seconds of `time` already spent when it begins
        self._lanes = settings.lanes
        # reports show what was seen at the system's own speed: part of a program may not follow a faster clock
        self._own = bench.at_speed(1)
        if bench.speed > 1 and (settings.burst or 1) > 1:
            raise refused(bench.speed, "a failure in a burst cannot be driven again at the system's own speed")
        self._strategy = known(settings.strategy)
        self._stop = False
        self._deadline = float("inf")
        self._reports: FailureReports | None = None
        self._turns: Turns
        self._past: Past
        self._left: dict[int, range] = {}
        self._under_way: set[int] = set()
        self._merged: Merged
        self._executor: Executor
        self._starts: FailedStarts
        self._journal: Journal

    async def run(self) -> Summary:
        """Drive all paths, then shrink the failures; return the summary. Raises ModelError if the model is broken."""
        if why := next(empty_refused(self.bench.spec), ""):
            raise UsageError(f"{why}{self.bench.made_at}")
        self.summary.parts.begin(self.spent)
        if self.settings.time is not None:
            self._deadline = anyio.current_time() + self.settings.time - self.spent
            if self.settings.spend and self.settings.resume:
                renew(self.settings.out, About.of(self.bench, self.settings), self._own.spec, self.settings.time)
        out, joins = self.settings.out, self.settings.resume
        with Journal(out, joins=joins) as self._journal, undisturbed(), watched():
            try:
                with spending(self.summary.spent):
                    async with keeping():
                        with blaming():
                            self._begin()
                            async with self._executor.running():
                                await self._drive()
            finally:
                self._end()
            self._conclude()
        return self.summary

    def _conclude(self) -> None:
        """Note whether anything was tested, the kinds of failure, and that nothing interrupted the campaign."""
        summary, spec = self.summary, self.bench.spec
        if self._past.counted and is_idle(self._past, summary):
            summary.rest(len(self._past.counted))
        # without inputs at the start, otf judges spontaneous outputs alone
        elif spec.emits is None or any(True for _ in spec.inputs(spec.initial)):
            summary.conclude(timed=self.settings.time is not None)
        if summary.failures or summary.result.guessed:
            self._journal.kinds(summary.names(), summary.result.guessed, full=summary.kinds.full)
        self._journal.completed(summary.trouble, summary.spent.shares())

    def _end(self) -> None:
        """Record what was under way and does not count, and what the campaign spent its time on."""
        traces = (trace_of(self.settings.out, number) for number in sorted(self._under_way))
        self.summary.unfinished = [*filter(None, map(inputs_in, traces))]
        self.summary.parts.to("end")
        self._journal.ended(self.summary.parts.seconds)

    def _begin(self) -> None:
        """Begin the journal; if the campaign continues, put its counted paths into the summary."""
        about, self._past = About.of(self.bench, self.settings), Past(self.settings.out)
        self._past.check(about)
        if not self._past.is_new:
            restore(self._past, self.summary, self.bench, about, self.settings)
        self._past.tidy()
        self._journal.begin(about, self._past.names)
        if self.settings.spend and self.settings.time is not None:
            keep_transitions(self.settings.out, self._own.spec, self.settings.time)
        self.summary.parts.expect(ChangedTransitions.of(self.settings.out).changed)
        self.summary.parts.tried(self._past.knowledge(self._past.counted).visits)
        every = range(1, self.settings.traces + 1)
        self._left = {lane: every[lane :: self._lanes] for lane in range(self._lanes)}
        self._merged = Merged(self._lanes, self._past, remote=self.settings.workers is not None)
        self._executor = self._executor_of(self.settings.workers)
        self._starts = FailedStarts(self._paths_end, self.summary, self._journal, self.listener)

    def _executor_of(self, workers: Workers | None) -> Executor:
        if workers is not None and workers.cluster:
            from otf.campaign.cluster import Cluster  # only useful with a cluster

            return Cluster(self.bench, self.settings, workers, self._merged.whole, self._paths_end)
        if workers is not None:
            return Processes(self.bench, self.settings, workers, self._merged.whole, self._paths_end)
        told = self.summary.taken_out
        return InProcess(self.bench, self.settings, self.listener, self._paths_end, self._aftermath, taken_out=told)

    async def _drive(self) -> None:
        part, saved = self.summary.parts.part, Saved.of(self.settings, self._own)
        if self.settings.time is not None:
            # at least half of the time, however long the start took: on a busy machine workers take seconds
            self._deadline = max(self._deadline, anyio.current_time() + self.settings.time / 2)
        # here too: around the executor's tasks, an error of a bench would arrive in a group
        with blaming():
            with part("saved failures"):
                await self._retry(saved)
            with part("clock"):
                if self.bench.speed > 1:
                    await self._executor.check_speed(self._deadline)
        self._reports = reports = FailureReports(
            self.settings,
            self.summary,
            self.listener,
            self._executor,
            self._starts,
            self._journal,
            saved,
            self._deadline,
            self._lose_contact,
        )
        self._turns = Turns(reports.waiting, reports.first)
        if self.settings.spend:
            self.summary.admit()
        with part("paths"):
            await self._paths()
        if not self.settings.spend:
            self.summary.admit()
        with part("shrinking"):
            await reports.rest()
        while self._goes_on:  # shrinking took less time than was reserved for it
            self._merged.go_on()
            with part("paths"):
                await self._paths()
            with part("shrinking"):
                await reports.rest()

    async def _retry(self, saved: Saved | None) -> None:
        if saved is None:
            return
        try:
            # a separate oracle: its memory of these runs must not change the paths
            async with aclosing(
                saved.retried(
                    self._own, self._own.oracle(), self.settings.out, self._deadline, self._executor.drive_saved
                )
            ) as retried:
                async for found in retried:
                    known = None if found.result is None else self._confirmer.known_issue(found.result)
                    each = found if known is None else replace(found, result=None, known_issue=known.says)
                    self.summary.saved.append(each)
                    self.summary.parts.saved += 1
                    self._journal.retried(each)
                    self._stop = self._stop or (self.settings.stop_first and each.result is not None)
        except ContactError as error:
            self._lose_contact(error)

    async def _paths(self) -> None:
        lanes = iter(range(self._lanes))

        async def work() -> None:
            await self._lane(next(lanes))

        await together(work, min(self._lanes, self.settings.traces))

    async def _lane(self, lane: int) -> None:
        while left := self._left[lane]:
            number = left[0]
            if number not in self._past.counted:
                known = await self._merged.known(number)
                async with self._turns.path():
                    if known is None or self._is_over:
                        self._merged.end()
                        return
                    try:
                        await self._drive_path(number, lane, known)
                    except ContactError as error:
                        self._lose_contact(error)
                        self._merged.end()
                        return
            self._left[lane] = left[1:]

    async def _drive_path(self, number: int, lane: int, known: Known) -> None:
        self._under_way.add(number)
        with blaming():
            result, learned = await self._path(number, lane, known)
            counts = partial(self._finish, driven=result, learned=learned)
            oracle, shows, path = self._executor.oracle(lane), None, ConfirmedPath(result)
            if result.verdict.failure is not None:
                path = await self._confirmed(result, lane, counts)
            record, others = self.summary.requirements, {*oracle.model.requirements, *self._strategy.req}
            if path.result.verdict.failure is not None or record.open(others):
                shows = await new_evidence(record, path.result, self.bench, oracle, self._strategy)
            if self.settings.covers is not None:
                await cover(self.settings.covers, result.trace, self.bench, oracle)
        counts(path, shows=shows)

    @cached_property
    def _confirmer(self) -> Confirmer:
        return Confirmer(self.bench, self.summary)

    async def _confirmed(self, failing: PathResult, lane: int, counts: Counts) -> ConfirmedPath:
        oracle = self._executor.oracle(lane)
        size = burst(self.bench, self.settings.burst, self.settings.seed, failing.number)
        doubtful = is_doubtful(self.bench, self.settings.mode, size)
        first = failing.upto(failing.verdict.failure)
        path = await self._confirmer.confirmed(first, oracle, partial(self._again, lane), counts, doubtful=doubtful)
        passed = (*passed_steps(oracle, path.result.events),)
        return path._replace(result=replace(path.result, passed=passed))

    async def _again(self, lane: int, failing: PathResult, first: str, *, strict: bool) -> ConfirmedPath:
        self.listener.confirming(failing.number)
        run = partial(self._executor.confirm, lane, failing, first, self._deadline, strict=strict)
        return await self._starts.reach(failing.number, run)

    @property
    def _is_over(self) -> bool:
        return self._stop or self._is_done or anyio.current_time() >= self._paths_end()

    @property
    def _goes_on(self) -> bool:
        """Return whether there is time for more paths after shrinking the failures so far."""
        return self.settings.time is not None and not self._is_over and any(self._left.values())

    @property
    def _is_done(self) -> bool:
        return self._strategy.done() or (self.settings.decides and not self.summary.requirements.open())

    def _paths_end(self) -> float:
        """Return when the last path begins: as long as there is a failure to shrink, reserve time for that."""
        if self.settings.time is None or self.settings.spend or not self.settings.shrink:
            return self._deadline
        return self._deadline - (0.0 if self._reports is None else self._reports.reserve)

    async def _path(self, number: int, lane: int, known: Known) -> tuple[PathResult, Knowledge]:
        """Run a path; rerun it if the line was at fault, as often as the bench allows."""
        learned, left = Knowledge(), self.bench.retries
        while True:
            result = await self._attempt(Lease(number, lane, uuid4().hex[:12], known), learned)
            if not left or not result.verdict.why.startswith(AT_FAULT):
                return result, learned
            left -= 1

    async def _attempt(self, lease: Lease, learned: Knowledge) -> PathResult:
        number, knows = lease.number, self._merged.reach(lease.number)
        with self._journal.path(lease.run, number, trace_of(self.settings.out, number), knows) as done:
            leased = await self._starts.reach(number, lambda: self._executor.drive(lease))
            done(leased.result)
        if leased.deaths:
            self._journal.driven_again(lease.run, number, leased.deaths)
        learned.add(leased.learned)
        self.summary.cut |= leased.cut
        return leased.result

    def _aftermath(self, verdict: Verdict) -> float:
        """Return how long to listen after a failure: what follows a known one has been seen before."""
        failure, found = verdict.failure, self.summary
        known = failure is None or found.kinds.as_added(failure.signature) in found.failures
        return 0.0 if known else self.settings.aftermath

    def _finish(
        self, path: ConfirmedPath, driven: PathResult, learned: Knowledge, shows: RequirementRecord | None = None
    ) -> None:
        if path.trouble is not None:
            self._lose_contact(path.trouble)
        result, failure = path.result, path.result.verdict.failure
        known_issue = None if failure is None else self._confirmer.known_issue(result)
        self._under_way.discard(result.number)
        self.summary.add(result, path.tries, path.known, known_issue, driven)
        if result.verdict.failed and driven.verdict.behind:
            self.summary.behind(driven, self.bench.known_issue)
        self.summary.parts.tried(learned.visits)
        self.summary.parts.paths += 1
        self._journal.counted(path, driven, "" if known_issue is None else known_issue.says, learned, shows)
        self.summary.requirements.add(shows or RequirementRecord())
        self._merged.add(result.number, learned)
        self.listener.path(result, self.summary)
        if result.verdict.outcome == "pass" and self.settings.keep == "failures":
            with writing(result.trace, "what passed"):
                result.trace.unlink(missing_ok=True)
        elif result.digest:
            self._journal.keeps()
        self._stop = self._stop or (self.settings.stop_first and result.verdict.failed and known_issue is None)

    def _lose_contact(self, error: ContactError) -> None:
        before = "; paths before this one reached it: it may have died since" if self.summary.steps else ""
        self.summary.trouble = f"{error}{before}"
        self._stop = True
