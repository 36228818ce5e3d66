"""`otf rerun`: drive the system again with the inputs of a trace."""

from __future__ import annotations

from otf.campaign import PathResult, Settings
from otf.campaign import rerun as drive_again
from otf.cli.benches import parsed
from otf.cli.options import AsJson, FromBench, Out, Pids, Sets, Silence, Suts, TraceName, fresh
from otf.cli.output import document, guarded, say
from otf.cli.replay import STATUS
from otf.cli.run_options import watched
from otf.cli.signals import interruptible
from otf.cli.suts import addressed
from otf.cli.traces import bench_of, burst_as_recorded, reading
from otf.errors import INCONCLUSIVE
from otf.offline import judge
from otf.trace.explain import explanation


@guarded
def rerun(
    trace: TraceName,
    bench: FromBench = None,
    out: Out = None,
    sut: Suts = None,
    sets: Sets = None,
    silence: Silence = None,
    pids: Pids = None,
    as_json: AsJson = False,
) -> int:
    """Drive a fresh copy of the system with the inputs of a trace, and judge its outputs this time.

    The bench gets the parameters that the trace was recorded with; --set changes them, as in `--set fault=none`. The
    new trace goes to a folder below otf-runs, or to that of --out. The exit status is 1 if the system fails.
    """
    with reading(trace) as reader:
        loaded = watched(addressed(bench_of(reader, bench, parsed(sets), drives=True), sut), silence, pids)
        judgement = judge(reader, loaded, keep=True)
    header = judgement.header
    settings = Settings(
        out=out or fresh("rerun"),
        reference=bench or header.bench,
        seed=header.seed,
        mode="strict",
        burst=burst_as_recorded(header, judgement.steps),
    )
    done = interruptible(lambda: drive_again(loaded, judgement.events, settings, header))
    _report(done.value, settings, as_json=as_json)
    return done.status(INCONCLUSIVE) if done.value is None else STATUS[done.value.verdict.outcome]


def _report(result: PathResult | None, settings: Settings, *, as_json: bool) -> None:
    if as_json:
        document(_json(result, settings))
    elif result is None:
        say(f"INTERRUPTED; traces: {settings.out}/")
    else:
        say(explanation(result.verdict, result.events))
        say(f"trace: {result.trace}")


def _json(result: PathResult | None, settings: Settings) -> dict[str, object]:
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
