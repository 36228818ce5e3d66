"""Confirming: a failure that eager mode saw is driven again strictly before anybody is blamed."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from otf.adapter import Bench
from otf.campaign.paths import PathRun
from otf.campaign.results import PathResult
from otf.core import Oracle
from otf.strategy import Script
from otf.trace.events import Sent
from otf.trace.record import Header
from otf.trace.verdict import Verdict

TRIES: Final = 3  # strict re-runs before a failure counts as seen in eager mode only


async def confirm(bench: Bench, oracle: Oracle, header: Header, failing: PathResult) -> tuple[PathResult, int]:
    """Return the strict run that fails too, or the original as inconclusive; with the number of tries.

    The strict run's trace lies beside the original as `….strict.jsonl`. Raises ContactError as a path does.
    """
    inputs = [event.input for event in failing.events if isinstance(event, Sent)]
    trace = failing.trace.with_suffix(".strict.jsonl")
    for tries in range(1, TRIES + 1):
        again = await PathRun(bench, oracle, header, trace).run(Script(inputs), len(inputs))
        if again.verdict.failed:
            return again, tries
    if failing.verdict.failure is not None and failing.verdict.failure.kind == "ended":
        # eager mode may be wrong about what should have come by now, never about a system that is gone
        return failing, TRIES
    why = f"a failure was seen in eager mode only: {TRIES} strict re-runs of the same inputs passed"
    return replace(failing, verdict=Verdict("inconclusive", why=why), events=()), TRIES
