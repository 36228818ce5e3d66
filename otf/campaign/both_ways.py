"""A system that starts from a snapshot: one path in so many that passed is driven again from a reset.

A snapshot is taken once, after the start. So no path that begins with it would show a fault in the start itself.
"""

from __future__ import annotations

from dataclasses import replace

from otf.adapter import Bench
from otf.adapter.log import note
from otf.campaign.confirm import STRICT
from otf.campaign.pace import repeating
from otf.campaign.paths import PathRun
from otf.campaign.recorder import reread
from otf.campaign.results import PathResult
from otf.core import Oracle
from otf.strategy import Script
from otf.strategy.renames import NamedRun
from otf.trace.events import Sent
from otf.trace.record import Header

_HIDDEN = "from the snapshot the same inputs passed: it hides what goes wrong from a reset"


def is_due(bench: Bench, number: int, passed: PathResult) -> bool:
    """Return whether a path is to be driven both ways."""
    snapshot = None if bench.life is None else bench.life.snapshot
    return snapshot is not None and passed.verdict.outcome == "pass" and number % snapshot.both == 0


async def both_ways(own: Bench, oracle: Oracle, head: Header, passed: PathResult, until: float) -> PathResult:
    """Return the strict run of the inputs of a path from a reset, if that fails, else the path. Raises ContactError."""
    events, trace = reread(passed.trace, own), passed.trace.with_suffix(STRICT)
    inputs = [event.input for event in events if isinstance(event, Sent)]
    pacing = repeating(oracle, own, events, head.burst).pacing()
    run = PathRun(own, oracle, head, trace)
    again = await run.run(Script(inputs), len(inputs), pacing, until=until, earlier=[NamedRun.of(oracle, events)])
    if not again.verdict.failed or again.verdict.failure is None:
        trace.unlink(missing_ok=True)
        return passed
    note("it fails from a reset alone", "warning", trace=str(trace))
    told = "\n".join(filter(None, [again.verdict.failure.note, _HIDDEN]))
    return replace(again, verdict=replace(again.verdict, failure=replace(again.verdict.failure, note=told)))
