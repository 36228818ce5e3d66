"""`otf run`: drive a campaign."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeAlias

import typer

from otf.adapter import Bench
from otf.campaign import Campaign, FailureGroup, Listener, Settings, Summary
from otf.cli.output import STDOUT_ERRORS, document, error_document, fresh, report_error, say, warn
from otf.cli.progress import listening
from otf.cli.resumption import added, made, paths_within, refuse_others, resumed, settings_of, settings_to_continue
from otf.cli.run_arguments import RunCommand, RunOptions
from otf.cli.run_options import bounded, counting, faster, measure_times
from otf.cli.signals import SIGNALS, Done, interruptible
from otf.cli.summary import SummaryPrinter
from otf.cli.visited import unreached, visited
from otf.cli.workers import devices_in, place_paths
from otf.errors import FAIL, OtfError, WriteError
from otf.strategy import Coverage

_Watch: TypeAlias = Callable[[Listener], Listener]


def run(asked: RunCommand) -> int:
    """Do what the command asks; return the exit status."""
    options, loaded = _options_and_bench(asked)
    goes_on = bool(asked.resume or asked.into)
    settings = settings_of(options, asked.resume or asked.into or asked.out or fresh(loaded.name, options.seed))
    settings = settings_to_continue(settings, options.until, resumes=goes_on, checks=asked.check)
    if options.speed is not None:
        loaded = faster(loaded, settings, options.speed, elsewhere=asked.cluster is not None)
    if asked.calibrate:
        return measure_times(loaded, replace(settings, traces=min(settings.traces, 2)), as_json=asked.as_json)
    recorded = asked.resume is not None and not asked.bench
    settings, loaded = place_paths(settings, options, loaded, asked.cluster, recorded=recorded)
    return _drive_and_report(loaded, settings, options, asked)


def _options_and_bench(asked: RunCommand) -> tuple[RunOptions, Bench]:
    """Return what the journal keeps of a command line, and the bench. Raises UsageError."""
    bounds = paths_within(asked.time or asked.spend, asked.options.until)
    options = replace(
        asked.options,
        bench=asked.bench or "",
        traces=bounds if asked.traces is None else asked.traces,
        time=bounded(asked.time, asked.spend),
        spend=asked.spend is not None,
        seed=secrets.randbelow(1_000_000) if asked.seed is None else asked.seed,
        devices=[] if asked.device is None else devices_in(asked.device),
    )
    if asked.resume is not None:
        sources = {name: asked.ctx.get_parameter_source(name) for name in asked.ctx.params}
        refuse_others([name for name, each in sources.items() if each and each.name == "COMMANDLINE"])
        return resumed(asked.resume, options)
    if asked.bench is None:
        raise typer.BadParameter(
            "Missing argument 'BENCH'; `otf list` has the shipped ones, `otf new NAME` begins your own; "
            "--resume DIR alone continues a campaign",
            ctx=asked.ctx,
        )
    options = options if asked.into is None else added(asked.into, options, asked.seed)
    return options, made(options)


def _drive_and_report(loaded: Bench, settings: Settings, options: RunOptions, asked: RunCommand) -> int:
    settings, covered = counting(loaded, settings, options.until)
    campaign = Campaign(loaded, settings)
    printer = SummaryPrinter(campaign.summary, settings, loaded, options.unrecorded)
    with _show_meanwhile(asked, options.parameters, campaign, printer) as watch:
        done, error = _drive(campaign, None if asked.as_json else printer, watch)
        if asked.as_json:
            document({**campaign_data(campaign.summary, settings, error), **_coverage(covered)})
        elif error is None:
            printer.whole("\n".join(filter(None, [visited(campaign), *unreached(campaign, options.until)])))
            if covered is not None:
                say(f"covered, counted where otf chose an input: {covered}")
        else:
            printer.failures()
        if STDOUT_ERRORS:
            warn(campaign.summary.result.headline)
        if error is not None:
            report_error(error)
            # a failure stays a failure, but a broken model may have blamed the system for its own errors
            return FAIL if campaign.summary.failures and isinstance(error, WriteError) else error.exit_status
        # a failure stays a failure, even if the campaign was interrupted
        return FAIL if campaign.summary.failures else done.status(campaign.summary.exit_status)


@contextmanager
def _show_meanwhile(
    asked: RunCommand, sets: dict[str, object], campaign: Campaign, printer: SummaryPrinter
) -> Generator[_Watch]:
    """Yield a function that wraps a listener so that a page shows the campaign, and in the end the report."""
    if asked.page is None and asked.report is None:
        yield lambda inner: inner
        return
    # tools: the rest of the command works without them
    from otf.cli.tools.live import live
    from otf.cli.tools.report import check_page, report_page, write_page

    folder, bench = campaign.settings.out, campaign.settings.reference
    if asked.report is not None:
        check_page(asked.report, folder)
    if asked.page is None:
        yield lambda inner: inner
    else:
        with live(asked.page, campaign, bench, warn, printer) as shown:
            yield shown.watch
            shown.end(lambda: report_page(folder, bench, sets))
    if asked.report is not None:
        write_page(asked.report, report_page(folder, bench, sets, asked.report))


def _drive(campaign: Campaign, printer: SummaryPrinter | None, watch: _Watch) -> tuple[Done[None], OtfError | None]:
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


def _coverage(covered: Coverage | None) -> dict[str, Any]:
    """Return the part of the document that counts coverage, if the campaign counted that."""
    if covered is None:
        return {}
    return {"coverage": {"met": covered.met(), "all": covered.all(), "never": covered.never()}}


def campaign_data(summary: Summary, settings: Settings, error: OtfError | None) -> dict[str, Any]:
    """Return the JSON document of a campaign; docs/reference-bench.md and the schema explain the keys."""
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
