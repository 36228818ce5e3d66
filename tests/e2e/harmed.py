"""Eager runs on any bench, each against a fresh process that comes to harm; and whether they are on record."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import anyio

from otf import Bench
from otf.adapter import Line
from otf.campaign import Settings
from otf.campaign.pace import Pace
from otf.campaign.paths import PathRun
from otf.campaign.results import PathResult
from otf.campaign.settings import header
from otf.core import Chooser
from otf.offline import judge
from otf.trace.reading import TraceReader
from tests.cli.command import recorded
from tests.e2e.harm import Harm

# for a machine that is busy: with four processes on two cores, one of 700 runs came half a second late
MARGIN: Final = 2.0  # seconds
TURN: Final = 0.02  # seconds between the last look at a port and the word that it was silent, on such a machine
LOOPS: Final[dict[str, tuple[str, dict[str, bool]]]] = {
    "asyncio": ("asyncio", {}),
    "uvloop": ("asyncio", {"use_uvloop": True}),
    "trio": ("trio", {}),
}


@dataclass(frozen=True)
class Ran:
    """A run: what came of it, and when all was over, by the clock of this machine."""

    result: PathResult
    over: float


class Rig(ABC):
    """A bench for many runs in the folder that we are in, of at most so many steps."""

    def __init__(self, bench: Bench, steps: int) -> None:
        self.bench: Bench = replace(bench, connect=self.connect)
        self.steps = steps
        self.harm: Harm = Harm()
        self.runs = 0
        # kept over the runs, as a campaign does: what was seen quiet once is not waited for again
        self._pace = Pace("eager", 1, self.bench.timing)
        self._oracle = self.bench.oracle()

    @abstractmethod
    def connect(self) -> AbstractAsyncContextManager[Mapping[str, Line]]:
        """Start a system that `harm` is done to, and connect with it."""

    @abstractmethod
    def chooser(self) -> Chooser:
        """Return what chooses the inputs of the run."""

    def run(self, harm: Harm, loop: str) -> Ran:
        """Go as many steps as harm allows."""
        self.harm, self.runs = harm, self.runs + 1
        head = header(self.bench, Settings(out=Path()), self.runs)
        path = PathRun(self.bench, self._oracle, head, Path(f"{self.runs}.jsonl"), harm.told)
        backend, options = LOOPS[loop]
        pacing = self._pace.pacing()
        result = anyio.run(path.run, self.chooser(), self.steps, pacing, backend=backend, backend_options=options)
        return Ran(result, time.monotonic())


def assert_on_record(rig: Rig, harm: Harm, ran: Ran) -> None:
    """The trace has all that happened, in its order, and is judged offline as it was live."""
    verdict = ran.result.verdict
    head, *lines, end = recorded(ran.result.trace)
    assert (head["event"], head["mode"], end["event"], end["verdict"]) == ("start", "eager", "end", verdict.outcome)
    assert [line["n"] for line in lines] == list(range(1, len(harm.events) + 1))
    assert [line["event"] for line in lines] == [type(event).__name__.lower() for event in harm.events]
    assert [line["at"] for line in lines] == sorted(line["at"] for line in lines)
    with ran.result.trace.open("rb") as file:
        judged = judge(TraceReader(file, "trace"), rig.bench)
    assert not judged.cut
    # whether a process was stopped is not among the events: by these alone nothing was wrong so far
    outcome = "pass" if verdict.outcome == "inconclusive" else verdict.outcome
    assert (judged.recorded, judged.verdict.outcome, judged.verdict.failure) == (
        verdict.outcome,
        outcome,
        verdict.failure,
    )
