"""Drives the candidates of a search against fresh copies of the system.

Most candidates pass, and most of the time goes into waiting for silence. So a search may run them eagerly first; those
that fail are then run strictly, and only the strict run counts.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from itertools import count
from pathlib import Path
from typing import Final

import msgspec

from otf.adapter import Bench
from otf.campaign.confirm import is_stalled
from otf.campaign.pace import Pace
from otf.campaign.parallel_runs import RunCounts, counts_always
from otf.campaign.paths import PathRun
from otf.campaign.results import PathResult
from otf.campaign.settings import Budget
from otf.core import Oracle
from otf.core.timer_waits import Timers
from otf.core.timing import FOREVER
from otf.errors import WriteError
from otf.runner.writer import put, writing
from otf.shrink import AllowedInputs, Candidate, Issue, issue_of, joins
from otf.spec import Idle
from otf.strategy.renames import NamedRun
from otf.trace.clock import SLACK, TimedOutput, late_timer, moment
from otf.trace.kinds import Scope
from otf.trace.record import Header, Mode
from otf.trace.verdict import Signature

RECENT: Final = 8  # best runs whose inputs a search may still use for candidates, and one more
UNDECIDED: Final = 3
"""Runs of a candidate, all undecided because the machine is busy, after which it counts as passed."""

WAITED: Final = 2  # runs without any input that must agree before an output counts as coming by the system's own clock
LONGER: Final = 1.25  # times as long as it took is the wait for it


class EagerRuns(Enum):
    """Notes whether eager runs of candidates have shown the search's failure so far."""

    NONE = "there was no eager run that could show it"
    PASSED = "eager runs passed, and none showed it"
    SHOWED = "an eager run showed it, and a strict run of the same candidate as well"


class Tries:
    """Runs candidates, keeps the shortest trace that shows the failure, and counts transitions and resets."""

    def __init__(self, bench: Bench, oracle: Oracle, header: Header, failing: PathResult, signature: Signature) -> None:
        self.bench = bench
        self.oracle = oracle
        self.header: Header = replace(header, shrunk=True, mode="strict")
        self.signature = signature
        # tells failures of one signature apart
        self.scope: Scope = Scope()
        self.source: Path = failing.trace
        self.trace: Path = failing.trace.with_suffix(".shrunk.jsonl")
        self.transitions: int = 0
        self.resets: int = 0
        # candidates without any run that decided
        self.undecided: int = 0
        # whether to wait for timers between inputs, as in the failing run
        self.waits_between: bool = True
        # seconds after the last input: do not wait for a failure much later than it came
        self.patience: float = FOREVER
        self.best: PathResult | None = None
        self.others: dict[Signature, PathResult] = {}
        # those of them that show at another port after the same input: which port speaks first is often chance
        self.elsewhere = set[Signature]()
        self._doubted = set[Signature]()
        self._known = bench.known_issue(failing.verdict.failure)
        self._timer = late_timer(failing.verdict.failure)
        failure = self._failure = failing.verdict.failure
        self._race = replace(failure.signature, input="") if failure and failure.signature.meets else None
        self._numbers = count(1)
        # pairs after which strict runs waited for quiescence
        self._proven: set[Hashable] = set()
        # the runs in which the names of candidates come from outputs: the original, and the best ones since
        self._earlier = [NamedRun.of(oracle, failing.events)]
        self._first: Mode = "strict"
        self._eager_runs = EagerRuns.NONE

    def used_up(self, budget: Budget) -> str:
        """Return which part of the budget is used up, "" if none."""
        if self.transitions >= budget.transitions:
            return f"the budget of {budget.transitions:,} inputs was used up"
        if self.resets >= budget.resets:
            return f"the budget of {budget.resets:,} starts of the system was used up"
        return ""

    @property
    def waits(self) -> bool:
        """Return whether eager runs take less time than strict runs and are of the same kind.

        Neither mode waits for a system in this process, and both wait after a burst; injected faults depend on time.
        """
        return self.bench.system is None and self.header.burst == 1 and not (self.best and self.best.faults)

    @property
    def doubtful(self) -> bool:
        """Return whether candidates passed in eager runs, and no eager run ever showed the failure."""
        return self._eager_runs is EagerRuns.PASSED

    async def whole(self, candidate: Candidate, counts: RunCounts = counts_always) -> Issue | None:
        """Run a candidate as `shows` does; a run that passes without all of its inputs decides nothing."""
        return await self.shows(candidate, counts, candidate.least)

    async def shows(self, candidate: Candidate, counts: RunCounts = counts_always, least: int = 0) -> Issue | None:
        """Run a candidate strictly; return the issue that it shows, None if it passes."""
        scratch = self._scratch()
        try:
            result = await self._run_until_decided(candidate, scratch, least)
            issue = self._issue(result)
            if issue is None or issue.signature is None:
                return None
            await counts(issue.signature)
            if issue.signature == self.signature:
                # of two candidates of the same length, the later one is simpler
                if self.best is None or result.steps <= self.best.steps:
                    self.best = _move(result, self.trace)
                    self._earlier[1:] = [*self._earlier[1:][-RECENT:], NamedRun.of(self.oracle, result.events)]
            elif issue.signature not in self.others and self._counts(issue.signature, result):
                name = f".other-{len(self.others) + 1}.jsonl"
                self.others[issue.signature] = _move(result, self.source.with_suffix(name))
            return self._learnt(issue)
        finally:
            _delete(scratch)

    async def waited(self, output: TimedOutput) -> bool:
        """Send no input for longer than the output took to come, or to be missing; return whether it fails twice."""
        seconds = output.at * (LONGER if output.seen else 1.0) + SLACK
        wait = AllowedInputs((self.oracle.model.symbol(Idle(round(seconds, 1))),))
        for turn in range(1, WAITED + 1):
            scratch = self._scratch()
            try:
                result = await self._run_until_decided(wait, scratch)
                seen = moment(result.verdict.failure, result.events)
                if seen is None or not seen.matches(output):
                    return False
                if turn == WAITED:
                    self.best = _move(result, self.trace)
            finally:
                _delete(scratch)
        return True

    def adopt(self, failing: PathResult) -> None:
        """Take a failing strict run as the shortest so far, without running its inputs again."""
        with writing(failing.trace, "the trace"):
            _mark(failing.trace.read_bytes(), self.trace, {"shrunk": True})
        self.best = replace(failing, trace=self.trace)
        self._learnt(self.issue(failing, self.signature))

    async def eagerly(self, candidate: Candidate) -> Issue | None:
        """Run a candidate eagerly; return its issue, None if it passes. It deletes the trace."""
        scratch = self._scratch()
        try:
            return self._issue(await self._run(candidate, scratch, "eager"))
        finally:
            _delete(scratch)

    async def quickly(self, candidate: Candidate, counts: RunCounts = counts_always) -> Issue | None:
        """Run a candidate eagerly if the last one was no hit, otherwise strictly; return its issue, None if it passes.

        Hits come in rows. A candidate that fails eagerly is also run strictly, and only the strict run counts: eager
        mode may report failures that strict mode does not. Only a failure whose signature an earlier strict run has
        shown needs no strict run.
        """
        seen: Issue | None = None
        if self._first == "eager":
            seen = await self.eagerly(candidate)
            if seen is None and self._eager_runs is EagerRuns.NONE:
                self._eager_runs = EagerRuns.PASSED
            if seen is None or seen.signature in self.others:
                return seen
        issue = await self.shows(candidate, counts)
        hit = issue is not None and issue.signature == self.signature
        self._first = "strict" if hit else "eager"
        if hit and seen is not None:
            self._eager_runs = EagerRuns.SHOWED
        return issue

    def _counts(self, signature: Signature, result: PathResult) -> bool:
        """Return whether another failure counts: one beside a stall does so when it occurs again."""
        counts = not is_stalled(result) or signature in self._doubted
        self._doubted.add(signature)
        return counts and self.bench.known_issue(result.verdict.failure) is None

    def _issue(self, result: PathResult) -> Issue | None:
        """Return the issue that a run shows, None if it passed.

        A known issue with the wanted signature counts as passed, unless the original shows it. A signature has only
        types, so a new failure would shrink to an old one that is easier to reach.
        """
        failure = result.verdict.failure
        kind = None if failure is None else self.scope.of(failure.signature)
        if kind is not None and self._timer and late_timer(failure) == self._timer:
            kind = self.signature
        # what a race has done may show only afterwards, by one input
        if failure is not None and result.together > 1 and self._race == replace(failure.signature, input=""):
            kind = self.signature
        if kind is None or (kind == self.signature and self.bench.known_issue(failure) is not self._known):
            return None
        was = self._failure if kind != self.signature else None
        if failure and was and failure.input == was.input and failure.port != was.port and failure.port and was.port:
            self.elsewhere.add(kind)
        return self.issue(result, kind)

    def issue(self, result: PathResult, kind: Signature) -> Issue:
        """Return the issue of a run that shows a kind of failure."""
        return replace(issue_of(self.oracle, result.events, bursts=self.header.burst > 1), signature=kind)

    def _scratch(self) -> Path:
        return self.source.with_suffix(f".candidate-{next(self._numbers)}.jsonl")

    def _learnt(self, issue: Issue) -> Issue:
        self._proven.update(
            self.oracle.silence_of(node, step.input) for step in issue.steps[:-1] for node in step.nodes
        )
        return issue

    async def _run_until_decided(self, candidate: Candidate, scratch: Path, least: int = 0) -> PathResult:
        """Run a candidate strictly, and again if undecided: that is no pass, and no sign of a rare failure."""
        for _ in range(UNDECIDED - 1):
            result = await self._run(candidate, scratch, "strict", least)
            if result.verdict.outcome != "inconclusive":
                return result
        result = await self._run(candidate, scratch, "strict", least)
        self.undecided += result.verdict.outcome == "inconclusive"
        return result

    async def _run(self, candidate: Candidate, scratch: Path, mode: Mode, least: int = 0) -> PathResult:
        header = replace(self.header, mode=mode)
        run = PathRun(self.bench, self.oracle, header, scratch, records=False, least=least)
        chooser = candidate.chooser()
        pace = Pace(
            mode,
            header.burst,
            self.bench.timing,
            self._proven,
            Timers(
                last=True,
                between=self.waits_between,
                patience=self.patience,
                only="" if " " in self._timer else self._timer,
            ),
            joins=joins(chooser),
        )
        self.resets += 1
        result = await run.run(chooser, candidate.limit, pace.pacing(), earlier=self._earlier)
        self.transitions += result.steps
        if result.unwritten:
            raise WriteError(result.unwritten)  # it would be the result, but its trace is incomplete
        return result


def _delete(scratch: Path) -> None:
    with suppress(OSError):  # renamed already, or its folder was not writable
        scratch.unlink()


def _move(result: PathResult, trace: Path) -> PathResult:
    # renamed at once, so that the best trace so far survives an interruption
    with writing(trace, "the trace"):
        result.trace.replace(trace)
    return replace(result, trace=trace)


def mark_finished(trace: Path, ended: str, rate: float, runs: int) -> None:
    """Mark a trace in its header: as minimal, or with the reason why the search ended; and with its failure rate."""
    with writing(trace, "the trace"):
        whole = trace.read_bytes()
    marks: dict[str, object] = {"ended": ended} if ended else {"minimal": True}
    _mark(whole, trace, {**marks, "rate": rate, "runs": runs})


def _mark(whole: bytes, trace: Path, marks: dict[str, object]) -> None:
    first, rest = whole.split(b"\n", 1)
    put(trace, msgspec.json.encode(msgspec.json.decode(first) | marks) + b"\n" + rest)
