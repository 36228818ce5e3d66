"""Shrinking on the real system: the pure shrinker's candidates, each driven against a fresh copy."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import anyio

from otf.adapter import Bench
from otf.adapter.serial.keeping import keeping
from otf.adapter.watchdog import watched
from otf.campaign.program import program
from otf.campaign.results import PathResult, Shrunk
from otf.campaign.settings import Budget, Mode
from otf.campaign.sparing import spared
from otf.campaign.tries import Tries, finished
from otf.core import Oracle
from otf.errors import OtfError, UsageError
from otf.runner.files import put
from otf.shrink import BEST, Ahead, Candidate, Issue, Setting, Shrinking, again, issue_of, repeats, shrinking
from otf.trace.record import Header

ShrinkProgress = Callable[[int, int], None]
OnShrunk = Callable[[Shrunk], None]
CandidateFails = Callable[[Candidate], Awaitable[Issue | None]]

ORIGINAL: Final = (1, 10)
RESULT: Final = (4, 20)
"""How often they are run to state their rate: so many times, and where some of these pass, that many."""
ROUNDS: Final = 3  # of shrinking: a result that fails more rarely than was thought is looked at again, more patiently


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrinker:
    """Shrinks failing paths of one bench; `header` is that of the traces it writes.

    `jobs` candidates run at a time, each against a copy of its own. `found` gets the shortest so far whenever there is
    a shorter one: what is known when the search is interrupted. `mode` is that of the candidates: in eager mode most
    of them are run so, and what fails then is run strictly; in strict mode every candidate takes its time.
    """

    bench: Bench
    oracle: Oracle
    header: Header
    algorithm: str = BEST
    budget: Budget = field(default_factory=Budget)
    jobs: int = 1
    mode: Mode = "eager"
    progress: ShrinkProgress | None = None
    found: OnShrunk | None = None

    async def run(self, failing: PathResult) -> Shrunk:
        """Return the shortest trace that was found for a failing path with the same failure signature.

        The original is run again first, more often where it passes; if it never fails that is the end, and the rate is
        0. Every candidate runs against a freshly started system. The result is written beside the original as
        `….shrunk.jsonl`, and as a pytest program where the bench can be named. Raises UsageError for a path that did
        not fail, ContactError where the system cannot be reached.
        """
        failure = failing.verdict.failure
        if failure is None:
            message = f"{failing.trace}: the trace does not fail, there is nothing to shrink"
            raise UsageError(message)
        issue = replace(issue_of(self.oracle, failing.events), signature=failure.signature)
        tries = Tries(self.bench, self.oracle, self.header, failing, failure.signature)
        async with keeping():
            with watched():
                return await _Work(self, failing, issue, tries, anyio.current_time() + self.budget.seconds).run()


@dataclass(slots=True)
class _Work:
    """The shrinking of one failure.

    `rate` is that of the best so far in `runs` runs, `before` that of the original in `tried`.
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

    async def run(self) -> Shrunk:
        self.search(self.issue)  # refuses an unknown algorithm before the system is started
        self.before, self.tried = await self.measured(*ORIGINAL)
        if self.tries.best is None:
            self.rate = 0.0
            return self.shrunk(minimal=False)
        minimal = await self.rounds(repeats(self.before))
        await self.spared(repeats(self.rate))
        if minimal:
            finished(self.tries.trace)
        return replace(self.shrunk(minimal=minimal), program=self.program())

    async def rounds(self, times: int) -> bool:
        """Shrink, and again where the result fails too rarely for what was tried; tell whether it came to its end."""
        ended = False
        for _ in range(ROUNDS):
            ended = await self.searched(times)
            await self.calmer(times)
            self.rate, self.runs = await self.measured(*RESULT)
            if not ended or repeats(self.rate) <= times:
                break
            times = repeats(self.rate)
        return ended

    async def searched(self, times: int) -> bool:
        """Run the search to its end (True) or to that of the budget (False)."""
        # of what fails now and then, two runs in a row would fail more rarely still
        if self.by.mode == "strict" or times > 1 or not self.tries.waits:
            return await self.driven(times, self.tries.shows)
        ended = await self.driven(times, self.tries.quickly)
        # a failure that needs a pause: what passed in eager mode may be it all the same
        if ended and self.tries.doubtful and self.more() and await self.tries.eagerly(self.again()) is None:
            return await self.driven(times, self.tries.shows)
        return ended

    async def driven(self, times: int, shows: CandidateFails) -> bool:
        """Run the search with candidates that are driven so, to its end (True) or to that of the budget (False)."""
        issue = self.shortest()  # now: whenever the search is made anew, it has to begin where it began
        ahead = Ahead(lambda: self.search(issue))
        while self.more() and not ahead.done:
            for answer in await self.answers(ahead.candidates(self.by.jobs), times, shows):
                ahead.tell(answer)
                if answer is not None:
                    break  # those after it were made on the bet that it passes
        return ahead.done

    async def calmer(self, times: int) -> None:
        """Look for the smallest burst that still fails: what fails one by one needs no race to be explained."""
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

    async def measured(self, first: int, most: int) -> tuple[float, int]:
        """Return the share of runs of the best so far that fail as wanted, and how many were made of it."""
        failed = runs = 0
        while runs < first or (failed < runs < most):
            if (runs or self.tries.best is not None) and not self.more():
                break
            failed += self.wanted(await self.answer(self.again(), 1))
            runs += 1
        return (failed / runs, runs) if runs else (1.0, 1)

    async def answers(self, candidates: Sequence[Candidate], times: int, shows: CandidateFails) -> list[Issue | None]:
        """Return what candidates show that are run at the same time."""
        found: list[Issue | None] = [None] * len(candidates)

        async def one(at: int) -> None:
            found[at] = await self.answer(candidates[at], times, shows)

        if len(candidates) == 1:
            await one(0)
            return found
        try:
            async with anyio.create_task_group() as tasks:
                for at in range(len(candidates)):
                    tasks.start_soon(one, at)
        except* OtfError as group:
            # they fail alike; a group would hide the message that says what to do
            raise group.exceptions[0] from None
        return found

    async def answer(self, candidate: Candidate, times: int, shows: CandidateFails | None = None) -> Issue | None:
        """Run a candidate until it fails as wanted, so many times at most; return what it showed, None if it passed."""
        shows = shows or self.tries.shows
        found: Issue | None = None
        for turn in range(times):
            if turn and not self.more():
                break
            found = await shows(candidate) or found
            if self.wanted(found):
                break
        self.tell(found)
        return found

    def search(self, issue: Issue) -> Shrinking:
        return shrinking(issue, Setting(self.by.oracle, self.by.bench.inputs), self.by.algorithm)

    def shortest(self) -> Issue:
        best = self.tries.best
        return (
            self.issue
            if best is None
            else replace(issue_of(self.by.oracle, best.events), signature=self.issue.signature)
        )

    def again(self) -> Candidate:
        return again(self.shortest(), self.by.oracle)

    def program(self) -> Path | None:
        """Write the program that shows the failure, and return where it is; None where it cannot be written."""
        best = self.tries.best
        text = best and program(self.by.bench, self.tries.header, best, repeats(self.rate))
        if not text:
            return None
        name = re.sub(r"\W+", "_", self.failing.trace.stem)
        # no name that pytest collects by itself: it is to be run when somebody asks for it
        path = self.failing.trace.with_name(f"{name}_shrunk.py")
        put(path, text.encode(errors="replace"))
        return path

    def wanted(self, answer: Issue | None) -> bool:
        return answer is not None and answer.signature == self.tries.signature

    def more(self) -> bool:
        return anyio.current_time() < self.deadline and self.tries.within(self.by.budget)

    def tell(self, answer: Issue | None) -> None:
        best = self.tries.best
        if self.by.found is not None and best is not None and answer is not None:
            self.by.found(self.shrunk(minimal=False))
        if self.by.progress is not None:
            self.by.progress(self.failing.steps if best is None else best.steps, self.tries.transitions)

    def shrunk(self, *, minimal: bool) -> Shrunk:
        best = self.tries.best or self.failing
        return Shrunk(
            trace=best.trace,
            steps=best.steps,
            transitions=self.tries.transitions,
            resets=self.tries.resets,
            rate=self.rate,
            verdict=best.verdict,
            minimal=minimal,
            events=best.events,
            runs=self.runs,
            before=self.before,
            tried=self.tried,
            others=[*self.tries.others.values()],
        )
