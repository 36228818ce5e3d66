"""Candidates driven against fresh copies of the system: what each showed, what it took, the shortest trace so far.

Most candidates pass, and most of the time is spent on waiting for silence. So a search may have them driven eagerly
first; what fails then is driven once more, strictly, and nothing but that run counts.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

import msgspec

from otf.adapter import Bench
from otf.campaign.paths import Pace, PathRun
from otf.campaign.results import PathResult
from otf.campaign.settings import Budget, Mode
from otf.core import Node, Oracle, Symbol
from otf.core.timers import Timers
from otf.errors import WriteError
from otf.runner.files import put, writing
from otf.shrink import Candidate, Issue, issue_of
from otf.trace.record import Header
from otf.trace.verdict import Signature


class Tries:
    """Runs candidates, keeps the shortest trace that failed as wanted, and counts what it takes."""

    def __init__(self, bench: Bench, oracle: Oracle, header: Header, failing: PathResult, signature: Signature) -> None:
        self.bench = bench
        self.oracle = oracle
        self.header: Header = replace(header, shrunk=True, mode="strict")
        self.signature = signature
        self.source: Path = failing.trace
        self.trace: Path = failing.trace.with_suffix(".shrunk.jsonl")
        self.transitions: int = 0
        self.resets: int = 0
        self.best: PathResult | None = None
        self.others: dict[Signature, PathResult] = {}
        self._numbers = count(1)
        # what strict runs waited for
        self._proven: set[tuple[Node, Symbol]] = set()
        self._missed = self._shown = self._unseen = False

    def within(self, budget: Budget) -> bool:
        """Tell whether the budget allows one more candidate."""
        return self.transitions < budget.transitions and self.resets < budget.resets

    @property
    def waits(self) -> bool:
        """Tell whether eager runs would take less time and still be runs of the same kind.

        A system in this process is waited for in no mode, a burst in both; faults on purpose go by the time.
        """
        return self.bench.system is None and self.header.burst == 1 and not (self.best and self.best.faults)

    @property
    def doubtful(self) -> bool:
        """Tell whether candidates passed in eager runs, and none of these ever showed the failure."""
        return self._unseen and not self._shown

    async def shows(self, candidate: Candidate) -> Issue | None:
        """Run a candidate strictly; return the issue that it shows, None where it passes."""
        scratch = self._scratch()
        try:
            result = await self._run(candidate, scratch, "strict")
            failure = result.verdict.failure
            if failure is None:
                return None
            if failure.signature == self.signature:
                # of two of one length the later is the simpler one
                if self.best is None or result.steps <= self.best.steps:
                    self.best = _moved(result, self.trace)
            elif failure.signature not in self.others:
                name = f".other-{len(self.others) + 1}.jsonl"
                self.others[failure.signature] = _moved(result, self.source.with_suffix(name))
            return self._learnt(replace(issue_of(self.oracle, result.events), signature=failure.signature))
        finally:
            _gone(scratch)

    async def eagerly(self, candidate: Candidate) -> Issue | None:
        """Run a candidate eagerly; return its issue, None where it passes. No trace of it is kept."""
        scratch = self._scratch()
        try:
            result = await self._run(candidate, scratch, "eager")
        finally:
            _gone(scratch)
        failure = result.verdict.failure
        if failure is None:
            return None
        return replace(issue_of(self.oracle, result.events), signature=failure.signature)

    async def quickly(self, candidate: Candidate) -> Issue | None:
        """Run a candidate eagerly if the last one was in vain, strictly if not; return what it showed, None: it passed.

        Hits come in rows, and what fails eagerly is run strictly as well: nothing but the strict run counts. Only what
        is blamed just as in a strict run that showed another failure is that one; an eager run may blame more.
        """
        seen: Issue | None = None
        if self._missed:
            seen = await self.eagerly(candidate)
            self._unseen = self._unseen or seen is None
            if seen is None or seen.signature in self.others:
                return seen
        issue = await self.shows(candidate)
        hit = issue is not None and issue.signature == self.signature
        self._missed = not hit
        self._shown = self._shown or (hit and seen is not None)
        return issue

    def _scratch(self) -> Path:
        return self.source.with_suffix(f".candidate-{next(self._numbers)}.jsonl")

    def _learnt(self, issue: Issue) -> Issue:
        self._proven.update((node, step.input) for step in issue.steps[:-1] for node in step.nodes)
        return issue

    async def _run(self, candidate: Candidate, scratch: Path, mode: Mode) -> PathResult:
        header = replace(self.header, mode=mode)
        run = PathRun(self.bench, self.oracle, header, scratch)
        pace = Pace(mode, header.burst, self.bench.timing, self._proven, Timers(last=True))
        result = await run.run(candidate.chooser(), candidate.limit, pace.pacing())
        self.transitions += result.steps
        self.resets += 1
        if result.unwritten:
            raise WriteError(result.unwritten)  # it would be the result, and its trace is not whole
        return result


def _gone(scratch: Path) -> None:
    with suppress(OSError):  # renamed already, or its folder could not be written
        scratch.unlink()


def _moved(result: PathResult, trace: Path) -> PathResult:
    # renamed at once, so that an interruption leaves the best so far
    with writing(trace, "the trace"):
        result.trace.replace(trace)
    return replace(result, trace=trace)


def finished(trace: Path) -> None:
    """Note in the header of a trace that the search for less came to its end."""
    with writing(trace, "the trace"):
        first, rest = trace.read_bytes().split(b"\n", 1)
    header = msgspec.json.encode(msgspec.json.decode(first) | {"minimal": True})
    put(trace, header + b"\n" + rest)
