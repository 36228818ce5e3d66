"""`otf mutants`: run against every mutant that the bench ships, to check that the tester finds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from otf.adapter import Bench
from otf.campaign import Campaign, Settings, Summary
from otf.cli.benches import MODEL_FILES, model, named
from otf.cli.output import document, fresh, say
from otf.cli.progress import listening
from otf.cli.signals import Done, interruptible
from otf.cli.tools.model_commands import MutantsCommand
from otf.cli.tools.model_mutants import mutate_model
from otf.errors import FAIL, INCONCLUSIVE, PASS, UsageError, choose
from otf.mutation import bench_of
from otf.spec import Spec
from otf.trace.result import InconclusiveResult, counted

STEPS = 100


@dataclass(frozen=True, slots=True)
class MutantResult:
    """The result of one mutant: the steps until it failed (or all steps sent), and the shrunk trace.

    `undecided` holds the inconclusive paths of a mutant that was not found, by reason.
    """

    mutant: str
    found: bool
    steps: int
    shrunk: int | None = None
    trace: str | None = None
    trouble: str = ""
    undecided: tuple[InconclusiveResult, ...] = ()

    @property
    def exit_status(self) -> int:
        """Return the exit status for this mutant alone."""
        if self.found:
            return PASS
        # if the machine kept the tester from judging, that does not show that it would miss the mistake
        return INCONCLUSIVE if self.trouble or self.undecided else FAIL


def mutants(asked: MutantsCommand) -> int:
    """Do what the command asks; return the exit status."""
    bare = _bare(asked.bench)
    modelled = bare is not None or asked.model or asked.operators
    shipped = {} if modelled else _mutants(asked.bench, asked.system.load(asked.bench), asked.only)
    if not shipped:
        return mutate_model(bare or asked.system.load(asked.bench), asked)
    folder = asked.out or fresh("mutants")
    settings = _settings(asked, folder)
    places = {name: f"{name}, {at} of {len(shipped)}" for at, name in enumerate(shipped, 1)}

    def one(name: str) -> Done[MutantResult]:
        own = replace(settings, out=folder / name)
        return _one(own, name, asked.system.load(asked.bench, fault=name), places[name], quiet=asked.as_json)

    rows, signal = _all(shipped, one)
    if asked.as_json:
        document([_json(row) for row in rows])
    else:
        tried = {row.mutant for row in rows if not row.trouble}
        left = [name for name in shipped if name not in tried]
        untried = f"; not tried to the end: {', '.join(left)}" * bool(left)
        say(f"{sum(row.found for row in rows)} of {len(shipped)} mutants found{untried}; traces: {folder}/")
    statuses = {row.exit_status for row in rows}
    return next((status for status in (INCONCLUSIVE, FAIL) if status in statuses), signal)


def _all(names: Iterable[str], one: Callable[[str], Done[MutantResult]]) -> tuple[list[MutantResult], int]:
    """Return the results up to the first trouble or interruption, and the exit status of an interruption."""
    rows: list[MutantResult] = []
    for name in names:
        done = one(name)
        if done.value is not None:
            rows.append(done.value)
        if done.signal or rows[-1].trouble:
            return rows, done.status(PASS)
    return rows, PASS


def _bare(reference: str) -> Bench | None:
    """Return a bench around a bare model; None if the reference is a bench."""
    if Path(reference).suffix in MODEL_FILES or isinstance(named(reference), Spec):
        return bench_of(model(reference, {}))
    return None


def _mutants(bench: str, loaded: Bench, only: list[str] | None) -> dict[str, str]:
    shipped = dict(loaded.mutants)
    unknown = [name for name in only or () if name not in shipped]
    if unknown:
        none = f"{bench} ships no mutants; without --fault its model is mutated"
        raise UsageError(f"--fault {unknown[0]}: {choose(unknown[0], shipped, f'{bench} ships') if shipped else none}")
    return {name: says for name, says in shipped.items() if not only or name in only}


def _settings(asked: MutantsCommand, folder: Path) -> Settings:
    steps = min(STEPS, asked.budget)
    traces = -(-asked.budget // steps)
    plan = Settings(out=folder, reference=asked.bench, seed=asked.seed, jobs=asked.jobs, where=tuple(asked.system.sut))
    return replace(plan, traces=traces, steps=steps, keep="failures", stop_first=True, aftermath=0.0)


def _one(settings: Settings, name: str, loaded: Bench, which: str, *, quiet: bool) -> Done[MutantResult]:
    """Test one mutant, and print the result; `which` is its name and place, for the progress."""
    campaign = Campaign(loaded, settings)

    async def work() -> MutantResult:
        with listening(settings, campaign.summary, None, quiet=quiet, what=which) as campaign.listener:
            return _result_of(name, await campaign.run())

    done = interruptible(work)
    if done.value is not None and not quiet:
        _report(done.value, loaded.mutants[name])
    return done


def _result_of(name: str, summary: Summary) -> MutantResult:
    for group in summary.failures.values():
        trace = (group.shrunk or group.first).trace
        return MutantResult(name, True, summary.steps, group.shrunk.steps if group.shrunk else None, str(trace))
    return MutantResult(name, False, summary.steps, trouble=summary.trouble, undecided=summary.result.inconclusive)


def _json(row: MutantResult) -> dict[str, Any]:
    found = {"fault": row.mutant, "found": row.found, "steps": row.steps, "shrunk": row.shrunk, "trace": row.trace}
    undecided = [{"why": each.why, "count": each.paths, "trace": each.trace} for each in row.undecided]
    return (
        found | ({"trouble": row.trouble} if row.trouble else {}) | ({"inconclusive": undecided} if undecided else {})
    )


def _report(row: MutantResult, says: str) -> None:
    if row.trouble:
        say(f"{row.mutant:4} stopped: {row.trouble}")
        return
    shrunk = f", shrunk to {row.shrunk}" if row.shrunk is not None else ""
    steps = counted(row.steps, "step")
    result = f"found after {steps}{shrunk}" if row.found else f"NOT found in {steps}"
    say(f"{row.mutant:4} {result:40} {says}")
    for each in row.undecided:
        say(f"     inconclusive ({counted(each.paths, 'path')}): {each.why}")
