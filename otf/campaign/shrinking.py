"""Shrinking on the real system: the candidates of the pure shrinker, each driven against a fresh copy."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Final

import anyio
from anyio.lowlevel import checkpoint

from otf.adapter import Bench
from otf.adapter.exits import watched
from otf.adapter.serial import keeping
from otf.campaign.parallel_runs import ParallelRuns, RunCounts, counts_always
from otf.campaign.program import program
from otf.campaign.results import PathResult, Shrunk
from otf.campaign.settings import Budget, Mode
from otf.campaign.tries import Tries, finished
from otf.core import Oracle
from otf.errors import OtfError, UsageError
from otf.runner.reproduce import patience
from otf.runner.writer import put
from otf.shrink import (
    BEST,
    Ahead,
    AllowedInputs,
    Candidate,
    Issue,
    ModelStep,
    PausingSearch,
    Setting,
    StepPlan,
    again,
    issue_of,
    pausing,
    repeats,
)
from otf.shrink.issue import ANYWHERE, Thinking
from otf.shrink.plan import after
from otf.shrink.ways import ModelMap
from otf.trace.record import Header

FaultsSuffice = Callable[[tuple[str, ...]], Awaitable[bool]]
"""Runs the system with these faults and no others; returns whether the failure shows."""


ShrinkProgress = Callable[[int, int], None]
OnShrunk = Callable[[Shrunk], None]
CandidateFails = Callable[[Candidate, RunCounts], Awaitable[Issue | None]]

ORIGINAL: Final = (1, 10)
RESULT: Final = (4, 20)
"""The number of runs that measure the failure rate: the first if all of these fail, otherwise up to the second."""
INTERRUPTED: Final = "it was interrupted"
SLICE: Final = 0.05  # seconds of thinking after which the event loop gets a turn: interruptions arrive there
GRACE: Final = 0.5  # seconds after the deadline in which a run may still end by itself
ROUNDS: Final = 3  # a result that fails more rarely than assumed is shrunk again with more runs for each candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrinker:
    """Shrinks failing paths of one bench; `header` is the header of the traces that it writes.

    `spent` seconds of the budget are gone already. `jobs` candidates run at a time, each against its own copy.
    `found` is called with each shorter result, so that it is known if the search is interrupted. `mode` is the mode
    of the candidates: in eager mode most of them run eagerly, and those that fail are run strictly; in strict mode
    all of them run strictly. `where` are the addresses of the system where they differ from those of the bench, as
    for `otf run --sut`: the pytest program repeats them. `confirmed`: the failing path is a strict run of the
    inputs of another, so it need not run once more.

    >>> import anyio
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from otf.campaign import Campaign, Settings
    >>> from otf.models.coffee import bench
    >>> with TemporaryDirectory() as folder:
    ...     campaign = Campaign(bench(fault="dry"), Settings(out=Path(folder, "out"), traces=1, seed=1))
    ...     summary = anyio.run(campaign.run)  # shrinks with a Shrinker of its own
    >>> [group.shrunk.steps for group in summary.failures.values()]
    [2]
    """

    bench: Bench
    oracle: Oracle
    header: Header
    algorithm: str = BEST
    budget: Budget = field(default_factory=Budget)
    spent: float = 0.0
    jobs: int = 1
    mode: Mode = "eager"
    where: tuple[str, ...] = ()
    confirmed: bool = False
    progress: ShrinkProgress | None = None
    found: OnShrunk | None = None

    async def run(self, failing: PathResult) -> Shrunk:
        """Return the shortest trace found that shows the failure of a path, with the same signature.

        The original is run again first, unless it is `confirmed`, several times if it passes; if it never fails the
        search ends, and the rate is 0. With several jobs it runs along with the first candidates, until one of these
        shows the failure. Every candidate runs against a freshly started system. The result is written beside the
        original as `….shrunk.jsonl`, and as a pytest program if the bench can be imported by name. Raises UsageError
        for a path that did not fail, ContactError if the system cannot be reached.
        """
        failure = failing.verdict.failure
        if failure is None:
            message = f"{failing.trace}: the trace does not fail, there is nothing to shrink"
            raise UsageError(message)
        # half of the time at least, however long the start took
        deadline = anyio.current_time() + self.budget.seconds - min(self.spent, self.budget.seconds / 2)
        issue = replace(issue_of(self.oracle, failing.events), signature=failure.signature)
        tries = Tries(self.bench, self.oracle, self.header, failing, failure.signature)
        async with keeping():
            with watched():
                return await _Work(self, failing, issue, tries, deadline).run()


@dataclass(slots=True)
class _Work:
    """The shrinking of one failure.

    `rate` is the failure rate of the shortest trace so far in `runs` runs, `before` that of the original in `tried`.
    `cut` is whether a run was cut off at the deadline.
    """

    by: Shrinker
    failing: PathResult
    issue: Issue
    tries: Tries
    deadline: float
    before: float = 1.0
    tried: int = 1
    rate: float = 1.0
    runs: int = 1
    cut: bool = False
    ways: ModelMap = field(init=False)

    def __post_init__(self) -> None:
        self.ways = ModelMap(self.by.oracle)

    async def run(self) -> Shrunk:
        self.search(self.issue)  # refuses an unknown algorithm before the system is started
        alone = bool(self.failing.faults)
        sure = self.by.confirmed and not alone
        # several copies: the original runs again along with the first candidates
        early = self.by.jobs > 1 and self.more() and not alone and not sure
        minimal = early and await self.rounds(1, self.again())
        shown = self.tries.best is not None
        if sure:
            self.tries.adopt(self.failing)
        elif not shown:
            self.before, self.tried = await self.measured(*ORIGINAL)
            if self.tries.best is None:
                self.before = self.rate = 0.0
                return self.shrunk(self.why())
        if not shown:
            minimal = await self.rounds(repeats(self.before))
        if (shown or sure) and self.rate < 1:  # by chance: then one failing run of the original says little of its rate
            many = ORIGINAL[1]
            self.before, self.tried = await self.measured(many, many, again(self.issue, self.by.oracle))
        await self.spared(repeats(self.rate))
        ended = "" if minimal else self.why()
        finished(self.tries.trace, ended)
        return replace(self.shrunk(ended), program=self.program())

    async def rounds(self, times: int, original: Candidate | None = None) -> bool:
        """Shrink, and again if the result fails too rarely for that many runs; return whether the search ended."""
        ended = False
        for _ in range(ROUNDS):
            ended = await self.searched(times, original)
            if self.tries.best is None:
                return False
            original = None
            await self.calmer(times)
            self.rate, self.runs = await self.measured(*RESULT)
            if not ended or repeats(self.rate) <= times:
                break
            times = repeats(self.rate)
        return ended

    async def searched(self, times: int, original: Candidate | None = None) -> bool:
        """Run the search until it ends (True) or the budget does (False)."""
        # an intermittent failure would have to show in an eager run and in the strict run after it: too rare
        if self.by.mode == "strict" or times > 1 or not self.tries.waits:
            return await self.driven(times, self.tries.shows, original)
        ended = await self.driven(times, self.tries.quickly, original)
        # the failure may need a pause: then candidates that passed eagerly may show it all the same
        if ended and self.tries.doubtful and self.more() and await self.tries.eagerly(self.again()) is None:
            return await self.driven(times, self.tries.shows)
        return ended

    async def driven(self, times: int, shows: CandidateFails, original: Candidate | None = None) -> bool:
        """Run the search with candidates driven by `shows` until it ends (True) or the budget does (False)."""
        issue = self.shortest()  # fixed here: `Ahead` starts the search several times, each time from the same issue

        async def runs(candidate: Candidate, counts: RunCounts) -> Issue | None:
            return await self.answer(candidate, times, self.tries.shows if candidate is original else shows, counts)

        def make() -> PausingSearch:
            return self.search(issue) if original is None else after(original, issue, self.search(issue))

        ahead = Ahead(make, lambda candidate: issue if candidate is original else self.expected(candidate), original)
        await ParallelRuns(ahead, runs, self.by.jobs, original, self.tries.signature).drive(self.more, self.thought)
        return ahead.done

    async def thought(self, thinking: Thinking[list[Candidate]]) -> list[Candidate]:
        """Return the result of work on the model; empty if the time is over before."""
        turn = monotonic() + SLICE
        try:
            while True:
                next(thinking)
                if monotonic() >= turn:
                    await checkpoint()
                    if not self.more():
                        return []
                    turn = monotonic() + SLICE
        except StopIteration as done:
            candidates: list[Candidate] = done.value
            return candidates

    async def calmer(self, times: int) -> None:
        """Look for the smallest burst that still fails: a failure of single inputs is explained without a race."""
        most = self.tries.header.burst
        for burst in range(1, most):
            if not self.more():
                break
            self.tries.header = replace(self.tries.header, burst=burst)
            if self.wanted(await self.answer(self.again(), times)):
                return
        self.tries.header = replace(self.tries.header, burst=most)

    async def spared(self, times: int) -> None:
        """Leave out what a layer of faults injected, as far as the failure needs none of it."""
        best = self.tries.best

        async def shows(faults: tuple[str, ...]) -> bool:
            self.tries.header = replace(self.tries.header, faults=faults)
            return self.more() and self.wanted(await self.answer(self.again(), times))

        if best is not None and best.faults:
            left = await spared(best.faults, shows)
            self.tries.header = replace(self.tries.header, faults=left)

    async def measured(self, first: int, most: int, candidate: Candidate | None = None) -> tuple[float, int]:
        """Return the share of runs of a candidate (the shortest trace) that show the failure, and their number."""
        failed = runs = 0
        while runs < first or (failed < runs < most):
            if (runs or self.tries.best is not None) and not self.more():
                break
            together = min(self.by.jobs, (first if runs < first else most) - runs)
            seen = await self.answers(candidate or self.again(), together)
            counted = [each for each in seen if self.wanted(each) or not self.cut]
            if not counted:
                break
            failed += sum(map(self.wanted, counted))
            runs += len(counted)
        if runs:
            return failed / runs, runs
        return (1.0, 1) if self.tries.best else (0.0, 0)

    def expected(self, candidate: Candidate) -> Issue | None:
        """Return the issue that a candidate shows if it fails at its last step; None if it has no steps."""
        if isinstance(candidate, StepPlan):
            steps = candidate.steps
        else:
            given = candidate.symbols if isinstance(candidate, AllowedInputs) else ()
            steps = self.ways.along(ModelStep(ANYWHERE, symbol) for symbol in given)
        return Issue((*steps[:-1], ModelStep(*steps[-1][:2])), self.issue.signature) if steps else None

    async def answers(self, candidate: Candidate, copies: int) -> list[Issue | None]:
        """Run a candidate strictly, several copies at the same time; return the issue that each shows."""
        found: list[Issue | None] = []

        async def one() -> None:
            found.append(await self.answer(candidate, 1))

        try:
            async with anyio.create_task_group() as tasks:
                for _ in range(copies):
                    tasks.start_soon(one)
        except* OtfError as group:
            # all fail for the same reason; a group would hide the message with its advice
            raise group.exceptions[0] from None
        return found

    async def answer(
        self, candidate: Candidate, times: int, shows: CandidateFails | None = None, counts: RunCounts = counts_always
    ) -> Issue | None:
        """Run a candidate until it shows the failure, at most `times` times; return its issue, None if it passed."""
        shows = shows or self.tries.shows
        found: Issue | None = None
        for turn in range(times):
            if turn and not self.more():
                break
            # a run that is still going on after the deadline is cut off
            with anyio.CancelScope(deadline=self.deadline + GRACE) as scope:
                found = await shows(candidate, counts) or found
            self.cut = self.cut or scope.cancelled_caught
            if self.wanted(found):
                break
        self.tell(found)
        return found

    def search(self, issue: Issue) -> PausingSearch:
        setting = Setting(self.by.oracle, self.by.bench.inputs, patience=patience(self.by.bench))
        return pausing(issue, setting, self.by.algorithm)

    def shortest(self) -> Issue:
        best = self.tries.best
        return (
            self.issue
            if best is None
            else replace(issue_of(self.by.oracle, best.events), signature=self.issue.signature)
        )

    def again(self) -> Candidate:
        return again(self.shortest(), self.by.oracle, patience(self.by.bench))

    def program(self) -> Path | None:
        """Write the program that shows the failure, and return its path; None if there is no such program."""
        best = self.tries.best
        text = best and program(self.by.bench, self.tries.header, best, repeats(self.rate), self.by.where)
        if not text:
            return None
        name = re.sub(r"\W+", "_", self.failing.trace.stem)
        # no name that pytest collects by itself: it runs only on request
        path = self.failing.trace.with_name(f"{name}_shrunk.py")
        put(path, text.encode(errors="replace"))
        return path

    def wanted(self, answer: Issue | None) -> bool:
        return answer is not None and answer.signature == self.tries.signature

    def more(self) -> bool:
        return not self.why()

    def why(self) -> str:
        """Return why the search may not go on, "" if it may."""
        if anyio.current_time() >= self.deadline:
            return f"the time of {self.by.budget.seconds:.3g} s was used up"
        return self.tries.used_up(self.by.budget)

    def tell(self, answer: Issue | None) -> None:
        best = self.tries.best
        if self.by.found is not None and best is not None and answer is not None:
            self.by.found(self.shrunk(INTERRUPTED))
        if self.by.progress is not None:
            self.by.progress(self.failing.steps if best is None else best.steps, self.tries.transitions)

    def shrunk(self, ended: str) -> Shrunk:
        best = self.tries.best or self.failing
        return Shrunk(
            trace=best.trace,
            steps=best.steps,
            transitions=self.tries.transitions,
            resets=self.tries.resets,
            rate=self.rate,
            verdict=best.verdict,
            minimal=not ended and self.tries.best is not None,
            ended=ended,
            events=best.events,
            runs=self.runs,
            before=self.before,
            tried=self.tried,
            others=[*self.tries.others.values()],
        )


async def spared(faults: Sequence[str], shows: FaultsSuffice) -> tuple[str, ...]:
    """Return the fewest of these injected faults that show the failure by themselves.

    No fault is tried first, then each one alone, since one is nearly always enough; then each one is left out in turn.
    """
    for alone in [(), *((fault,) for fault in faults)]:
        if await shows(alone):
            return alone
    left = tuple(faults)
    for fault in faults:
        without = tuple(each for each in left if each != fault)
        if await shows(without):
            left = without
    return left
