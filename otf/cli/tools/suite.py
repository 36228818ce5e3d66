"""`otf suite`: a test suite generated from a model in advance; described, written, and run by the usual runner."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from otf.cli.option_values import ADAPTIVE, METHODS, RUNS, among
from otf.cli.options import AsJson, BenchName, Jobs, Out, SystemOptions, flag, guarded, option
from otf.cli.output import document, fresh, say
from otf.cli.signals import SIGNALS, interruptible
from otf.errors import FAIL, PASS, UsageError

if TYPE_CHECKING:
    from otf.adapter import Bench
    from otf.campaign import Settings
    from otf.cli.tools.suites import PlannedSuite

EXAMPLES = """\b
Examples:
  otf suite coffee                              describe it, then run it
  otf suite coffee --method tour --dry          only describe it
  otf suite coffee --method hsi --extra 1 --write suite.json
  otf suite coffee --method auto --reset-cost 20 --dry
  otf suite coffee --read suite.json
  otf suite bench.py --method state-counting    for a system that has a choice
"""


@guarded
def suite(
    bench: BenchName,
    method: Annotated[
        str,
        option(
            "NAME",
            f"One of {', '.join([*METHODS, *ADAPTIVE])}; or auto: the shortest of chain, spy, hsi and h.",
            autocompletion=among(*METHODS, *ADAPTIVE, "auto"),
        ),
    ] = "chain",
    extra: Annotated[int, option("NUMBER", "How many more states than the model the system may have.")] = 0,
    reset_cost: Annotated[float, option("NUMBER", "For auto: how many inputs a reset costs.")] = 1.0,
    limit: Annotated[int, option("NUMBER", "At most this many states of the model.")] = 100_000,
    write: Annotated[Path | None, option("FILE", "Write the suite, and do not run it.")] = None,
    read: Annotated[Path | None, option("FILE", "Run a suite from a file.")] = None,
    runs: Annotated[int | None, option("NUMBER", f"How often each adaptive test is run; default: {RUNS}.")] = None,
    dry: Annotated[bool, flag("--dry", "Describe the suite, and do not run it.")] = False,
    jobs: Jobs = 1,
    out: Out = None,
    *,
    system: SystemOptions,
    as_json: AsJson = False,
) -> int:
    """Generate a test suite from a model: lists of inputs, or adaptive tests, each after a reset of the system.

    Its size and what a pass guarantees are printed before anything runs; for a file, by its paths and the current
    model. The tests run and are judged as paths of a campaign; a failure is shrunk. If the method uses inputs that
    the model does not specify, the system must ignore them.
    """
    from otf.adapter.third_party import watched
    from otf.campaign import Settings
    from otf.cli.benches import load, parsed
    from otf.cli.tools.explore import modelled
    from otf.cli.tools.suites import SuiteOrigin, generated, stored

    given = parsed(system.sets)
    if read is not None and write is not None:
        raise UsageError("--read and --write: a suite that is read cannot be written again; leave one of them out")
    if read is not None:
        plan = stored(read, load(bench, given), runs)
    else:
        origin = SuiteOrigin(*modelled(bench, given), limit)
        with watched():
            plan = generated(origin, method, extra, runs, write, reset_cost)
    driven = None if dry or write is not None else system.load(bench)
    if not as_json:
        say(plan.data["says"])
    if driven is None:
        if as_json:
            document(plan.data)
        return PASS
    asked = Settings(
        out=out or fresh("suite", plan.data["method"]), reference=bench, jobs=jobs, where=tuple(system.sut)
    )
    return _run(driven, plan, asked, system.unrecorded, as_json=as_json)


def _run(bench: Bench, plan: PlannedSuite, asked: Settings, given: str, *, as_json: bool) -> int:
    from otf.campaign import Campaign
    from otf.cli.progress import listening
    from otf.cli.summary import SummaryPrinter

    data = plan.data
    if data["ignores"]:
        bench = replace(bench, inputs="all")
    if not plan.longest:
        raise UsageError(f"{asked.reference}: the suite has no inputs: the model enables none")
    settings = replace(
        asked,
        traces=plan.paths,
        steps=plan.longest,
        strategy=plan.kind(),
        mode=plan.mode,
        keep="failures",
    )
    campaign = Campaign(bench, settings)
    printer = None if as_json else SummaryPrinter(campaign.summary, settings, bench, given)

    async def work() -> None:
        with listening(settings, campaign.summary, printer, quiet=as_json) as campaign.listener:
            campaign.spent = SIGNALS.spent
            await campaign.run()

    done = interruptible(work)
    summary = campaign.summary
    summary.interrupted = bool(done.signal)
    if printer is None:
        ran = {"verdict": summary.verdict, "ran": summary.paths, "sent": summary.steps, "out": str(settings.out)}
        document({**data, **ran, "failures": [str(each) for each in summary.failures]})
    else:
        printer.whole()
    return FAIL if summary.failures else done.status(summary.exit_status)
