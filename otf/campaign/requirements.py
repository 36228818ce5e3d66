"""Requirements on the paths of a campaign: each trace is followed again, until every requirement is decided."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from anyio.lowlevel import checkpoint

from otf.adapter import Bench
from otf.campaign.results import PathResult
from otf.core import Monitor, Oracle, RequirementEvidence
from otf.errors import TraceError
from otf.spec.transition import requirements
from otf.trace.reading import TraceReader, bounded
from otf.trace.requirements import RequirementRecord
from otf.trace.tagged import Registry

EVENTS: Final = 200  # after which other paths have their turn


async def note_requirements(record: RequirementRecord, path: PathResult, bench: Bench, oracle: Oracle) -> None:
    """Add what a path says of the requirements: those that it violates, and what its trace gives evidence of.

    Nothing is read where the model refers to no requirement, or where all are decided.
    """
    failure = path.verdict.failure
    if failure is not None:
        known = next((issue for issue in bench.known_issues if issue.shows(failure)), None)
        record.failed(failure, str(path.trace))
        record.violates(requirements(known.req) if known else (), str(path.trace))
    if record.open(oracle.model.requirements):
        # a trace that cannot be read says nothing; its path counts all the same
        with suppress(OSError, TraceError):
            await _follow(record, path, bench, oracle)


async def _follow(record: RequirementRecord, path: PathResult, bench: Bench, oracle: Oracle) -> None:
    monitor, evidence = Monitor(oracle), RequirementEvidence(record.reached, record.decided)
    with path.trace.open("rb") as file:
        reader = TraceReader(bounded(file), str(path.trace))
        for number, read in enumerate(reader.events(Registry(bench.known_types))):
            if number % EVENTS == 0:
                await checkpoint()
            if monitor.tell(read.event) is not None:
                return
            evidence.follow(read.event, monitor)
