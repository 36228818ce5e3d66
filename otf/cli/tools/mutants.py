"""`otf mutants`: run against every mutant that the bench ships, to check that the tester finds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from otf.cli.option_values import faults
from otf.cli.options import AsJson, BenchName, Jobs, Out, SystemOptions, flag, guarded, option
from otf.cli.output import document, fresh, say
from otf.cli.signals import Done, interruptible
from otf.errors import FAIL, INCONCLUSIVE, PASS, UsageError

if TYPE_CHECKING:
    from otf.adapter import Bench
    from otf.campaign import Settings, Summary
    from otf.trace.result import InconclusiveResult

BUDGET = 20_000
SECONDS = 300.0
STEPS = 100


@dataclass(frozen=True, slots=True)
class MutantResult:
    """The result of one mutant: steps until it failed (or all that were sent), and the shrunk trace.

    `undecided` are the inconclusive paths of one that was not found, by their reasons.
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
        """Return the exit status that this mutant alone would have."""
        if self.found:
            return PASS
        # what the machine kept the tester from judging is no sign that it cannot see the mistake
        return INCONCLUSIVE if self.trouble or self.undecided else FAIL


EXAMPLES = """\b
Examples:
  otf mutants coffee               each known fault must be found
  otf mutants coffee --fault free  one of them
"""


@guarded
def mutants(
    bench: BenchName,
    only: Annotated[
        list[str] | None, option("ID", "Only this mutant; repeatable.", "--fault", autocompletion=faults)
    ] = None,
    budget: Annotated[int, option("STEPS", "How many inputs may be sent to each mutant.", min=1)] = BUDGET,
    seed: Annotated[int, option("NUMBER", "The seed of all campaigns.")] = 1,
    model: Annotated[bool, flag("--model", "Mutate the model itself, though the bench ships mutants.")] = False,
    most: Annotated[int, option("NUMBER", "How many mutants of the model are tried.", min=1)] = 100,
    operators: Annotated[
        list[str] | None, option("NAME", "Only such mutants of the model: drop, field, …; repeatable.", "--operator")
    ] = None,
    seconds: Annotated[float, option("SECONDS", "Virtual time for each mutant of the model.", min=0.0)] = SECONDS,
    spend: Annotated[
        float | None, option("SECONDS", "End after this time; mutants of the model only.", min=0.0)
    ] = None,
    mode: Annotated[str, option("MODE", "For mutants of the model: eager or strict.")] = "eager",
    jobs: Jobs = 1,
    out: Out = None,
    *,
    system: SystemOptions,
    as_json: AsJson = False,
) -> int:
    """Run against every mutant that the bench ships, and print which were found, in how many steps.

    It tests the tester: each mutant is the system with one known mistake. A failure that is found is shrunk at once.
    If the bench ships none, or BENCH is a model, mutants of the model are tried, served as the system in virtual time:
    see "Would this bench notice?" in docs/howto-models.md. With --out DIR their fates are written there, for the page
    of `otf report DIR`. The exit status is 0 if all mutants were found or are
    proved to conform, 1 if one was not, 3 if paths of one that was not were inconclusive.
    """
    from otf.campaign import Settings
    from otf.cli.tools.model_mutants import MutationPlan, mutate_model

    bare = _bare(bench)
    shipped = None if bare is not None or model or operators else _mutants(bench, system.load(bench), only)
    if not shipped:
        plan = MutationPlan(most, budget, seconds, seed, mode, tuple(operators or ()), spend)
        return mutate_model(bare or system.load(bench), plan, out, as_json=as_json)
    folder = out or fresh("mutants")
    asked = _asked(Settings(out=folder, reference=bench, seed=seed, jobs=jobs, where=tuple(system.sut)), budget)
    places = {name: f"{name}, {at} of {len(shipped)}" for at, name in enumerate(shipped, 1)}

    def one(name: str) -> Done[MutantResult]:
        settings = replace(asked, out=folder / name)
        return _one(settings, name, system.load(bench, fault=name), places[name], quiet=as_json)

    rows, signal = _all(shipped, one)
    if as_json:
        document([_json(row) for row in rows])
    else:
        tried = {row.mutant for row in rows if not row.trouble}
        left = [name for name in shipped if name not in tried]
        untried = f"; not tried to the end: {', '.join(left)}" * bool(left)
        say(f"{sum(row.found for row in rows)} of {len(shipped)} mutants found{untried}; traces: {folder}/")
    statuses = {row.exit_status for row in rows}
    return next((status for status in (INCONCLUSIVE, FAIL) if status in statuses), signal)


def _all(names: Iterable[str], one: Callable[[str], Done[MutantResult]]) -> tuple[list[MutantResult], int]:
    """Return the results up to the first trouble or interruption, and the exit status of the latter."""
    rows: list[MutantResult] = []
    for name in names:
        done = one(name)
        if done.value is not None:
            rows.append(done.value)
        if done.signal or rows[-1].trouble:
            return rows, done.status(PASS)
    return rows, PASS


def _bare(reference: str) -> Bench | None:
    """Return a bench around a model that has none; None if the reference is of a bench."""
    from otf.cli.benches import MODEL_FILES, named
    from otf.cli.tools.explore import model
    from otf.mutation import bench_of
    from otf.spec import Spec

    if Path(reference).suffix in MODEL_FILES or isinstance(named(reference), Spec):
        return bench_of(model(reference, {}))
    return None


def _mutants(bench: str, loaded: Bench, only: list[str] | None) -> dict[str, str]:
    shipped = dict(loaded.mutants)
    unknown = [name for name in only or () if name not in shipped]
    if unknown:
        ships = f"ships {', '.join(shipped)}" if shipped else "ships no mutants; without --fault its model is mutated"
        raise UsageError(f"--fault {unknown[0]}: {bench} {ships}")
    return {name: says for name, says in shipped.items() if not only or name in only}


def _asked(settings: Settings, budget: int) -> Settings:
    steps = min(STEPS, budget)
    traces = -(-budget // steps)
    return replace(settings, traces=traces, steps=steps, keep="failures", stop_first=True, aftermath=0.0)


def _one(settings: Settings, name: str, loaded: Bench, which: str, *, quiet: bool) -> Done[MutantResult]:
    """Test one mutant, and print the result; `which` is its name and place for the progress."""
    from otf.campaign import Campaign
    from otf.cli.progress import listening

    campaign = Campaign(loaded, settings)

    async def work() -> MutantResult:
        with listening(settings, campaign.summary, None, quiet=quiet, what=which) as campaign.listener:
            return _found(name, await campaign.run())

    done = interruptible(work)
    if done.value is not None and not quiet:
        _report(done.value, loaded.mutants[name])
    return done


def _found(name: str, summary: Summary) -> MutantResult:
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
    from otf.trace.result import counted

    if row.trouble:
        say(f"{row.mutant:4} stopped: {row.trouble}")
        return
    shrunk = f", shrunk to {row.shrunk}" if row.shrunk is not None else ""
    steps = counted(row.steps, "step")
    result = f"found after {steps}{shrunk}" if row.found else f"NOT found in {steps}"
    say(f"{row.mutant:4} {result:40} {says}")
    for each in row.undecided:
        say(f"     inconclusive ({counted(each.paths, 'path')}): {each.why}")
