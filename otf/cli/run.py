"""`otf run`: drive a campaign."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from otf.cli.choices import ALGORITHMS, BEST, KEPT, MIB, MODES, STRATEGIES, TRANSITIONS, InputChoice, among
from otf.cli.options import AsJson, Jobs, MaybeBench, Out, Pids, Quiescence, Sets, SilenceOption, Suts, fresh
from otf.cli.output import STDOUT_ERRORS, document, guarded, report_error, warn
from otf.cli.signals import SIGNALS, Done, interruptible
from otf.errors import FAIL, OtfError, WriteError

if TYPE_CHECKING:
    from otf.adapter import Bench
    from otf.campaign import Campaign, Listener, Settings
    from otf.cli.summary import SummaryPrinter

    _Watch = Callable[[Listener], Listener]
    _Shown = Callable[[Campaign], AbstractContextManager[_Watch]]

EXAMPLES = """\b
Examples:
  otf run conference                         a correct system: it passes
  otf run conference --set fault=O7          one with a known fault: it fails
  otf run my_bench.py --traces 100 --seed 7  a bench of your own, in a file
"""


@guarded
def run(
    ctx: typer.Context,
    bench: MaybeBench = None,
    traces: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="How many paths, each with its own trace; default: 10, or as many as another bound of time allows.",
            show_default=False,
        ),
    ] = None,
    steps: Annotated[int, typer.Option(metavar="NUMBER", help="How many inputs a path has at most.")] = 50,
    time: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When to stop: 90, 60s, 10m or 8h.", show_default=False),
    ] = None,
    spend: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Spend this time: on saved failures first, then on what changed in the model since the last campaign "
            "in the folder of --into, then on what was covered least.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="The same seed gives the same inputs; default: random.")
    ] = None,
    strategy: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How inputs are chosen: one that `otf list` shows, or your own as file.py:Name.",
            autocompletion=among(*STRATEGIES),
        ),
    ] = "alternating",
    mode: Annotated[
        str,
        typer.Option(
            metavar="|".join(MODES),
            autocompletion=among(*MODES),
            help="strict: an input only after silence; eager: at once if a correct system must be silent.",
        ),
    ] = "eager",
    burst: Annotated[
        int, typer.Option(metavar="NUMBER", help="How many inputs are sent at once, without waiting for outputs.")
    ] = 1,
    inputs: Annotated[
        InputChoice | None,
        typer.Option(
            metavar="|".join(get_args(InputChoice)),
            help="Which inputs: uioco, specified in all possible states; any, specified in some of them; all, also "
            "those not specified; mixed, half and half. The bench has a default.",
        ),
    ] = None,
    quiescence: Quiescence = None,
    silence: SilenceOption = None,
    pids: Pids = None,
    jobs: Jobs = 1,
    processes: Annotated[
        str,
        typer.Option(
            metavar="NUMBER|auto", help="How many processes, each with --jobs paths; auto: one for each processor."
        ),
    ] = "1",
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Drive --jobs paths at the same time on a dask cluster: tcp://host:8786."),
    ] = None,
    device: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A pool of devices: a line for each with its addresses, as for --sut."),
    ] = None,
    out: Out = None,
    keep: Annotated[
        str, typer.Option(metavar="|".join(KEPT), help="Which traces are kept.", autocompletion=among(*KEPT))
    ] = "all",
    largest: Annotated[
        int, typer.Option(metavar="MIB", min=1, help="How large a trace may become before its path ends.")
    ] = MIB,
    stop_first: Annotated[bool, typer.Option("--stop-first", help="Stop at the first failure.")] = False,
    shrink: Annotated[
        bool, typer.Option("--shrink/--no-shrink", help="Shrink one trace of each kind of failure.")
    ] = True,
    algorithm: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How it is shrunk: see `otf shrink --help`.",
            autocompletion=among(*ALGORITHMS),
        ),
    ] = BEST,
    budget: Annotated[
        int, typer.Option(metavar="STEPS", min=1, help="How many inputs the system may be sent to shrink a failure.")
    ] = TRANSITIONS,
    saved: Annotated[
        bool,
        typer.Option("--saved/--no-saved", help="Save failures in otf-runs/failures, and try the saved ones first."),
    ] = True,
    scenario: Annotated[
        str | None,
        typer.Option(metavar="ACTIONS", help="Only inputs that a scenario allows next: 'Coin+ Button'."),
    ] = None,
    malformed: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Send bytes that are no message in place of this share of the inputs."),
    ] = 0.0,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="Count coverage, and stop when it is reached: states, transitions, pairs=100; or when all "
            "requirements are decided: requirements; or after a time without anything new: nothing-new=10m.",
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
    page: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|PORT",
            help="Show the campaign while it runs, on a page in a file or at a port of 127.0.0.1 (0: a free one); the "
            "page ends as the report.",
        ),
    ] = None,
    sut: Suts = None,
    sets: Sets = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Continue the campaign in a folder: only the paths that it lacks are driven."),
    ] = None,
    into: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Add --traces paths to the campaign in a folder, or begin one.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Drive the system with inputs that the model chooses, and judge everything that comes back.

    Each path starts a fresh copy of the system. A path that fails ends; the others go on. Each failure is explained in
    the words of the model, and shrunk to the few inputs that matter.
    """
    from otf.cli import continued, workers
    from otf.cli.benches import parsed
    from otf.cli.run_options import bounded, faster, measured
    from otf.cli.summary import given

    options = continued.RunOptions(
        bench=bench or "",
        sets=sets or [],
        traces=continued.paths_within(time or spend, until) if traces is None else traces,
        steps=steps,
        time=bounded(time, spend),
        spend=spend is not None,
        seed=secrets.randbelow(1_000_000) if seed is None else seed,
        strategy=strategy,
        mode=mode,
        burst=burst,
        inputs=inputs,
        quiescence=quiescence,
        silence=silence,
        malformed=malformed,
        pids=pids or [],
        jobs=jobs,
        processes=processes,
        keep=keep,
        largest=largest,
        stop_first=stop_first,
        shrink=shrink,
        algorithm=algorithm,
        budget=budget,
        saved=saved,
        scenario=scenario,
        until=until,
        speed=speed,
        sut=sut or [],
        devices=[] if device is None else workers.devices_in(device),
    )
    if resume is not None:
        continued.refuse_others([name for name in ctx.params if _is_given(ctx, name)])
        options, loaded = continued.resumed(resume, options)
    elif bench is None:
        raise typer.BadParameter("Missing argument 'BENCH'; --resume DIR alone continues a campaign", ctx=ctx)
    else:
        options = options if into is None else continued.added(into, options, seed)
        loaded = continued.made(options)
    settings = continued.settings_of(options, resume or into or out or fresh(loaded.name, options.seed))
    if resume or into:
        continued.check_until(settings.out, options.until)
        settings = replace(settings, resume=True)
    if speed is not None:
        loaded = faster(loaded, settings, speed, elsewhere=cluster is not None)
    if calibrate:
        return measured(loaded, replace(settings, traces=min(settings.traces, 2)), as_json=as_json)
    recorded = resume is not None and not bench
    settings, loaded = workers.placed(settings, options, loaded, cluster, recorded=recorded)
    own = given(options.sut, options.silence, options.pids)
    shown = partial(_shown, page, parsed(options.sets, options.quiescence))
    return _judged(loaded, settings, options.until, own, shown, as_json=as_json)


def _is_given(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _judged(loaded: Bench, settings: Settings, until: str | None, options: str, shown: _Shown, *, as_json: bool) -> int:
    from otf.campaign import Campaign
    from otf.cli.campaign_data import campaign_data
    from otf.cli.run_options import counting
    from otf.cli.summary import SummaryPrinter

    settings, covered = counting(loaded, settings, until)
    campaign = Campaign(loaded, settings)
    printer = SummaryPrinter(campaign.summary, settings, loaded, options)
    began = monotonic()
    with shown(campaign) as watch:
        done, error = _driven(campaign, None if as_json else printer, watch)
        if as_json:
            document({**campaign_data(campaign.summary, settings, error), **covered.data()})
        elif error is None:
            printer.whole(monotonic() - began)
            covered.report()
        else:
            printer.failures()
        if STDOUT_ERRORS:
            warn(campaign.summary.result.headline)
        if error is not None:
            report_error(error)
            # a failure stays a failure, but a broken model may have blamed the system for its own mistakes
            return FAIL if campaign.summary.failures and isinstance(error, WriteError) else error.exit_status
        # a failure stays a failure, also if the campaign was interrupted
        return FAIL if campaign.summary.failures else done.status(campaign.summary.exit_status)


@contextmanager
def _shown(page: str | None, sets: dict[str, object], campaign: Campaign) -> Generator[_Watch]:
    """Yield what a listener is passed through, so that a page shows the campaign; in the end it becomes the report."""
    if page is None:
        yield lambda inner: inner
        return
    from otf.cli.live import live
    from otf.cli.report import report_page

    settings = campaign.settings
    with live(page, campaign, settings.reference, warn) as shown:
        yield shown.watch
        shown.end(lambda: report_page(settings.out, settings.reference, sets))


def _driven(campaign: Campaign, printer: SummaryPrinter | None, watch: _Watch) -> tuple[Done[None], OtfError | None]:
    from otf.cli.progress import listening

    async def work() -> None:
        with listening(campaign.settings, campaign.summary, printer, quiet=printer is None) as listener:
            campaign.listener, campaign.spent = watch(listener), SIGNALS.spent
            await campaign.run()

    try:
        done = interruptible(work)
    except OtfError as error:
        return Done(None), error
    campaign.summary.interrupted = bool(done.signal)
    return done, None
