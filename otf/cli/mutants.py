"""`otf mutants`: run against every fault that the bench ships, to see that the tester finds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from otf.campaign import Campaign, Settings, Summary
from otf.cli.benches import load, parsed
from otf.cli.ending import document, guarded, say
from otf.cli.folders import fresh
from otf.cli.interrupt import Done, interruptible
from otf.cli.options import AsJson, BenchName, Out, Sets
from otf.cli.progress import listening
from otf.cli.telling import counted
from otf.errors import FAIL, INCONCLUSIVE, PASS, UsageError

BUDGET = 20_000
STEPS = 100


@dataclass(frozen=True, slots=True)
class MutantResult:
    """What came of one fault: steps until it was seen (of the whole budget where it was not), and the shrunk trace."""

    fault: str
    found: bool
    steps: int
    shrunk: int | None = None
    trace: str | None = None
    trouble: str = ""

    @property
    def exit_status(self) -> int:
        """Return the exit status that this fault alone would have."""
        return INCONCLUSIVE if self.trouble else PASS if self.found else FAIL


@guarded
def mutants(
    bench: BenchName,
    only: Annotated[
        list[str] | None, typer.Option("--fault", metavar="ID", help="Only this fault; repeatable.")
    ] = None,
    budget: Annotated[
        int, typer.Option(metavar="STEPS", min=1, help="How many inputs may be sent for each fault.")
    ] = BUDGET,
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="The seed of all campaigns.")] = 1,
    out: Out = None,
    sets: Sets = None,
    as_json: AsJson = False,
) -> int:
    """Run against every fault that the bench ships, and tell which were found, in how many steps.

    It tests the tester: each fault is a known mistake that the bench can put into the system. A fault that is found is
    shrunk at once. The exit status is 0 where all were found, 1 where one was not.
    """
    faults = _faults(bench, parsed(sets), only)
    folder = out or fresh("mutants")
    rows, signal = _all(faults, lambda fault: _one(bench, fault, budget, seed, folder / fault, parsed(sets), as_json))
    if as_json:
        document([_json(row) for row in rows])
    else:
        say(f"{sum(row.found for row in rows)} of {len(faults)} faults found; traces: {folder}/")
    statuses = {row.exit_status for row in rows}
    return next((status for status in (INCONCLUSIVE, FAIL) if status in statuses), signal)


def _all(faults: Mapping[str, str], one: Callable[[str], Done[MutantResult]]) -> tuple[list[MutantResult], int]:
    """Return what came of the faults up to the first trouble or interruption, and the exit status of the latter."""
    rows: list[MutantResult] = []
    for fault in faults:
        done = one(fault)
        if done.value is not None:
            rows.append(done.value)
        if done.signal or rows[-1].trouble:
            return rows, done.status(PASS)
    return rows, PASS


def _faults(bench: str, sets: Mapping[str, object], only: list[str] | None) -> dict[str, str]:
    faults = dict(load(bench, sets).mutants)
    if not faults:
        message = f"{bench}: this bench ships no faults"
        raise UsageError(message)
    unknown = [fault for fault in only or () if fault not in faults]
    if unknown:
        message = f"--fault {unknown[0]}: {bench} ships {', '.join(faults)}"
        raise UsageError(message)
    return {fault: says for fault, says in faults.items() if not only or fault in only}


def _one(
    bench: str, fault: str, budget: int, seed: int, out: Path, sets: Mapping[str, object], quiet: bool
) -> Done[MutantResult]:
    """Look for one fault, and tell what came of it."""
    loaded = load(bench, {**sets, "fault": fault})
    steps = min(STEPS, budget)
    settings = Settings(
        out=out, reference=bench, traces=-(-budget // steps), steps=steps, seed=seed, keep="failures", stop_first=True
    )
    campaign = Campaign(loaded, settings)

    async def work() -> MutantResult:
        with listening(settings, quiet=quiet, what=fault) as campaign.listener:
            return _found(fault, await campaign.run())

    done = interruptible(work)
    if done.value is not None and not quiet:
        _tell(done.value, loaded.mutants[fault])
    return done


def _found(fault: str, summary: Summary) -> MutantResult:
    for group in summary.failures.values():
        told = group.shrunk or group.first
        return MutantResult(fault, True, summary.steps, group.shrunk.steps if group.shrunk else None, str(told.trace))
    return MutantResult(fault, False, summary.steps, trouble=summary.trouble)


def _json(row: MutantResult) -> dict[str, Any]:
    found = {"fault": row.fault, "found": row.found, "steps": row.steps, "shrunk": row.shrunk, "trace": row.trace}
    return {**found, "trouble": row.trouble} if row.trouble else found


def _tell(row: MutantResult, says: str) -> None:
    if row.trouble:
        say(f"{row.fault:4} stopped: {row.trouble}")
        return
    shrunk = f", shrunk to {row.shrunk}" if row.shrunk is not None else ""
    steps = counted(row.steps, "step")
    result = f"found after {steps}{shrunk}" if row.found else f"NOT found in {steps}"
    say(f"{row.fault:4} {result:40} {says}")
