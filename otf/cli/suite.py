"""`otf suite`: a test suite of a model, made before anything runs; stated, written, and run by the usual runner."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import typer

from otf.adapter import Bench
from otf.campaign import Campaign, Settings
from otf.cli import stored
from otf.cli.benches import load, parsed
from otf.cli.ending import document, guarded, say
from otf.cli.explore import modelled
from otf.cli.folders import fresh
from otf.cli.interrupt import interruptible
from otf.cli.options import AsJson, BenchName, Out, Sets
from otf.cli.progress import listening
from otf.cli.telling import tell
from otf.errors import FAIL, PASS, UsageError
from otf.runner.watchdog import watched
from otf.strategy import script
from otf.suite import METHODS
from otf.suite import suite as made

EXAMPLES = """\b
Examples:
  otf suite coffee                              state it, then run it
  otf suite coffee --method tour --dry          only state it
  otf suite coffee --method hsi --extra 1 --write suite.json
  otf suite coffee --read suite.json
"""


@guarded
def suite(
    bench: BenchName,
    method: Annotated[str, typer.Option(metavar="NAME", help=f"One of {', '.join(METHODS)}.")] = "chain",
    extra: Annotated[
        int, typer.Option(metavar="NUMBER", help="How many states more than the model a system may have.")
    ] = 0,
    limit: Annotated[int, typer.Option(metavar="NUMBER", help="At most so many states of the model.")] = 100_000,
    write: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the suite, and run nothing.")] = None,
    read: Annotated[Path | None, typer.Option(metavar="FILE", help="Run a suite that was written.")] = None,
    dry: Annotated[bool, typer.Option("--dry", help="State the suite, and run nothing.")] = False,
    out: Out = None,
    sets: Sets = None,
    as_json: AsJson = False,
) -> int:
    """Make a test suite of a model in advance: lists of inputs, each from a reset of the system.

    Its size and what a system is worth that passes it are told before anything runs; of a file, by the paths in it and
    the model as it is now. It is run and judged as paths of a campaign; a failure is shrunk. Where the method takes
    inputs that the model leaves open, they must be ignored.
    """
    given = parsed(sets)
    if read is not None and write is not None:
        raise UsageError("--read and --write: a suite that is read is not written again; leave one of them out")
    if read is not None:
        paths, data = stored.read(read, load(bench, given))
    else:
        origin = stored.Origin(*modelled(bench, given), limit)
        with watched():
            built = made(origin.graph(), method, extra)
        paths, data = built.paths, stored.as_data(built)
        if write is not None:
            stored.write(write, built, extra, origin)
    if not as_json:
        say(data["says"])
    if dry or write is not None:
        if as_json:
            document(data)
        return PASS
    return _run(bench, load(bench, given), paths, data, out, as_json=as_json)


def _run(
    reference: str, bench: Bench, paths: list[list[Any]], data: dict[str, Any], out: Path | None, *, as_json: bool
) -> int:
    if data["ignores"]:
        bench = replace(bench, inputs="all")
    longest = max(map(len, paths), default=0)
    if not longest:
        raise UsageError(f"{reference}: the suite has no inputs: the model offers none")
    settings = Settings(
        out=out or fresh("suite", data["method"]),
        reference=reference,
        traces=len(paths),
        steps=longest,
        strategy=replace(script(*paths), name=f"suite {data['method']}"),
        keep="failures",
    )
    campaign, began = Campaign(bench, settings), monotonic()

    async def work() -> None:
        with listening(settings, quiet=as_json) as campaign.listener:
            await campaign.run()

    done = interruptible(work)
    summary = campaign.summary
    summary.interrupted = bool(done.signal)
    if as_json:
        ran = {"verdict": summary.verdict, "ran": summary.paths, "sent": summary.steps, "out": str(settings.out)}
        document({**data, **ran, "failures": [str(each) for each in summary.failures]})
    else:
        tell(summary, settings, bench, monotonic() - began)
    return FAIL if summary.failures else done.status(summary.exit_status)
