"""`otf shrink`: find the shortest trace with the same failure. `otf rerun`: drive the system again with a trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from otf.cli.choices import ALGORITHMS, BEST, RESETS, SECONDS, TRANSITIONS, among
from otf.cli.options import AsJson, FromBench, Jobs, Out, Pids, Quiescence, Sets, SilenceOption, Suts, TraceName, fresh
from otf.cli.output import columns, document, guarded, say
from otf.cli.signals import SIGNALS, Done, interruptible
from otf.errors import FAIL, INCONCLUSIVE, UsageError

if TYPE_CHECKING:
    from otf.adapter import Bench
    from otf.campaign import PathResult, Settings, Shrinker, Shrunk
    from otf.offline import Judgement
    from otf.trace.events import Event

STDIN = "stdin.jsonl"  # the trace on standard input has no name; the result is named after this


@guarded
def shrink(
    trace: TraceName,
    algorithm: Annotated[
        str,
        typer.Option(metavar="NAME", help=f"How: {', '.join(ALGORITHMS)}.", autocompletion=among(*ALGORITHMS)),
    ] = BEST,
    budget: Annotated[
        int, typer.Option(metavar="STEPS", min=1, help="How many inputs may be sent to the system.")
    ] = TRANSITIONS,
    resets: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="How many copies of the system may be started.")
    ] = RESETS,
    seconds: Annotated[float, typer.Option(metavar="SECONDS", min=0, help="How long it may take.")] = SECONDS,
    jobs: Jobs = 1,
    bench: FromBench = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The folder of the result; default: that of the trace.")
    ] = None,
    sut: Suts = None,
    sets: Sets = None,
    quiescence: Quiescence = None,
    silence: SilenceOption = None,
    pids: Pids = None,
    as_json: AsJson = False,
) -> int:
    """Find the shortest trace with the same failure; its name ends in .shrunk.jsonl.

    Inputs are left out one group after another; each time a fresh copy of the system is driven with the remaining ones.
    """
    from otf.campaign import Budget
    from otf.cli.benches import parsed
    from otf.cli.progress import ShrinkFigures, working
    from otf.cli.run_options import watched
    from otf.cli.suts import addressed
    from otf.cli.traces import bench_of, reading
    from otf.offline import judge
    from otf.trace.result import counted

    with reading(trace) as reader:
        loaded = watched(addressed(bench_of(reader, bench, parsed(sets, quiescence), drives=True), sut), silence, pids)
        judgement = judge(reader, loaded, keep=True)
    if not judgement.verdict.failed:
        return _nothing(judgement, trace, as_json=as_json)
    source = Path(STDIN) if trace == "-" else Path(trace)
    failing = _failing(judgement, source if out is None else out / source.name)
    shrinker = replace(_shrinker(loaded, judgement, failing, bench, algorithm), where=tuple(sut or ()))
    shortest: list[Shrunk] = []
    bounds = Budget(budget, resets, seconds)
    figures, progress = ShrinkFigures(bounds), [f"driving {counted(failing.steps, 'step')} again"]

    def show(length: int, transitions: int) -> None:
        progress[0] = figures.text(failing.steps, length, transitions)

    ready = replace(shrinker, jobs=jobs, budget=bounds, found=shortest.append, progress=show)

    async def work() -> Shrunk:
        with working(lambda: progress[0]):
            return await replace(ready, spent=SIGNALS.spent).run(failing)

    done = interruptible(work)
    return _result(done, shortest, failing, loaded, as_json=as_json)


def _failing(judgement: Judgement, trace: Path) -> PathResult:
    from otf.campaign import PathResult

    return PathResult(judgement.header.path, judgement.verdict, judgement.steps, trace, judgement.events)


def _shrinker(bench: Bench, judgement: Judgement, failing: PathResult, named: str | None, algorithm: str) -> Shrinker:
    from otf.campaign import Settings, Shrinker
    from otf.campaign.settings import header
    from otf.cli.traces import burst_as_recorded

    recorded = judgement.header
    settings = Settings(
        out=failing.trace.parent,
        reference=named or recorded.bench,
        seed=recorded.seed,
        mode="strict",
        burst=burst_as_recorded(recorded, judgement.steps),
    )
    head = header(bench, settings, failing.number, strategy="script")
    return Shrinker(bench=bench, oracle=bench.oracle(), header=head, algorithm=algorithm)


def _result(done: Done[Shrunk], shortest: list[Shrunk], failing: PathResult, bench: Bench, *, as_json: bool) -> int:
    """Report the result, also if the search was interrupted; return the exit status."""
    shrunk = done.value or (shortest[-1] if shortest else None)
    if shrunk is None:
        if as_json:
            document({"verdict": "inconclusive", "interrupted": True})
        else:
            say("INTERRUPTED before the failure was reproduced")
        return done.status(INCONCLUSIVE)
    if as_json:
        document(_json(shrunk))
    else:
        _report(shrunk, failing, bench)
    # a failure stays a failure, also if the search for fewer steps was interrupted
    return FAIL if shrunk.before else done.status(INCONCLUSIVE)


def _nothing(judgement: Judgement, trace: str, *, as_json: bool) -> int:
    from otf.cli.replay import STATUS
    from otf.trace.explain import explanation

    if as_json:
        document({"trace": trace, "steps": judgement.steps, "transitions": 0, "resets": 0, "rate": 0.0})
    else:
        say(f"{trace}: there is no failure in it to shrink; {explanation(judgement.verdict)}")
    return STATUS[judgement.verdict.outcome]


def _json(shrunk: Shrunk) -> dict[str, Any]:
    return {
        "trace": str(shrunk.trace),
        "steps": shrunk.steps,
        "transitions": shrunk.transitions,
        "resets": shrunk.resets,
        "rate": shrunk.rate,
        "runs": shrunk.runs,
        "before": shrunk.before,
        "tried": shrunk.tried,
        "minimal": shrunk.minimal,
        "ended": shrunk.ended,
        "program": None if shrunk.program is None else str(shrunk.program),
        "others": [
            {"signature": str(other.verdict.failure.signature), "trace": str(other.trace), "steps": other.steps}
            for other in shrunk.others
            if other.verdict.failure
        ],
    }


def _report(shrunk: Shrunk, failing: PathResult, bench: Bench) -> None:
    from otf.campaign.table import table
    from otf.cli.summary import notes
    from otf.trace.explain import explanation
    from otf.trace.result import counted

    say(explanation(shrunk.verdict, shrunk.events, columns()))
    say(f"\n{table(bench.oracle(), shrunk.events)}\n")
    for note in notes(shrunk):
        say(note)
    took = f"{counted(shrunk.transitions, 'step')} and {counted(shrunk.resets, 'start')} of the system"
    say(f"{failing.steps} -> {counted(shrunk.steps, 'step')}, with {took}")
    if shrunk.program is not None and find_spec("pytest"):
        say(f"as a test: pytest {shrunk.program}")
    say(f"trace: {shrunk.trace}")


@guarded
def rerun(
    trace: TraceName,
    bench: FromBench = None,
    out: Out = None,
    sut: Suts = None,
    sets: Sets = None,
    quiescence: Quiescence = None,
    silence: SilenceOption = None,
    pids: Pids = None,
    confidence: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Drive it until it fails, or until it is fixed with this confidence."),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="How often it failed, for --confidence; default: as shrinking measured it."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Drive a fresh copy of the system with the inputs of a trace, and judge its outputs this time.

    The bench gets the parameters that the trace was recorded with; --set changes them, as in `--set fault=none`. The
    new trace goes to a folder below otf-runs, or to that of --out. The exit status is 1 if the system fails.

    With --confidence it is driven again and again: the first failure ends this, and so do enough runs that passed.
    """
    from otf.campaign import Settings
    from otf.cli.benches import parsed
    from otf.cli.replay import STATUS
    from otf.cli.run_options import watched
    from otf.cli.suts import addressed
    from otf.cli.traces import bench_of, burst_as_recorded, reading
    from otf.offline import judge

    with reading(trace) as reader:
        loaded = watched(addressed(bench_of(reader, bench, parsed(sets, quiescence), drives=True), sut), silence, pids)
        judgement = judge(reader, loaded, keep=True)
    recorded = judgement.header
    settings = Settings(
        out=out or fresh("rerun"),
        reference=bench or recorded.bench,
        seed=recorded.seed,
        mode="strict",
        burst=burst_as_recorded(recorded, judgement.steps),
    )
    needed, why = (1, "") if confidence is None else _needed(trace, confidence, rate)
    passed = 0
    done = _driven_again(loaded, judgement, settings)
    while done.value is not None and done.value.verdict.outcome == "pass":
        passed += 1
        if passed >= needed:
            break
        done = _driven_again(loaded, judgement, settings, f", run {passed + 1:,} of {needed:,}")
    more = {} if confidence is None else {"passed": passed, "needed": needed, "confidence": confidence}
    _report_rerun(done.value, settings, more, as_json=as_json)
    if confidence is not None and not as_json:
        say(_worth(passed, needed, f"{100 * confidence:g} %", why))
    return done.status(INCONCLUSIVE) if done.value is None else STATUS[done.value.verdict.outcome]


def _needed(trace: str, confidence: float, rate: float | None) -> tuple[int, str]:
    """Return how many runs must pass in a row, and the rate of failure that this rests on. Raises UsageError."""
    from otf.campaign.worth import passes_after, passes_needed
    from otf.trace.result import counted

    for option, share in (("confidence", confidence), ("rate", rate)):
        if share is not None and not (0 < share < 1 or (option == "rate" and share == 1)):
            message = f"--{option} {share:g}: write a share between 0 and 1, such as 0.99"
            raise UsageError(message)
    if rate is not None:
        return passes_needed(confidence, rate), f"in {100 * rate:g} % of all runs"
    failed, runs = _measured(Path(trace))
    return passes_after(confidence, failed, runs), f"as often as when it failed in {failed} of {counted(runs, 'run')}"


def _measured(trace: Path) -> tuple[int, int]:
    """Return in how many runs a failure showed when it was shrunk, and of how many. Raises UsageError."""
    from otf.campaign.past import Past

    for each in Past(trace.parent).shrunk.values():
        name = Path(each.trace).name
        for known, rate, runs in (
            (name, each.rate, each.runs),
            (name.replace(".shrunk.jsonl", ".jsonl"), each.before, each.tried),
        ):
            if known == trace.name and 0 < rate <= 1 and runs > 0:
                return round(rate * runs), runs
    message = f"{trace}: how often it fails was not measured; give it: --rate 0.5 for every second run"
    raise UsageError(message)


def _worth(passed: int, needed: int, confidence: str, why: str) -> str:
    """Return what the runs that passed are worth."""
    from otf.trace.result import counted

    if passed < needed:
        return f"{counted(passed, 'run')} passed before; {needed:,} in a row are needed for {confidence} confidence"
    return (
        f"fixed, with {confidence} confidence: {counted(passed, 'run')} passed. "
        f"Assumed: unrepaired, it fails {why}, independently each time"
    )


def _driven_again(bench: Bench, judgement: Judgement, settings: Settings, which: str = "") -> Done[PathResult]:
    from otf.campaign import rerun as drive_again
    from otf.cli.progress import working
    from otf.trace.events import Sent
    from otf.trace.result import counted

    sent = 0

    def count(event: Event) -> None:
        nonlocal sent
        sent += isinstance(event, Sent)

    async def work() -> PathResult:
        with working(lambda: f"driving it again, {sent:,} of {counted(judgement.steps, 'step')}{which}"):
            return await drive_again(bench, judgement.events, settings, judgement.header, count)

    return interruptible(work)


def _report_rerun(result: PathResult | None, settings: Settings, more: Mapping[str, object], *, as_json: bool) -> None:
    from otf.trace.explain import explanation

    if as_json:
        document({**_rerun_json(result, settings), **more})
    elif result is None:
        say(f"INTERRUPTED; traces: {settings.out}/")
    else:
        say(explanation(result.verdict, result.events, columns()))
        say(f"trace: {result.trace}")


def _rerun_json(result: PathResult | None, settings: Settings) -> dict[str, object]:
    if result is None:
        return {"verdict": "inconclusive", "interrupted": True, "out": str(settings.out)}
    failure = result.verdict.failure
    return {
        "verdict": result.verdict.outcome,
        "why": result.verdict.why,
        "steps": result.steps,
        "signature": str(failure.signature) if failure else None,
        "trace": str(result.trace),
    }
