"""The kinds of failure that a campaign finds: it shrinks each, saves it for the next campaign, and reports it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, TypeAlias

import anyio

from otf.adapter.third_party import ungrouped
from otf.campaign.confirm import DROPPED
from otf.campaign.contact import FailedStarts
from otf.campaign.journal import Journal
from otf.campaign.lanes import Executor, ShrinkTask, ShrinkWatch
from otf.campaign.recorder import header_of
from otf.campaign.results import STRICT, FailureGroup, PathResult, Shrunk
from otf.campaign.saved import Saved
from otf.campaign.settings import Settings
from otf.campaign.shrinking import INTERRUPTED
from otf.campaign.summary import Listener, Summary
from otf.errors import ContactError
from otf.runner.writer import TraceWriter
from otf.shrink.defects import (
    Answer,
    Asking,
    Found,
    Inputs,
    one_defect,
    shrunk_failure,
)
from otf.shrink.failing_ways import COMPARED, FailingRun, FailingWay, one_run, told_apart, way_to
from otf.shrink.issue import issue_of
from otf.shrink.shortest_ways import ModelMap
from otf.trace.events import Event, Quiet, Sent
from otf.trace.record import Header
from otf.trace.verdict import Failure, Signature

SHARE: Final = 0.3  # of the time, reserved for shrinking once a path has failed
KNOWN: Final = 5.0
"""Seconds in which a campaign shrinks all its known issues, since it is not run for them."""
LEAST: Final = 0.2  # seconds: in less, nothing is shrunk
ASKED: Final = ".asked.jsonl"
"""The ending of the trace, later deleted, of a run that tells whether two kinds are one."""
ShrunkRun: TypeAlias = tuple[Failure, Sequence[Event]]
LOST: Final = "the contact to the system was lost"


class FailureReports:
    """Shrinks, saves and reports the kinds of failure of a campaign, between its paths or at its end.

    It calls `lost` if contact with the system is lost.
    """

    def __init__(  # noqa: PLR0913, PLR0917 -- what a campaign has, each once
        self,
        settings: Settings,
        summary: Summary,
        listener: Listener,
        executor: Executor,
        starts: FailedStarts,
        journal: Journal,
        saved: Saved | None,
        deadline: float,
        lost: Callable[[ContactError], None],
    ) -> None:
        self._settings, self._summary, self._listener = settings, summary, listener
        self._executor, self._starts, self._journal, self._saved = executor, starts, journal, saved
        self._deadline, self._lost = deadline, lost
        self._final = set[Signature]()
        self._on_known = 0.0

    @property
    def new(self) -> list[FailureGroup]:
        """Return the kinds of failure that are neither shrunk nor final."""
        return [group for signature, group in self._summary.failures.items() if signature not in self._final]

    @property
    def reserve(self) -> float:
        """Return the seconds of a bounded time reserved for shrinking what was found so far."""
        share = SHARE * (self._settings.time or 0.0)
        return share if self.new else min(share, KNOWN - self._on_known) if self._known else 0.0

    @property
    def _known(self) -> list[tuple[str, FailureGroup]]:
        """Return the known issues that a path showed, but whose run has not been shrunk."""
        shown = [(each.says, each.group) for each in self._summary.known_issues if each.group is not None]
        return [(says, group) for says, group in shown if group.shrunk is None and not group.unshrunk]

    def waiting(self) -> bool:
        """Return whether to shrink a kind of failure before the next path, and there is time for that."""
        return self._settings.spend and bool(self.new) and self._between >= LEAST

    @property
    def _between(self) -> float:
        """Return the seconds that shrinking between paths may still take."""
        whole = SHARE * (self._settings.time or 0.0) - self._summary.parts.seconds.get("shrinking", 0.0)
        return min(whole, self._deadline - anyio.current_time())

    async def first(self) -> None:
        """Shrink the first new kind of failure, reserving some time for kinds found later."""
        group = self.new[0]
        with self._summary.parts.part("shrinking"):
            if self._settings.shrink and self._to_shrink(group):
                await self._shrink(group, max(LEAST, self._between / (1 + len(self.new))))
            self._summary.merge_shrunk()
            if (now := self._summary.now(group)).signature not in self._final:
                self._report(now)

    async def rest(self) -> None:
        """Shrink all new kinds, several at a time if there are workers, then report them in order."""
        await self._confirm_guessed()
        if self._summary.failures:
            self._summary.regroup()
            await self._shrink_new()
        for group in self.new:
            self._report(group)
        if self._settings.shrink and not self._summary.trouble:
            await self._shrink_known()

    async def _shrink_new(self) -> None:
        groups = self.new
        first = {group.signature for group in groups}
        await self._shrink_all(groups)
        if self._settings.group_by is None:
            await self._tell_apart()
            await self._shrink_all([group for group in self.new if group.signature not in first])
            await self._merge()

    async def _shrink_all(self, groups: Sequence[FailureGroup]) -> None:
        at_once = self._executor.together
        waiting, lanes = iter(enumerate(groups)), iter(range(at_once))

        async def work() -> None:
            lane = next(lanes)
            for at, group in waiting:
                if self._settings.shrink and self._to_shrink(group):
                    turns = -(-(len(groups) - at) // at_once)
                    await self._shrink(group, (self._deadline - anyio.current_time()) / turns, lane)

        await together(work, min(at_once, len(groups)))
        self._summary.merge_shrunk()

    async def _shrink_known(self) -> None:
        left = self._known
        for at, (says, group) in enumerate(left):
            began = anyio.current_time()
            seconds = min(self._deadline - began, (KNOWN - self._on_known) / (len(left) - at))
            await self._shrink(group, seconds, name=says)
            if group.shrunk is not None and not group.shrunk.before:
                group.shrunk, group.unshrunk = None, "it did not recur"
            self._on_known += anyio.current_time() - began

    async def _confirm_guessed(self) -> None:
        """Look for runs that show, without a guess, what failed behind one."""
        for guessed in self._summary.unconfirmed():
            if guessed.tried or anyio.current_time() >= self._deadline:
                continue
            guessed.tried = True
            try:
                found = await self._again(guessed.first, strict=True)
            except ContactError as error:
                self._lost(error)
                return
            failure = found.verdict.failure
            if failure is not None:
                guessed.confirmed = True
                self._summary.failed(FailureGroup(failure.signature, found, count=0, behind=True))

    async def _again(self, failing: PathResult, *, strict: bool) -> PathResult:
        run = partial(self._executor.confirm, self._lane(failing, 0), failing, "", self._deadline, strict=strict)
        return (await self._starts.reach(failing.number, run)).result

    def _lane(self, failing: PathResult, lane: int) -> int:
        # only one process knows which of its devices are free
        own = self._settings.device is not None and self._executor.together == 1
        return self._settings.lane_of(failing.number) if own else lane

    def _to_shrink(self, group: FailureGroup) -> bool:
        """Return whether to shrink a kind: not if it turned out to be the same as a shrunk one."""
        self._summary.merge_shrunk()
        return self._summary.now(group) is group and group.shrunk is None

    async def _tell_apart(self) -> None:
        """Ask the system, to tell apart the defects of one kind whose shortest runs differ."""
        oracle = self._executor.oracle(0)
        ways = ModelMap(oracle)
        for group in () if oracle.model.timed else self.new:
            failure = None if group.shrunk is None else group.shrunk.verdict.failure
            others = [] if failure is None else self._summary.with_other_inputs(group, failure)[:COMPARED]
            shown = way_to(ways, oracle, group.shrunk.events) if group.shrunk is not None and others else None
            if shown is None:
                continue
            failures = defaultdict[FailingWay, list[FailureGroup]](list)
            for each in others:
                if (way := way_to(ways, oracle, each.first.events)) is not None:
                    failures[way].append(each)
            for defect in await self._answered(told_apart(shown, [*failures]), group.first) or ():
                self._summary.tell_apart(group, [each for way in defect for each in failures[way]])

    async def _merge(self) -> None:
        """Merge kinds that one run shows, or one wrong step explains: their shrunk runs tell, and the system."""
        oracle = self._executor.oracle(0)
        await self._merge_by(
            lambda runs: one_run([FailingRun(failure, issue_of(oracle, events).inputs) for failure, events in runs])
        )
        await self._merge_by(lambda runs: one_defect([shrunk_failure(oracle, events) for _, events in runs]))

    async def _merge_by(self, ask: Callable[[Sequence[ShrunkRun]], Asking[dict[int, int]]]) -> None:
        groups = [(group, run) for group in self._summary.failures.values() if (run := _shrunk_run(group)) is not None]
        if len(groups) < 2:  # noqa: PLR2004 -- a pair
            return
        found = await self._answered(ask([run for _, run in groups]), groups[0][0].first)
        for other, first in (found or {}).items():
            self._summary.merge(groups[other][0], groups[first][0])

    async def _answered(self, asking: Asking[Found], path: PathResult) -> Found | None:
        """Ask the system, and return the conclusion; None if it is lost. `path` is one that failed."""
        answer: Answer = None
        try:
            inputs = next(asking)
            while True:
                answer = await self._fails(path, inputs) if anyio.current_time() < self._deadline else None
                inputs = asking.send(answer)
        except StopIteration as done:
            found: Found = done.value
            return found
        except ContactError as error:
            self._lost(error)
            return None

    async def _fails(self, path: PathResult, inputs: Inputs) -> Answer:
        # all at once: a re-run pauses as long as the run before
        events = [each for inp in inputs for each in (Sent(inp.value, "", 0.0), Quiet(0.0))]
        trace = path.trace.with_name(f"{path.trace.name}{ASKED}")
        run = replace(path, events=(*events,), trace=trace)
        try:
            _write(run, header_of(path.trace))
            again = await self._again(run, strict=False)
        finally:
            for each in (trace, trace.with_suffix(STRICT)):
                each.unlink(missing_ok=True)
        if again.verdict.failure is None:
            return False
        return again.verdict.failure.signature if again.steps == len(inputs) else None

    def _report(self, group: FailureGroup) -> None:
        self._final.add(group.signature)
        shortest = group.shrunk or group.first
        if self._saved is not None and shortest.events and (group.shrunk is None or group.shrunk.rate):
            self._saved.keep(group.signature, shortest.trace, self._summary.kept(group))
        self._listener.failure(group)

    def _new_only(self, shrunk: Shrunk) -> Shrunk:
        kinds, known = self._summary.kinds, self._summary.failures
        others = [
            each
            for each in shrunk.others
            if each.verdict.failure and kinds.as_added(each.verdict.failure.signature) not in known
        ]
        return replace(shrunk, others=others)

    async def _shrink(self, group: FailureGroup, seconds: float, lane: int = 0, name: str = "") -> None:
        """Shrink a failure where a lane drives its paths, in at most `seconds`."""
        if not group.first.events:
            group.unshrunk = DROPPED
            return
        if seconds < LEAST:
            group.unshrunk = "the time of the run was used up"
            return

        def progress(length: int, transitions: int) -> None:
            self._listener.shrinking(group, length, transitions)

        def found(shrunk: Shrunk) -> None:
            group.shrunk = shrunk

        def search() -> Awaitable[Shrunk]:
            # after a failed start it begins anew, in the time that is left
            left = max(0.0, until - anyio.current_time())
            return self._executor.shrink(self._lane(first, lane), ShrinkTask(first, left, confirmed, scope), watch)

        watch, (first, scope) = ShrinkWatch(progress, found), self._summary.to_shrink(group)
        confirmed = group.tries == 1 and first.trace.name.endswith(STRICT)
        until = anyio.current_time() + seconds
        group.unshrunk = INTERRUPTED
        try:
            shrunk = await self._starts.reach(first.number, search)
            group.shrunk, group.unshrunk = (self._new_only(shrunk), "") if shrunk.tried else (None, shrunk.ended)
        except ContactError as error:
            # the failure stays found, as short as it is now
            self._lost(error)
            group.unshrunk = LOST
            if group.shrunk is not None:
                group.shrunk = replace(group.shrunk, ended=LOST)
        self._journal.shrunk(name or str(group.signature), group)


def _shrunk_run(group: FailureGroup) -> ShrunkRun | None:
    failure = None if group.shrunk is None else group.shrunk.verdict.failure
    return None if group.shrunk is None or failure is None else (failure, group.shrunk.events)


def _write(run: PathResult, header: Header) -> None:
    """Write the trace of a run, since a worker drives inputs from a trace."""
    writer = TraceWriter(run.trace, header, datetime.now(UTC))
    for event in run.events:
        writer.event(event)
    writer.end(run.verdict)
    writer.close()


async def together(work: Callable[[], Coroutine[Any, Any, None]], times: int) -> None:
    """Do the work that many times, all at once."""
    if times == 1:
        await work()
        return
    with ungrouped():
        async with anyio.create_task_group() as tasks:
            for _ in range(times):
                tasks.start_soon(work)
