"""`otf rerun`: drive the system again with a trace, once or until it is known to be fixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from otf.cli.options import AsJson, FromBench, Out, SystemOptions, TraceName, guarded, option
from otf.cli.output import columns, document, fresh, say
from otf.cli.signals import Done, interruptible
from otf.errors import INCONCLUSIVE, STATUS_OF, UsageError

MOST: Final = 100
"""Runs without --confidence: a trace may come from a stranger, and say that its failure is rare."""

LARGEST: Final = 1_000_000  # runs that a trace may claim

if TYPE_CHECKING:
    from otf.adapter import Bench
    from otf.campaign import PathResult, Settings
    from otf.offline import EventTally, Judgement
    from otf.trace.record import Header


EXAMPLES = """\b
Examples:
  otf rerun runs/path-0001.jsonl                    the same inputs once more
  otf rerun runs/path-0001.jsonl --confidence 0.99  is it repaired?
"""


@guarded
def rerun(
    trace: TraceName,
    bench: FromBench = None,
    out: Out = None,
    *,
    system: SystemOptions,
    confidence: Annotated[
        float | None,
        option(
            "SHARE",
            "Drive it until it fails, or until it is fixed with this confidence; default: 0.95 where it is known "
            "to fail by chance, else once.",
        ),
    ] = None,
    rate: Annotated[
        float | None, option("SHARE", "How often it failed, for --confidence; default: as shrinking measured it.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Drive a fresh copy of the system with the inputs of a trace, and judge its outputs this time.

    The bench gets the parameters that the trace was recorded with; --set changes them, as in `--set fault=none`. The
    new trace goes to a folder below otf-runs, or to that of --out. The exit status is 1 if the system fails.

    With --confidence it is driven again and again: the first failure ends this, and so do enough runs that passed. So
    it is without that option, if the trace says that the failure depends on chance, or has inputs sent at once.
    """
    from otf.campaign import Settings
    from otf.cli.traces import burst_as_recorded, reading
    from otf.offline import judge

    with reading(trace) as reader:
        loaded = system.load_as_recorded(reader, bench)
        judgement = judge(reader, loaded, keep=True)
    recorded = judgement.header
    if not judgement.events or (judgement.dropped and judgement.verdict.failure is None):
        return _untested(trace, judgement.doubt if judgement.dropped else judgement.untested, as_json=as_json)
    settings = Settings(
        out=out or fresh("rerun"),
        reference=bench or recorded.bench,
        seed=recorded.seed,
        mode="strict",
        burst=burst_as_recorded(recorded, judgement.steps),
    )
    wanted, needed, why = _runs_needed(trace, recorded, confidence, rate)
    least = needed if confidence is not None else min(needed, MOST)
    done, passed = _driven_until(loaded, judgement, settings, least)
    more = {"passed": passed, "needed": needed, "confidence": wanted} if why else {}
    _report_rerun(done.value, settings, more, as_json=as_json)
    if why and not as_json:
        say(_worth(passed, needed, f"{100 * wanted:g} %", why))
    if done.value is None or (passed >= least and passed < needed):
        return done.status(INCONCLUSIVE)
    return STATUS_OF[done.value.verdict.outcome]


def _driven_until(bench: Bench, judgement: Judgement, settings: Settings, least: int) -> tuple[Done[PathResult], int]:
    """Drive the system again until a run does not pass, at most so many times; return the last and how many passed."""
    done, passed = _driven_again(bench, judgement, settings), 0
    while done.value is not None and done.value.verdict.outcome == "pass":
        passed += 1
        if passed >= least:
            break
        done = _driven_again(bench, judgement, settings, f", run {passed + 1:,} of {least:,}")
    return done, passed


def _untested(trace: str, why: str, *, as_json: bool) -> int:
    if as_json:
        document({"verdict": "inconclusive", "why": why, "steps": 0, "signature": None, "trace": trace})
    else:
        say(f"INCONCLUSIVE: {trace}: {why}, and there is nothing to drive")
    return INCONCLUSIVE


def _runs_needed(trace: str, header: Header, confidence: float | None, rate: float | None) -> tuple[float, int, str]:
    """Return the confidence that is wanted, how many runs must pass in a row, and the rate that this rests on.

    One run is needed, and nothing said, where no confidence is asked for and chance plays no part. Raises UsageError.
    """
    from otf.campaign.confidence import CONFIDENCE, passes_after, passes_needed
    from otf.trace.result import counted

    for name, share in (("confidence", confidence), ("rate", rate)):
        if share is not None and not (0 < share < 1 or (name == "rate" and share == 1)):
            message = f"--{name} {share:g}: write a share between 0 and 1, such as 0.99"
            raise UsageError(message)
    wanted = confidence or CONFIDENCE
    if rate is not None:
        return wanted, passes_needed(wanted, rate), f"in {100 * rate:g} % of all runs"
    known = 0 < header.rate <= 1 and 0 < header.runs <= LARGEST
    measured = (round(header.rate * header.runs), header.runs) if known else _measured(Path(trace))
    if measured is None and confidence is not None:
        message = f"{trace}: how often it fails was not measured; give it: --rate 0.5 for every second run"
        raise UsageError(message)
    # without a measurement it was seen once, in one run
    failed, runs = measured or (1, 1)
    if confidence is None and header.burst == 1 and failed >= runs:
        return wanted, 1, ""
    needed = passes_after(wanted, max(1, failed), max(runs, failed))
    return wanted, needed, f"as often as when it failed in {failed} of {counted(runs, 'run')}"


def _measured(trace: Path) -> tuple[int, int] | None:
    """Return in how many runs a failure showed when it was shrunk, and of how many; None if that is not known."""
    from otf.campaign.journal_reader import Past

    for each in Past(trace.parent).shrunk.values():
        name = Path(each.trace).name
        for known, rate, runs in (
            (name, each.rate, each.runs),
            (name.replace(".shrunk.jsonl", ".jsonl"), each.before, each.tried),
        ):
            if known == trace.name and 0 < rate <= 1 and runs > 0:
                return round(rate * runs), runs
    return None


def _worth(passed: int, needed: int, confidence: str, why: str) -> str:
    """Return what the runs that passed are worth."""
    from otf.trace.result import counted

    if passed < needed:
        more = f"{counted(passed, 'run')} passed"
        more += f"; {needed:,} in a row are needed for {confidence} confidence, if it failed {why} before the repair"
        return f"{more} (--confidence, --rate)"
    return (
        f"fixed, with {confidence} confidence: {counted(passed, 'run')} passed. "
        f"Assumed: unrepaired, it fails {why}, independently each time"
    )


def _driven_again(bench: Bench, judgement: Judgement, settings: Settings, which: str = "") -> Done[PathResult]:
    from otf.campaign import rerun as drive_again
    from otf.cli.progress import working
    from otf.offline import EventTally
    from otf.trace.result import counted

    tally = EventTally(bench.spec)

    async def work() -> PathResult:
        with working(lambda: f"driving it again, {tally.sent:,} of {counted(judgement.steps, 'step')}{which}"):
            result = await drive_again(bench, judgement.events, settings, judgement.header, tally.take)
            return _tested(result, tally)

    return interruptible(work)


def _tested(result: PathResult, tally: EventTally) -> PathResult:
    """Return the result of a run, which is no pass if nothing was tested."""
    from otf.trace.verdict import Verdict

    why = tally.nothing(truncated=result.verdict.truncated)
    if result.verdict.outcome != "pass" or not why:
        return result
    return replace(result, verdict=Verdict("inconclusive", why=why))


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
