"""Runs a search's candidates within its budget, until they show the failure, or to measure how often they do.

A failure may depend on chance, so a passing candidate is run again; all runs end soon after the deadline.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import anyio

from otf.adapter.third_party import ungrouped
from otf.campaign.candidate_runs import UNDECIDED, Tries
from otf.campaign.parallel_runs import RunCounts, counts_always
from otf.campaign.settings import Budget
from otf.runner.lookout import patience
from otf.shrink import AllowedInputs, Candidate, Issue, again
from otf.spec import Elapse

CandidateFails = Callable[[Candidate, RunCounts], Awaitable[Issue | None]]
FaultsSuffice = Callable[[tuple[str, ...]], Awaitable[bool]]
"""Runs the system with only these faults; returns whether the failure shows."""

ORIGINAL: Final = (1, 10)
RARE: Final = 50
"""Runs of the original until one shows the failure: ten miss one in five races that show in one run of seven."""
TURNS: Final = 3  # times as much time for shorter runs
LEAST: Final = 50  # inputs whose time is three times this
START: Final = 10  # inputs that take about as long as a start of the system
SHARE: Final = 1 / 3  # of the time, after which only the whole run is tried until it shows the failure
QUICK: Final = (4, 8)  # runs that tell how often a race shows, before the search for a shorter one
RESULT: Final = (4, 20)
"""Runs to measure the failure rate: the first number if all of these fail, otherwise up to the second."""
RESULT_TIME: Final = 150.0  # seconds for these
GRACE: Final = 0.5  # seconds after the deadline in which a run may still end by itself


@dataclass(slots=True)
class BudgetedRuns:
    """The runs of one search; `issue` is that of its original, `judged` gets the answer to each candidate.

    `jobs` copies run at a time. `cut`: the deadline cut off a run.
    """

    tries: Tries
    issue: Issue
    budget: Budget
    deadline: float
    jobs: int
    judged: Callable[[Issue | None], None]
    cut: bool = False

    def more(self) -> bool:
        """Return whether the search may go on."""
        return not self.why()

    def why(self) -> str:
        """Return why the search may not go on, "" if it may."""
        if anyio.current_time() >= self.deadline:
            return f"the time of {self.budget.seconds:.3g} s was used up"
        return self.tries.used_up(self.budget)

    def wanted(self, answer: Issue | None) -> bool:
        """Return whether an answer is the failure being shrunk."""
        return answer is not None and answer.signature == self.tries.signature

    def shortest(self) -> Issue:
        """Return the issue of the shortest trace so far."""
        best = self.tries.best
        return self.issue if best is None else self.tries.issue(best, self.tries.signature)

    def again(self) -> Candidate:
        """Return the shortest trace so far as a candidate."""
        return again(self.shortest(), self.tries.oracle, patience(self.tries.bench))

    async def answer(
        self, candidate: Candidate, times: int, shows: CandidateFails | None = None, counts: RunCounts = counts_always
    ) -> Issue | None:
        """Run a candidate until it shows the failure, at most `times` times; return its issue, None if it passed."""
        shows = shows or self.tries.shows
        found: Issue | None = None
        for turn in range(times):
            if turn and not self.more():
                break
            # cut off a run that is still going on after the deadline
            with anyio.CancelScope(deadline=self.deadline + GRACE) as scope:
                found = await shows(candidate, counts) or found
            self.cut = self.cut or scope.cancelled_caught
            if self.wanted(found):
                break
        self.judged(found)
        return found

    async def measured(
        self, first: int, most: int, candidate: Candidate | None = None, rare: int = 0
    ) -> tuple[float, int]:
        """Return the share of runs of a candidate (the shortest trace) that show the failure, and their number.

        Until one shows it, there are up to `rare` runs. Undecided runs do not count.
        """
        failed = runs = 0
        doubted = self.tries.undecided
        while runs < first or (failed < runs < most) or (not failed and runs < rare):
            if self.tries.undecided >= doubted + UNDECIDED:
                break
            if (runs or self.tries.best is not None) and not self.more():
                break
            together = min(self.jobs, max(1, (first if runs < first else most) - runs))
            before = self.tries.undecided
            seen = await self._answers(candidate or self.again(), together)
            shown = sum(map(self.wanted, seen))
            if self.cut and not shown:
                break
            failed += shown
            runs += shown if self.cut else len(seen) - (self.tries.undecided - before)
        if runs:
            return failed / runs, runs
        return (1.0, 1) if self.tries.best else (0.0, 0)

    async def without_waits(self) -> None:
        """Leave out all waits, or at least those for timers between inputs, if the failure shows without them.

        They take most of a run, and may hide a failure in a state that a timer ends: the failing run may have had none.
        """
        if not self.tries.oracle.model.timed:
            return
        self.tries.waits_between = False
        inputs = self.shortest().inputs
        unwaited = AllowedInputs(tuple(inp for inp in inputs if not isinstance(inp.value, Elapse)))
        for candidate in dict.fromkeys([unwaited, AllowedInputs(inputs)]):
            if self.more() and candidate.limit and self.wanted(await self.answer(candidate, 1)):
                return
        self.tries.waits_between = True

    async def result(self) -> tuple[float, int]:
        """Return the failure rate of the shortest trace, and the number of its runs: fewer if each takes long."""
        best = self.tries.best
        seconds = best.events[-1].at if best is not None and best.events else 0.0
        most = self.jobs * max(1, int(RESULT_TIME / seconds)) if seconds else RESULT[1]
        return await self.measured(min(RESULT[0], most), min(RESULT[1], most))

    async def _answers(self, candidate: Candidate, copies: int) -> list[Issue | None]:
        """Run a candidate strictly, several copies at a time; return the issue that each shows."""
        found: list[Issue | None] = []

        async def one() -> None:
            found.append(await self.answer(candidate, 1, self.tries.whole))

        with ungrouped():
            async with anyio.create_task_group() as tasks:
                for _ in range(copies):
                    tasks.start_soon(one)
        return found

    async def in_turns(self, candidates: Sequence[Candidate]) -> int:
        """Run candidates in turns, the shortest first: each may need many runs, and most never fail.

        All candidates get the same time: one run of hundreds of inputs takes as long as the many runs that a short one
        needs. Once one shows the failure, shorter candidates get three times as long as it took. After a third of the
        time, if none has shown it, only the last candidate runs: if starts are slow, there would be no time left to
        shorten it. Returns the runs of the last candidate.
        """
        left: list[Candidate] = [*candidates]
        runs, most = dict.fromkeys(candidates, 0), float("inf")
        now = anyio.current_time()
        until = now + SHARE * (self.deadline - now)

        def cost(candidate: Candidate, more: int = 1) -> int:
            return (runs[candidate] + more) * (candidate.limit + START)

        while left and self.more():
            late = anyio.current_time() >= until
            if late and self.tries.best is not None:
                break
            candidate = left[-1] if late else min(left, key=cost)
            runs[candidate] += 1
            if any(map(self.wanted, await self._answers(candidate, self.jobs))):
                left = left[: left.index(candidate)]
                most = min(most, TURNS * max(LEAST, cost(candidate, 0)))
            left = [each for each in left if runs[each] < RARE and cost(each) <= most]
        return runs[candidates[-1]] if candidates else 0

    async def calmer(self, times: int) -> None:
        """Look for the smallest burst that still fails: a failure that single inputs show is no race."""
        most = self.tries.header.burst
        for burst in range(1, most):
            if not self.more():
                break
            self.tries.header = replace(self.tries.header, burst=burst)
            if self.wanted(await self.answer(self.again(), times)):
                return
        self.tries.header = replace(self.tries.header, burst=most)

    async def spared(self, times: int) -> None:
        """Leave out injected faults that the failure does not need."""
        best = self.tries.best

        async def shows(faults: tuple[str, ...]) -> bool:
            self.tries.header = replace(self.tries.header, faults=faults)
            return self.more() and self.wanted(await self.answer(self.again(), times))

        if best is not None and best.faults:
            left = await spared(best.faults, shows)
            self.tries.header = replace(self.tries.header, faults=left)


async def spared(faults: Sequence[str], shows: FaultsSuffice) -> tuple[str, ...]:
    """Return the fewest of these injected faults that are enough to show the failure.

    It tries no fault first, then each one alone, since one is nearly always enough; then it leaves out each in turn.
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
