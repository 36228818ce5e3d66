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


async def new_evidence(record: RequirementRecord, path: PathResult, bench: Bench, oracle: Oracle) -> RequirementRecord:
    """Return what a path adds to a record: the requirements that it violates, and those that its trace shows.

    Nothing is read where the model refers to no requirement, or where all are decided.
    """
    found, failure = RequirementRecord(), path.verdict.failure
    if failure is not None:
        known = next((issue for issue in bench.known_issues if issue.shows(failure)), None)
        found.failed(failure, str(path.trace))
        found.violates(requirements(known.req) if known else (), str(path.trace))
    if record.open(oracle.model.requirements):
        evidence = RequirementEvidence(found.reached, set(record.decided))
        # a trace that cannot be read says nothing; its path counts all the same
        with suppress(OSError, TraceError):
            await _follow(evidence, path, bench, oracle)
        found.decided = evidence.decided - record.decided
    found.reached = found.reached - record.reached
    found.violated = {name: trace for name, trace in found.violated.items() if name not in record.violated}
    return found


async def _follow(evidence: RequirementEvidence, path: PathResult, bench: Bench, oracle: Oracle) -> None:
    monitor = Monitor(oracle)
    with path.trace.open("rb") as file:
        reader = TraceReader(bounded(file), str(path.trace))
        for number, read in enumerate(reader.events(Registry(bench.known_types))):
            if number % EVENTS == 0:
                await checkpoint()
            if monitor.tell(read.event) is not None:
                return
            evidence.follow(read.event, monitor)
