"""`otf rerun`: drive the system again with a trace, once or until it is known to be fixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from otf.adapter import Bench
from otf.campaign import PathResult, Settings
from otf.campaign import rerun as drive_again
from otf.campaign.confidence import CONFIDENCE, passes_after, passes_needed
from otf.campaign.journal_reader import Past
from otf.cli.commands import RerunCommand
from otf.cli.output import columns, document, fresh, say
from otf.cli.progress import working
from otf.cli.signals import Done, interruptible
from otf.cli.traces import burst_as_recorded, reading
from otf.errors import INCONCLUSIVE, STATUS_OF, UsageError
from otf.offline import EventTally, Judgement, judge
from otf.trace.explain import explanation
from otf.trace.record import Header
from otf.trace.result import counted
from otf.trace.verdict import Verdict

MOST: Final = 100
"""Most runs without --confidence: a trace may come from a stranger, and claim that its failure is rare."""

LARGEST: Final = 1_000_000  # runs that a trace may claim


def rerun(asked: RerunCommand) -> int:
    """Do what the command asks; return the exit status."""
    with reading(asked.trace) as reader:
        loaded = asked.system.load_as_recorded(reader, asked.bench)
        judgement = judge(reader, loaded, keep=True)
    recorded = judgement.header
    if not judgement.events or (judgement.dropped and judgement.verdict.failure is None):
        return _tell_untested(
            asked.trace, judgement.doubt if judgement.dropped else judgement.untested, as_json=asked.as_json
        )
    settings = Settings(
        out=asked.out or fresh("rerun"),
        reference=asked.bench or recorded.bench,
        seed=recorded.seed,
        mode="strict",
        burst=burst_as_recorded(recorded, judgement.steps),
    )
    wanted, needed, why = _runs_needed(asked.trace, recorded, asked.confidence, asked.rate)
    least = needed if asked.confidence is not None else min(needed, MOST)
    done, passed = _drive_until(loaded, judgement, settings, least)
    more = {"passed": passed, "needed": needed, "confidence": wanted} if why else {}
    _report_rerun(done.value, settings, more, as_json=asked.as_json)
    if why and not asked.as_json:
        say(_worth(passed, needed, f"{100 * wanted:g} %", why))
    if done.value is None or (passed >= least and passed < needed):
        return done.status(INCONCLUSIVE)
    return STATUS_OF[done.value.verdict.outcome]


def _drive_until(bench: Bench, judgement: Judgement, settings: Settings, least: int) -> tuple[Done[PathResult], int]:
    """Drive the system again until a run does not pass, at most `least` times; return the last and how many passed."""
    done, passed = _drive_again(bench, judgement, settings), 0
    while done.value is not None and done.value.verdict.outcome == "pass":
        passed += 1
        if passed >= least:
            break
        done = _drive_again(bench, judgement, settings, f", run {passed + 1:,} of {least:,}")
    return done, passed


def _tell_untested(trace: str, why: str, *, as_json: bool) -> int:
    if as_json:
        document({"verdict": "inconclusive", "why": why, "steps": 0, "signature": None, "trace": trace})
    else:
        say(f"INCONCLUSIVE: {trace}: {why}, and there is nothing to drive")
    return INCONCLUSIVE


def _runs_needed(trace: str, header: Header, confidence: float | None, rate: float | None) -> tuple[float, int, str]:
    """Return the wanted confidence, how many runs must pass in a row, and the rate behind that number.

    If no confidence is asked for and chance plays no part, one run is enough, and the text is "". Raises UsageError.
    """
    for name, share in (("confidence", confidence), ("rate", rate)):
        if share is not None and not (0 < share < 1 or (name == "rate" and share == 1)):
            raise UsageError(f"--{name} {share:g}: write a share between 0 and 1, such as 0.99")
    wanted = confidence or CONFIDENCE
    if rate is not None:
        return wanted, passes_needed(wanted, rate), f"in {100 * rate:g} % of all runs"
    known = 0 < header.rate <= 1 and 0 < header.runs <= LARGEST
    measured = (round(header.rate * header.runs), header.runs) if known else _measured_rate(Path(trace))
    if measured is None and confidence is not None:
        raise UsageError(f"{trace}: how often it fails was not measured; give it: --rate 0.5 for every second run")
    # without a measurement, assume that it was seen once, in one run
    failed, runs = measured or (1, 1)
    if confidence is None and header.burst == 1 and failed >= runs:
        return wanted, 1, ""
    needed = passes_after(wanted, max(1, failed), max(runs, failed))
    return wanted, needed, f"as often as when it failed in {failed} of {counted(runs, 'run')}"


def _measured_rate(trace: Path) -> tuple[int, int] | None:
    """Return in how many runs a failure showed while it was shrunk, and out of how many; None if unknown."""
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
    """Return what the passed runs prove."""
    if passed < needed:
        more = f"{counted(passed, 'run')} passed"
        more += f"; {needed:,} in a row are needed for {confidence} confidence, if it failed {why} before the repair"
        return f"{more} (--confidence, --rate)"
    return (
        f"fixed, with {confidence} confidence: {counted(passed, 'run')} passed. "
        f"Assumed: unrepaired, it fails {why}, independently each time"
    )


def _drive_again(bench: Bench, judgement: Judgement, settings: Settings, which: str = "") -> Done[PathResult]:
    tally = EventTally(bench.spec)

    async def work() -> PathResult:
        with working(lambda: f"driving it again, {tally.sent:,} of {counted(judgement.steps, 'step')}{which}"):
            result = await drive_again(bench, judgement.events, settings, judgement.header, tally.take)
            return _without_untested(result, tally)

    return interruptible(work)


def _without_untested(result: PathResult, tally: EventTally) -> PathResult:
    """Return the result of a run, made inconclusive if it tested nothing."""
    why = tally.nothing(truncated=result.verdict.truncated)
    if result.verdict.outcome != "pass" or not why:
        return result
    return replace(result, verdict=Verdict("inconclusive", why=why))


def _report_rerun(result: PathResult | None, settings: Settings, more: Mapping[str, object], *, as_json: bool) -> None:
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
