"""`otf rerun`: drive the system again with a trace, once or until it is known to be fixed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from otf.cli.options import AsJson, FromBench, Out, Pids, Quiescence, Sets, SilenceOption, Suts, TraceName, fresh
from otf.cli.output import columns, document, guarded, say
from otf.cli.signals import Done, interruptible
from otf.errors import INCONCLUSIVE, UsageError

if TYPE_CHECKING:
    from otf.adapter import Bench
    from otf.campaign import PathResult, Settings
    from otf.offline import Judgement
    from otf.trace.events import Event


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
