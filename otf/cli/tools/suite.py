"""`otf suite`: a test suite generated from a model in advance; described, written, and run by the usual runner."""

from __future__ import annotations

from dataclasses import replace

from otf.adapter import Bench
from otf.adapter.third_party import watched
from otf.campaign import Campaign, Settings
from otf.cli.benches import load, modelled, parsed
from otf.cli.output import document, fresh, say
from otf.cli.progress import listening
from otf.cli.signals import SIGNALS, interruptible
from otf.cli.summary import SummaryPrinter
from otf.cli.tools.model_commands import SuiteCommand
from otf.cli.tools.suites import PlannedSuite, SuiteOrigin, plan_suite, read_suite
from otf.errors import FAIL, PASS, UsageError


def suite(asked: SuiteCommand) -> int:
    """Do what the command asks; return the exit status."""
    given = parsed(asked.system.sets)
    if asked.read is not None and asked.write is not None:
        raise UsageError("--read and --write: a suite that is read cannot be written again; leave one of them out")
    if asked.read is not None:
        plan = read_suite(asked.read, load(asked.bench, given), asked.runs)
    else:
        origin = SuiteOrigin(*modelled(asked.bench, given), asked.limit)
        with watched():
            plan = plan_suite(origin, asked)
    driven = None if asked.dry or asked.write is not None else asked.system.load(asked.bench)
    if not asked.as_json:
        say(plan.data["says"])
    if driven is None:
        if asked.as_json:
            document(plan.data)
        return PASS
    return _run(driven, plan, asked)


def _run(bench: Bench, plan: PlannedSuite, asked: SuiteCommand) -> int:
    data = plan.data
    if data["ignores"]:
        bench = replace(bench, inputs="all")
    if not plan.longest:
        raise UsageError(f"{asked.bench}: the suite has no inputs: the model enables none")
    settings = Settings(
        out=asked.out or fresh("suite", data["method"]),
        reference=asked.bench,
        jobs=asked.jobs,
        where=tuple(asked.system.sut),
        traces=plan.paths,
        steps=plan.longest,
        strategy=plan.kind(),
        mode=plan.mode,
        keep="failures",
    )
    campaign = Campaign(bench, settings)
    summary = campaign.summary
    printer = None if asked.as_json else SummaryPrinter(summary, settings, bench, asked.system.unrecorded)

    async def work() -> None:
        with listening(settings, summary, printer, quiet=asked.as_json) as campaign.listener:
            campaign.spent = SIGNALS.spent
            await campaign.run()

    done = interruptible(work)
    summary.interrupted = bool(done.signal)
    if printer is None:
        ran = {"verdict": summary.verdict, "ran": summary.paths, "sent": summary.steps, "out": str(settings.out)}
        document({**data, **ran, "failures": [str(each) for each in summary.failures]})
    else:
        printer.whole()
    return FAIL if summary.failures else done.status(summary.exit_status)
