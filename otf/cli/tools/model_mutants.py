"""`otf mutants` for a bench without its own mutants: otf mutates the model and serves it as the system."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Any, Final

from anyio.lowlevel import checkpoint

from otf.adapter import Bench
from otf.cli.options import one_of
from otf.cli.output import document, say
from otf.cli.progress import working
from otf.cli.run_options import duration
from otf.cli.signals import Done, interruptible
from otf.cli.tools.model_commands import MutantsCommand
from otf.errors import FAIL, INCONCLUSIVE, PASS, UsageError, choose
from otf.mutation import Fate, HuntBudget, HuntMode, JudgedMutant, MutationAnalysis, MutationReport
from otf.mutation.operators import OPERATORS
from otf.report.mutants import FILE
from otf.runner.writer import put, writing
from otf.trace.result import counted

SHOWN: Final = 6  # inputs of a path
LONG: Final = 120  # characters of a state
ROWS: Final = 20  # mutants proved to conform, one by one


def mutate_model(bench: Bench, asked: MutantsCommand) -> int:
    """Hunt mutants of a model, print their fates, and return the exit status: 0 if none is left open.

    With --out, write them into that folder for `otf report`.
    """
    unknown = [name for name in asked.operators or () if name not in OPERATORS]
    if unknown:
        raise UsageError(f"--operator {unknown[0]}: {choose(unknown[0], OPERATORS, 'choose among')}")
    mode: HuntMode = one_of("--mode", asked.mode, ("eager", "strict"))
    analysis = MutationAnalysis(bench, asked.seed, HuntBudget(asked.budget, asked.seconds), mode)
    done = _hunt_all(analysis, asked)
    report, found = analysis.report, data(analysis.report, asked, interrupted=bool(done.signal))
    if asked.out is not None:
        _write(asked.out, found)
    if asked.as_json:
        document(found)
    else:
        _print(report, asked, coded=bench.codec is not None, interrupted=bool(done.signal))
    return done.status(_status(report))


def _status(report: MutationReport) -> int:
    if report.control is not None:
        return INCONCLUSIVE
    return FAIL if report.of(Fate.OPEN) else PASS


def _hunt_all(analysis: MutationAnalysis, asked: MutantsCommand) -> Done[None]:
    """Hunt one mutant after another; an interruption keeps the results so far."""
    ends, report = float("inf"), analysis.report
    if asked.spend is not None:
        ends = monotonic() + duration("--spend", asked.spend)

    async def work() -> None:
        with working(lambda: f"mutants: {len(report.results)} of {asked.most}, {report.counts['killed']} killed"):
            for mutant in analysis.mutants(asked.most, tuple(asked.operators or ())):
                await checkpoint()
                if monotonic() > ends:
                    return
                report.results.append(analysis.judge.of(mutant))

    return interruptible(work)


# ---- for people ----------------------------------------------------------------------------------------------------


def _print(report: MutationReport, asked: MutantsCommand, *, coded: bool, interrupted: bool) -> None:
    if report.control is not None:
        _print_control(report)
        return
    _print_open(report.of(Fate.OPEN))
    _print_equivalent(report.of(Fate.EQUIVALENT))
    for each in report.unserved:
        say(f"not tried: no output was found for {each!r}")
    _print_end(report, asked, coded=coded, interrupted=interrupted)


def _print_control(report: MutationReport) -> None:
    failure = report.control
    if failure is None:
        return
    step = f"({failure.kind}) at {failure.input or 'the start'}, seen: {failure.seen}"
    say(f"{report.name}: the model, served as its own system, fails on its own bench {step}")
    where = "the codec loses a part of the outputs" if report.through_codec else "two answers of the model contradict"
    say(f"likeliest: {where}, or the model gives no answer to an input that `inputs` enables; no mutant was tried")


def _print_open(found: Sequence[JudgedMutant]) -> None:
    for each in found:
        mutant = each.mutant
        say(f"OPEN  {mutant.operator.says}{_at(mutant.place)}: {_short(mutant.when)}")
        say(f"      {each.why}: {each.says}")
        if each.path:
            say(f"      {'; '.join(each.path[:SHOWN])}{' …' if len(each.path) > SHOWN else ''}")


def _print_equivalent(found: Sequence[JudgedMutant]) -> None:
    by_reason: dict[tuple[str, str], list[JudgedMutant]] = {}
    for each in found:
        by_reason.setdefault((str(each.why), each.says), []).append(each)
    for (why, says), mutants in list(by_reason.items())[:ROWS]:
        say(f"equivalent, {why}: {says}")
        for each in mutants[:2]:
            say(f"      {each.mutant.operator.says}{_at(each.mutant.place)}: {_short(each.mutant.when)}")
        if mutants[2:]:
            say(f"      and {len(mutants) - 2} more")
    if len(by_reason) > ROWS:
        say(f"equivalent: {len(by_reason) - ROWS} more reasons; --json has all")


def _print_end(report: MutationReport, asked: MutantsCommand, *, coded: bool, interrupted: bool) -> None:
    counts, tried = report.counts, len(report.results)
    kinds = ", ".join(f"{number} {fate}" for fate, number in counts.items() if number or fate == "open")
    ended = " (interrupted)" if interrupted else ""
    drawn = "" if tried == report.possible else f" of {report.possible} possible"
    say(f"{report.name}: {counted(tried, 'mutant')}{drawn}: {kinds}{ended}")
    bounds = f"{asked.budget:,} inputs or {asked.seconds:g} s of virtual time each"
    bypassed = "outputs bypass the codec, which does not encode them" if coded else "there is no codec"
    wire = "outputs go through the codec" if report.through_codec else bypassed
    more = "" if report.whole else "; there are more states than were looked at"
    say(f"{counted(report.rules, 'rule')} of the model{more}; {bounds}; {report.mode} mode; {wire}")


def _short(text: str) -> str:
    return text if len(text) <= LONG else f"{text[:LONG]} …"


def _at(place: str) -> str:
    return f" ({place})" if place else ""


# ---- for machines --------------------------------------------------------------------------------------------------


def data(report: MutationReport, asked: MutantsCommand, *, interrupted: bool) -> dict[str, Any]:
    """Return the JSON document of a mutation analysis."""
    return {
        "model": report.name,
        "verdict": _verdict(report, interrupted=interrupted),
        "control": None if report.control is None else report.control.kind,
        "counts": report.counts,
        "possible": report.possible,
        "rules": report.rules,
        "whole": report.whole,
        "through_codec": report.through_codec,
        "unserved": list(report.unserved),
        "seed": asked.seed,
        "mode": report.mode,
        "seconds": report.seconds,
        "interrupted": interrupted,
        "mutants": [_json(each) for each in report.results],
    }


def _verdict(report: MutationReport, *, interrupted: bool) -> str:
    status = _status(report)
    return "fail" if status == FAIL else "pass" if status == PASS and not interrupted else "inconclusive"


def _json(each: JudgedMutant) -> dict[str, Any]:
    mutant = each.mutant
    return {
        "operator": mutant.operator.name,
        "says": mutant.operator.says,
        "place": mutant.place,
        "when": mutant.when,
        "fate": each.fate.value,
        "why": None if each.why is None else each.why.value,
        "reason": each.says,
        "path": list(each.path),
        "steps": each.steps,
        "seconds": each.seconds,
    }


def _write(folder: Path, found: dict[str, Any]) -> None:
    import msgspec

    advice = "choose another folder with --out"
    with writing(folder, advice=advice):
        folder.mkdir(parents=True, exist_ok=True)
    put(folder / FILE, msgspec.json.format(msgspec.json.encode(found), indent=2), advice)
