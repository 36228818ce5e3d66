"""`otf run`: drive a campaign."""

from __future__ import annotations

import secrets
from dataclasses import replace
from time import monotonic
from typing import Annotated, Any

import typer

from otf.adapter import Bench
from otf.campaign import Budget, Campaign, FailureGroup, Settings, Summary
from otf.campaign.settings import LARGEST
from otf.cli.benches import load, parsed
from otf.cli.options import ROOT, AsJson, BenchName, Out, Pids, Quiescence, Sets, SilenceOption, Suts, fresh
from otf.cli.output import STDOUT_ERRORS, document, error_document, guarded, report_error, warn
from otf.cli.progress import listening
from otf.cli.run_options import chosen, counting, faster, measured, under, watched
from otf.cli.signals import Done, interruptible
from otf.cli.summary import lists, print_failures, print_summary
from otf.cli.suts import addressed
from otf.core import InputMode
from otf.errors import FAIL, OtfError, UsageError, WriteError
from otf.shrink import BEST

EXAMPLES = """\b
Examples:
  otf run conference                         a correct system: it passes
  otf run conference --set fault=O7          one with a known fault: it fails
  otf run my_bench.py --traces 100 --seed 7  a bench of your own, in a file
"""


@guarded
def run(
    bench: BenchName,
    traces: Annotated[int, typer.Option(metavar="NUMBER", help="How many paths, each with its own trace.")] = 10,
    steps: Annotated[int, typer.Option(metavar="NUMBER", help="How many inputs a path has at most.")] = 50,
    time: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="When to stop, whatever --traces says.", show_default=False)
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="The same seed gives the same inputs; default: random.")
    ] = None,
    strategy: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="How inputs are chosen: one that `otf list` shows, or your own as file.py:Name."
        ),
    ] = "alternating",
    mode: Annotated[
        str,
        typer.Option(
            metavar="strict|eager",
            help="strict: an input only after silence; eager: at once if a correct system must be silent.",
        ),
    ] = "eager",
    burst: Annotated[
        int, typer.Option(metavar="NUMBER", help="How many inputs are sent at once, without waiting for outputs.")
    ] = 1,
    inputs: Annotated[
        InputMode | None,
        typer.Option(
            help="Which inputs: uioco, specified in all possible states; any, specified in some of them; all, also "
            "those not specified; mixed, half and half. The bench has a default."
        ),
    ] = None,
    quiescence: Quiescence = None,
    silence: SilenceOption = None,
    pids: Pids = None,
    jobs: Annotated[
        int,
        typer.Option(metavar="NUMBER", help="How many paths at the same time, each with its own copy of the system."),
    ] = 1,
    out: Out = None,
    keep: Annotated[str, typer.Option(metavar="failures|all", help="Which traces are kept.")] = "all",
    largest: Annotated[
        int, typer.Option(metavar="MIB", min=1, help="How large a trace may become before its path ends.")
    ] = LARGEST >> 20,
    stop_first: Annotated[bool, typer.Option("--stop-first", help="Stop at the first failure.")] = False,
    shrink: Annotated[
        bool, typer.Option("--shrink/--no-shrink", help="Shrink one trace of each kind of failure.")
    ] = True,
    algorithm: Annotated[str, typer.Option(metavar="NAME", help="How it is shrunk: see `otf shrink --help`.")] = BEST,
    budget: Annotated[
        int, typer.Option(metavar="STEPS", min=1, help="How many inputs the system may be sent to shrink a failure.")
    ] = Budget().transitions,
    saved: Annotated[
        bool,
        typer.Option("--saved/--no-saved", help="Save failures in otf-runs/failures, and try the saved ones first."),
    ] = True,
    scenario: Annotated[
        str | None,
        typer.Option(metavar="ACTIONS", help="Only inputs that a scenario allows next: 'Coin+ Button'."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT", help="Count coverage, and stop when it is reached: states, transitions, pairs=100."
        ),
    ] = None,
    calibrate: Annotated[
        bool,
        typer.Option("--calibrate", help="Only measure how fast the system answers, and print the times that fit."),
    ] = False,
    speed: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|auto",
            help="How many times as fast the clocks of the system run, with libfaketime; auto: as fast as it follows.",
        ),
    ] = None,
    sut: Suts = None,
    sets: Sets = None,
    as_json: AsJson = False,
) -> int:
    """Drive the system with inputs that the model chooses, and judge everything that comes back.

    Each path starts a fresh copy of the system. A path that fails ends; the others go on. Each failure is explained in
    the words of the model, and shrunk to the few inputs that matter.
    """
    loaded = under(addressed(_bench(bench, parsed(sets), inputs, quiescence), sut), scenario)
    loaded = watched(loaded, silence, pids)
    seed = secrets.randbelow(1_000_000) if seed is None else seed
    settings = Settings(
        out=out or fresh(loaded.name, seed),
        reference=bench,
        traces=traces,
        steps=steps,
        time=time,
        seed=seed,
        strategy=chosen(strategy),
        mode=_one_of("--mode", mode, ("strict", "eager")),
        burst=burst,
        largest=largest << 20,
        jobs=jobs,
        keep=_one_of("--keep", keep, ("all", "failures")),
        stop_first=stop_first,
        shrink=shrink,
        algorithm=algorithm,
        budget=Budget(budget),
        saved=ROOT / "failures" if saved else None,
        where=tuple(sut or ()),
    )
    if speed is not None:
        loaded = faster(loaded, settings, speed)
    if calibrate:
        return measured(loaded, replace(settings, traces=min(traces, 2)), as_json=as_json)
    settings, covered = counting(loaded, settings, until)
    campaign = Campaign(loaded, settings)
    began = monotonic()
    done, error = _driven(campaign, quiet=as_json)
    campaign.summary.interrupted = bool(done.signal)
    if as_json:
        document({**_json(campaign.summary, settings, error), **covered.data()})
    elif error is None:
        print_summary(campaign.summary, settings, loaded, monotonic() - began)
        covered.report()
    else:
        print_failures(campaign.summary, settings, loaded)
    if STDOUT_ERRORS:
        warn(campaign.summary.result.headline)
    if error is not None:
        report_error(error)
        # a failure stays a failure, but a broken model may have blamed the system for its own mistakes
        return FAIL if campaign.summary.failures and isinstance(error, WriteError) else error.exit_status
    # a failure stays a failure, also if the campaign was interrupted
    return FAIL if campaign.summary.failures else done.status(campaign.summary.exit_status)


def _driven(campaign: Campaign, *, quiet: bool) -> tuple[Done[None], OtfError | None]:
    async def work() -> None:
        with listening(campaign.settings, quiet=quiet) as campaign.listener:
            await campaign.run()

    try:
        return interruptible(work), None
    except OtfError as error:
        return Done(None), error


def _bench(reference: str, sets: dict[str, object], inputs: InputMode | None, quiescence: float | None) -> Bench:
    if quiescence is not None:
        sets = {**sets, "quiescence": quiescence}
    bench = load(reference, sets)
    return bench if inputs is None else replace(bench, inputs=inputs)


def _one_of(option: str, value: str, known: tuple[str, ...]) -> Any:  # noqa: ANN401 -- a different literal type each time
    if value not in known:
        message = f"{option} {value}: choose one of {', '.join(known)}"
        raise UsageError(message)
    return value


def _json(summary: Summary, settings: Settings, error: OtfError | None) -> dict[str, Any]:
    result = {
        "verdict": summary.verdict,
        "paths": summary.paths,
        "steps": summary.steps,
        "truncated": summary.truncated,
        "late": summary.late,
        "silence": summary.silence,
        "seed": settings.seed,
        "out": str(settings.out),
        "interrupted": summary.interrupted,
        "trouble": summary.trouble,
        "time": {name: round(seconds, 3) for name, seconds in summary.spent.shares().items()},
        "saved": [
            {"signature": str(each.signature or ""), "trace": str(each.trace), "came": str(each)}
            for each in summary.saved
        ],
        "failures": [_group(group) for group in summary.failures.values()],
        **lists(summary.result),
    }
    return result if error is None else {**result, **error_document(str(error))}


def _group(group: FailureGroup) -> dict[str, Any]:
    shrunk = group.shrunk
    return {
        "signature": str(group.signature),
        "count": group.count,
        "trace": str(group.first.trace),
        "steps": group.first.steps,
        "shrunk": None
        if shrunk is None
        else {
            "trace": str(shrunk.trace),
            "steps": shrunk.steps,
            "rate": shrunk.rate,
            "minimal": shrunk.minimal,
            "ended": shrunk.ended,
        },
        "unshrunk": group.unshrunk,
    }
