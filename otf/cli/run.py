"""`otf run`: drive a campaign."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from otf.cli.options import HOW_LONG, KEEPING, SILENCE, WHERE, AsJson, MaybeBench, Out, flag, guarded, option
from otf.cli.output import STDOUT_ERRORS, document, error_document, fresh, report_error, warn
from otf.cli.run_arguments import RunOptions
from otf.cli.signals import SIGNALS, Done, interruptible
from otf.errors import FAIL, OtfError, WriteError

if TYPE_CHECKING:
    from otf.adapter import Bench
    from otf.campaign import Campaign, FailureGroup, Listener, Settings, Summary
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
    *,
    traces: Annotated[
        int | None,
        option(
            "NUMBER",
            "How many paths, each with its own trace; default: 10, or as many as another bound of time allows.",
            show_default=False,
        ),
    ] = None,
    time: Annotated[str | None, option("TIME", "When to stop: 90, 60s, 10m or 8h.", show_default=False)] = None,
    seed: Annotated[int | None, option("NUMBER", "The same seed gives the same inputs; default: random.")] = None,
    out: Out = None,
    resume: Annotated[
        Path | None, option("DIR", "Continue the campaign in a folder: only the paths that it lacks are driven.")
    ] = None,
    check: Annotated[
        bool,
        flag(
            "--check",
            "With --resume or --into: judge again all traces that the folder has, also those that nobody changed.",
            group=KEEPING,
        ),
    ] = False,
    report: Annotated[
        Path | None, option("FILE", "Write the report at the end, as `otf report` does.", group=KEEPING)
    ] = None,
    page: Annotated[
        str | None,
        option(
            "FILE|PORT",
            "Show the campaign while it runs, on a page in a file or at a port of 127.0.0.1 (0: a free one); the "
            "page ends as the report.",
        ),
    ] = None,
    as_json: AsJson = False,
    spend: Annotated[
        str | None,
        option(
            "TIME",
            "Spend this time: on saved failures first, then on what changed in the model since the last campaign "
            "in the folder of --into, then on what was covered least.",
            group=HOW_LONG,
            show_default=False,
        ),
    ] = None,
    calibrate: Annotated[
        bool,
        flag("--calibrate", "Only measure how fast the system answers, and print the times that fit.", group=SILENCE),
    ] = False,
    cluster: Annotated[
        str | None,
        option("ADDRESS", "Drive --jobs paths at the same time on a dask cluster: tcp://host:8786.", group=WHERE),
    ] = None,
    device: Annotated[
        Path | None, option("FILE", "A pool of devices: a line for each with its addresses, as for --sut.", group=WHERE)
    ] = None,
    into: Annotated[
        Path | None, option("DIR", "Add --traces paths to the campaign in a folder, or begin one.", group=KEEPING)
    ] = None,
    options: RunOptions,
) -> int:
    """Drive the system with inputs that the model chooses, and judge everything that comes back.

    Each path starts a fresh copy of the system. A path that fails ends; the others go on. Each failure is explained in
    the words of the model, and shrunk to the few inputs that matter.
    """
    from otf.cli import resumption, workers
    from otf.cli.run_options import bounded, faster, measured

    asked = replace(
        options,
        bench=bench or "",
        traces=resumption.paths_within(time or spend, options.until) if traces is None else traces,
        time=bounded(time, spend),
        spend=spend is not None,
        seed=secrets.randbelow(1_000_000) if seed is None else seed,
        devices=[] if device is None else workers.devices_in(device),
    )
    if resume is not None:
        resumption.refuse_others([name for name in ctx.params if _is_given(ctx, name)])
        asked, loaded = resumption.resumed(resume, asked)
    elif bench is None:
        raise typer.BadParameter(
            "Missing argument 'BENCH'; `otf list` has the shipped ones, `otf new NAME` begins your own; "
            "--resume DIR alone continues a campaign",
            ctx=ctx,
        )
    else:
        asked = asked if into is None else resumption.added(into, asked, seed)
        loaded = resumption.made(asked)
    settings = resumption.settings_of(asked, resume or into or out or fresh(loaded.name, asked.seed))
    settings = resumption.settings_to_continue(settings, asked.until, resumes=bool(resume or into), checks=check)
    if asked.speed is not None:
        loaded = faster(loaded, settings, asked.speed, elsewhere=cluster is not None)
    if calibrate:
        return measured(loaded, replace(settings, traces=min(settings.traces, 2)), as_json=as_json)
    recorded = resume is not None and not bench
    settings, loaded = workers.placed(settings, asked, loaded, cluster, recorded=recorded)
    shown = partial(_shown, page, report, asked.parameters)
    return _judged(loaded, settings, asked.until, asked.unrecorded, shown, as_json=as_json)


def _is_given(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _judged(loaded: Bench, settings: Settings, until: str | None, options: str, shown: _Shown, *, as_json: bool) -> int:
    from otf.campaign import Campaign
    from otf.cli.run_options import counting
    from otf.cli.summary import SummaryPrinter
    from otf.cli.visited import unreached, visited

    settings, covered = counting(loaded, settings, until)
    campaign = Campaign(loaded, settings)
    printer = SummaryPrinter(campaign.summary, settings, loaded, options)
    with shown(campaign) as watch:
        done, error = _driven(campaign, None if as_json else printer, watch)
        if as_json:
            document({**campaign_data(campaign.summary, settings, error), **covered.data()})
        elif error is None:
            printer.whole("\n".join(filter(None, [visited(campaign), *unreached(campaign, until)])))
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
def _shown(page: str | None, report: Path | None, sets: dict[str, object], campaign: Campaign) -> Generator[_Watch]:
    """Yield what a listener is passed through, so that a page shows the campaign; in the end it becomes the report."""
    if page is None and report is None:
        yield lambda inner: inner
        return
    from otf.cli.tools.report import report_page, write_page

    settings = campaign.settings
    if page is None:
        yield lambda inner: inner
        assert report is not None  # noqa: S101 -- one of the two is
        write_page(report, report_page(settings.out, settings.reference, sets, report))
        return
    from otf.cli.tools.live import live

    with live(page, campaign, settings.reference, warn) as shown:
        yield shown.watch
        shown.end(lambda: report_page(settings.out, settings.reference, sets))
    if report is not None:
        write_page(report, report_page(settings.out, settings.reference, sets, report))


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


def campaign_data(summary: Summary, settings: Settings, error: OtfError | None) -> dict[str, Any]:
    """Return the JSON document of a campaign: keys are in docs/reference-bench.md, and in the schema."""
    parts = summary.parts
    result = {
        **summary.result.data(),
        "verdict": summary.verdict,
        "not_shown": summary.unshown,
        "altered": summary.altered,
        "seed": settings.seed,
        "out": str(settings.out),
        "time": {name: round(seconds, 3) for name, seconds in summary.spent.shares().items()},
        "saved": [
            {"signature": str(each.signature or ""), "trace": str(each.trace), "came": str(each)}
            for each in summary.saved
        ],
        "failures": [_group(group) for group in summary.failures.values()],
        **({"changed": {"transitions": len(parts.changed), "tried": parts.done}} if settings.spend else {}),
    }
    said = {"ruling": "error", "headline": "ERROR: the campaign did not come to its end"}
    return result if error is None else {**result, **said, **error_document(str(error))}


def _group(group: FailureGroup) -> dict[str, Any]:
    shrunk, shortest = group.shrunk, group.result
    return {
        **shortest.data(),
        "first": {"trace": str(group.first.trace), "steps": group.first.steps},
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
