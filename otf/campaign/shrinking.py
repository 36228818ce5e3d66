"""Shrinks on the real system: drives each candidate of the pure shrinker against a fresh copy."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Final

import anyio
from anyio.lowlevel import checkpoint

from otf.adapter import Bench
from otf.adapter.kept import keeping
from otf.adapter.third_party import watched
from otf.campaign.candidate_budget import ORIGINAL, QUICK, RARE, RESULT, BudgetedRuns, CandidateFails
from otf.campaign.candidate_runs import WAITED, Tries, mark_finished
from otf.campaign.parallel_runs import ParallelRuns, RunCounts
from otf.campaign.program import program
from otf.campaign.results import PathResult, Shrunk
from otf.campaign.settings import Budget
from otf.core import Oracle, Symbol
from otf.errors import UsageError
from otf.runner.lookout import patience
from otf.runner.writer import put
from otf.shrink import (
    Ahead,
    Algorithm,
    AllowedInputs,
    Candidate,
    Issue,
    ModelStep,
    Setting,
    Shrinking,
    StepPlan,
    TimeOverError,
    again,
    by_model,
    last_bursts,
    repeats,
    shrinking,
)
from otf.shrink.issue import ANYWHERE, Thinking, meets
from otf.shrink.plan import after
from otf.shrink.shortest_ways import ModelMap
from otf.spec import Idle
from otf.trace.clock import awaited_output
from otf.trace.kinds import Scope
from otf.trace.record import Header, Mode

ShrinkProgress = Callable[[int, int], None]
OnShrunk = Callable[[Shrunk], None]

INTERRUPTED: Final = "it was interrupted"
SLICE: Final = 0.05  # seconds of thinking until the event loop gets a turn: interruptions arrive there
TAILS: Final = 1.5  # times the failing run's wait after the last input of a candidate
MARGIN: Final = 0.5  # seconds more
WAITING: Final = 0.25  # of the time left: only an output that took less is awaited without any input
EITHER: Final = 5  # runs of a candidate that fails at another port, since which port speaks first is often chance
LENGTHENED: Final = 2  # times that the waits of a result are doubled, if it fails by chance
ROUNDS: Final = 3  # a result that fails more rarely than assumed is shrunk again, with more runs for each candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrinker:
    """A `Shrinker` shrinks failing paths of one `bench`; `header` is the header of the traces that it writes.

    `oracle` judges the candidates (shorter paths) that the `algorithm` proposes. `budget` bounds the search. The
    shrinker calls `progress` after each step. `spent` is how many seconds of the `budget` were used before the search.
    `jobs` is how many candidates otf drives at the same time, each on its own copy of the system. The shrinker calls
    `found` with each shorter result, so that an interruption does not lose the result. `mode` (strict or eager) is the
    mode in which otf drives candidates. If `mode` is eager, otf drives most candidates in eager mode, and drives
    candidates that fail again in strict mode. `where` lists the addresses of the system if they differ from the bench's
    (`otf run --sut`); the pytest program repeats them. `confirmed` is true if otf has already confirmed the failure in
    strict mode. `scope` distinguishes failures with equal signatures: the search ignores candidates that show another
    kind of failure.

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
    algorithm: Algorithm = by_model
    budget: Budget = field(default_factory=Budget)
    spent: float = 0.0
    jobs: int = 1
    mode: Mode = "eager"
    where: tuple[str, ...] = ()
    confirmed: bool = False
    scope: Scope = field(default_factory=Scope)
    progress: ShrinkProgress | None = None
    found: OnShrunk | None = None

    async def run(self, failing: PathResult) -> Shrunk:
        """Search for a shorter path with the failure's signature, and return the shortest.

        Unless `confirmed` is true, otf first drives the original path again, several times if the path passes. If the
        original path never fails again, the search ends, and `rate` of the result is 0. If there are several jobs, otf
        drives the original path and the first candidates at the same time. otf starts the system again for each
        candidate. otf writes the shrunk trace to `….shrunk.jsonl` beside the original trace, and a pytest program if
        the bench can be imported by name. `run` raises UsageError for a path that did not fail, and ContactError if the
        system cannot be reached.
        """
        failure = failing.verdict.failure
        failing = failing.upto(failure)
        if failure is None:
            message = f"{failing.trace}: the trace does not fail, there is nothing to shrink"
            raise UsageError(message)
        # at least half of the time, however long the start took
        deadline = anyio.current_time() + self.budget.seconds - min(self.spent, self.budget.seconds / 2)
        kind = self.scope.of(failure.signature)
        tries = Tries(self.bench, self.oracle, self.header, failing, kind)
        issue = tries.issue(failing, kind)
        tries.scope = self.scope
        async with keeping():
            with watched():
                return await _Work(self, failing, issue, tries, deadline).run()


@dataclass(slots=True)
class _Work:
    """The shrinking of one failure.

    `rate` is the failure rate of the shortest trace so far in `runs` runs, `before` the original's in `tried` runs.
    `waited`: as much time without any input did not show the failure.
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
    waited: bool = False
    ways: ModelMap = field(init=False)
    drives: BudgetedRuns = field(init=False)

    def __post_init__(self) -> None:
        by = self.by
        self.tries.patience = TAILS * self.issue.tail + self.by.bench.timing.quiescence + MARGIN
        self.drives = BudgetedRuns(self.tries, self.issue, by.budget, self.deadline, by.jobs, self.tell)
        self.ways = ModelMap(self.by.oracle, over=self.late)

    async def run(self) -> Shrunk:
        if await self.by_clock():
            return self.done("")
        alone = bool(self.failing.faults)
        sure, races = self.by.confirmed and not alone, meets(self.issue.steps) and not alone
        # several copies: the original runs again along with the first candidates, unless it decides how these run
        timed = self.by.oracle.model.timed
        early = self.by.jobs > 1 and self.drives.more() and not (alone or sure or timed or races)
        minimal = early and await self.rounds(1, self.drives.again())
        shown = self.tries.best is not None
        if sure:
            self.tries.adopt(self.failing)
        if races:
            await self.find_races()
        elif not shown:
            await self.drives.without_waits()
            if self.tries.best is None:
                self.before, self.tried = await self.drives.measured(*ORIGINAL, rare=RARE)
        if self.tries.best is None:
            self.before = self.rate = 0.0
            return self.shrunk(self.drives.why() or (not self.tried) * "no run of the same inputs decided")
        if not shown:
            minimal = await self.rounds(repeats(self.rate if races else self.before))
        if (shown or sure or races) and self.rate < 1:  # by chance: one failing run says little of the original's rate
            many = ORIGINAL[1]
            rate, runs = await self.drives.measured(many, many, again(self.issue, self.by.oracle))
            # it did fail, when it was found
            self.before, self.tried = (rate, runs) if rate else (1 / (runs + 1), runs + 1)
        await self.drives.spared(repeats(self.rate))
        return self.done("" if minimal else self.drives.why())

    def done(self, ended: str) -> Shrunk:
        """Return the result, with a program, and note in its trace why the search ended."""
        mark_finished(self.tries.trace, ended, self.rate, self.runs)
        return replace(self.shrunk(ended), program=self.program())

    async def by_clock(self) -> bool:
        """Return whether it also fails without any input: then no part of the path matters."""
        output = awaited_output(self.failing.verdict.failure, self.failing.events)
        if output is None or self.failing.faults or not self.drives.more():
            return False
        soon = output.at <= WAITING * (self.deadline - anyio.current_time())
        found = soon and await self.tries.waited(output)
        self.waited = soon
        self.tried = self.runs = WAITED if found else 1
        return found

    async def find_races(self) -> None:
        """Look for the last bursts that show the failure, and for how often they do."""
        turns = await self.drives.in_turns(await self.think(last_bursts(self.issue, self.by.oracle)))
        if self.tries.best is None:
            self.tried = turns
            return
        await self.drives.calmer(1)
        self.rate, self.runs = await self.drives.measured(*QUICK)

    async def rounds(self, times: int, original: Candidate | None = None) -> bool:
        """Shrink, and again if the result fails too rarely for that many runs; return whether the search ended."""
        ended = False
        for _ in range(ROUNDS):
            ended = await self.search_in_mode(times, original)
            if self.tries.best is None:
                return False
            original = None
            await self.drives.calmer(times)
            self.rate, self.runs = await self.drives.result()
            await self.wait_longer()
            if not ended or repeats(self.rate) <= times:
                break
            times = repeats(self.rate)
        return ended

    async def wait_longer(self) -> None:
        """Lengthen the waits if the failure shows by chance: in a shorter path, a timer starts nearer to the wait."""
        for _ in range(LENGTHENED):
            inputs = self.drives.shortest().inputs
            if self.rate == 1 or not self.drives.more() or not any(isinstance(each.value, Idle) for each in inputs):
                return
            shorter = self.drives.again()
            rate, runs = await self.drives.measured(*RESULT, AllowedInputs(tuple(map(self.lengthened, inputs))))
            if rate <= self.rate:
                if rate:  # the trace is that of the last run that failed
                    await self.drives.answer(shorter, repeats(self.rate))
                return
            self.rate, self.runs = rate, runs

    def lengthened(self, inp: Symbol) -> Symbol:
        """Return a wait of twice the time; any other input as it is."""
        return self.ways.model.symbol(Idle(2 * inp.value.seconds)) if isinstance(inp.value, Idle) else inp

    async def search_in_mode(self, times: int, original: Candidate | None = None) -> bool:
        """Run the search until it ends (True) or the budget does (False)."""
        # an intermittent failure would have to show in an eager run and in the strict run after it: too rare. With
        # timers, an eager run is a different run: they expire elsewhere
        if self.by.mode == "strict" or times > 1 or not self.tries.waits or self.by.oracle.model.timed:
            return await self.drive(times, self.tries.shows, original)
        ended = await self.drive(times, self.tries.quickly, original)
        # the failure may need a pause: then candidates that passed eagerly may show it after all
        if not ended or not self.tries.doubtful or not self.drives.more():
            return ended
        passed = await self.tries.eagerly(self.drives.again()) is None
        return await self.drive(times, self.tries.shows) if passed else ended

    async def drive(self, times: int, shows: CandidateFails, original: Candidate | None = None) -> bool:
        """Run the search with candidates driven by `shows` until it ends (True) or the budget does (False)."""
        # fixed here: `Ahead` starts the search several times, each time from the same issue
        issue = self.drives.shortest()

        async def runs(candidate: Candidate, counts: RunCounts) -> Issue | None:
            way, answer = self.tries.shows if candidate is original else shows, None
            for _ in range(max(1, EITHER // times)):
                answer = await self.drives.answer(candidate, times, way, counts)
                if answer is None or answer.signature not in self.tries.elsewhere or not self.drives.more():
                    break
            return answer

        def make() -> Shrinking:
            return self.search(issue) if original is None else after(original, issue, self.search(issue))

        ahead = Ahead(make, lambda candidate: issue if candidate is original else self.expected(candidate), original)
        parallel = ParallelRuns(ahead, runs, self.by.jobs, original, self.tries.signature)
        await parallel.drive(self.drives.more, self.think)
        return ahead.done

    async def think(self, thinking: Thinking[list[Candidate]]) -> list[Candidate]:
        """Return the result of work on the model; empty if time runs out first."""
        turn = monotonic() + SLICE
        try:
            while True:
                next(thinking)
                if monotonic() >= turn:
                    await checkpoint()
                    if not self.drives.more():
                        return []
                    turn = monotonic() + SLICE
        except TimeOverError:
            return []
        except StopIteration as done:
            candidates: list[Candidate] = done.value
            return candidates

    def expected(self, candidate: Candidate) -> Issue | None:
        """Return the issue that a candidate shows if it fails at its last step; None if it has no steps."""
        if isinstance(candidate, StepPlan):
            steps = candidate.steps
        else:
            given = candidate.symbols if isinstance(candidate, AllowedInputs) else ()
            steps = self.ways.along(ModelStep(ANYWHERE, symbol) for symbol in given)
        return Issue((*steps[:-1], steps[-1]._replace(target=ANYWHERE)), self.issue.signature) if steps else None

    def late(self) -> bool:
        """Return whether the time is over."""
        return anyio.current_time() >= self.deadline

    def search(self, issue: Issue) -> Shrinking:
        seed = f"{self.by.header.seed}/{self.failing.number}"
        setting = Setting(self.by.oracle, patience(self.by.bench), seed, self.waited, self.late)
        return shrinking(issue, setting, self.by.algorithm)

    def program(self) -> Path | None:
        """Write the program that shows the failure, and return its path; None if there is no such program."""
        best = self.tries.best
        shown = round(self.rate * self.runs), max(1, self.runs)
        text = best and program(self.by.bench, self.tries.header, best, shown, self.by.where)
        if not text:
            return None
        name = re.sub(r"\W+", "_", self.failing.trace.stem)
        # not a name that pytest collects by itself: it runs only on request
        path = self.failing.trace.with_name(f"{name}_shrunk.py")
        put(path, text.encode(errors="replace"))
        return path

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
