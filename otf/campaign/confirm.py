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
TOGETHER: Final = 0.02
"""Seconds between the end of a system and an interruption of the tester within which one signal may have ended both."""


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
    return _blamed(
        failing, f"a failure was seen in eager mode only: {TRIES} strict re-runs of the same inputs passed"
    ), TRIES


def unconfirmed(failing: PathResult, why: str) -> PathResult:
    """Return a failure of eager mode that was not driven again: it is inconclusive, unless it is a death."""
    return _blamed(failing, f"a failure was seen in eager mode, and {why}")


def at_once(failing: PathResult) -> PathResult:
    """Return a death as it counts where the tester was interrupted at the same time: as inconclusive."""
    why = "the system ended as the tester was interrupted: the same signal may have ended both"
    return replace(failing, verdict=Verdict("inconclusive", why=why), events=())


def _blamed(failing: PathResult, why: str) -> PathResult:
    # eager mode may be wrong about what should have come by now, never about a system that is gone; and where one that
    # nobody starts again has died, nothing is there to be driven
    if failing.verdict.failure is not None and failing.verdict.failure.kind == "ended":
        return failing
    return replace(failing, verdict=Verdict("inconclusive", why=why), events=())
