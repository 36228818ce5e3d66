"""Candidates driven against fresh copies of the system: what each showed, what it took, the shortest trace so far."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

import msgspec

from otf.adapter import Bench
from otf.campaign.budget import Budget
from otf.campaign.pace import Pace
from otf.campaign.paths import PathRun
from otf.campaign.results import PathResult
from otf.core import Oracle
from otf.core.timers import Timers
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

    def within(self, budget: Budget) -> bool:
        """Tell whether the budget allows one more candidate."""
        return self.transitions < budget.transitions and self.resets < budget.resets

    async def shows(self, candidate: Candidate) -> Issue | None:
        """Run a candidate; return the issue that it shows, None where it passes."""
        scratch = self.source.with_suffix(f".candidate-{next(self._numbers)}.jsonl")
        try:
            result = await self._run(candidate, scratch)
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
            return replace(issue_of(self.oracle, result.events), signature=failure.signature)
        finally:
            with suppress(OSError):  # renamed already, or its folder could not be written
                scratch.unlink()

    async def _run(self, candidate: Candidate, scratch: Path) -> PathResult:
        run = PathRun(self.bench, self.oracle, self.header, scratch)
        pacing = Pace("strict", self.header.burst, self.bench.timing, timers=Timers(last=True)).pacing()
        result = await run.run(candidate.chooser(), candidate.limit, pacing)
        self.transitions += result.steps
        self.resets += 1
        return result


def _moved(result: PathResult, trace: Path) -> PathResult:
    # renamed at once, so that an interruption leaves the best so far
    result.trace.replace(trace)
    return replace(result, trace=trace)


def finished(trace: Path) -> None:
    """Note in the header of a trace that the search for less came to its end."""
    first, rest = trace.read_bytes().split(b"\n", 1)
    header = msgspec.json.encode(msgspec.json.decode(first) | {"minimal": True})
    whole = trace.with_suffix(".whole.jsonl")
    whole.write_bytes(header + b"\n" + rest)
    whole.replace(trace)
