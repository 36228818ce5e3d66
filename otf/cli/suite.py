"""`otf suite`: a test suite of a model, made before anything runs; stated, written, and run by the usual runner."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Final

import typer

from otf.adapter import Bench
from otf.campaign import Campaign, Settings
from otf.cli.benches import load, parsed
from otf.cli.ending import document, guarded, say
from otf.cli.explore import model
from otf.cli.folders import fresh
from otf.cli.interrupt import interruptible
from otf.cli.options import AsJson, BenchName, Out, Sets
from otf.cli.progress import listening
from otf.cli.telling import tell
from otf.errors import FAIL, PASS, UsageError
from otf.explore import explore
from otf.runner.watchdog import watched
from otf.strategy import script
from otf.suite import METHODS, Suite
from otf.suite import suite as made
from otf.trace.tagged import Registry, encode

EXAMPLES = """\b
Examples:
  otf suite coffee                              state it, then run it
  otf suite coffee --method tour --dry          only state it
  otf suite coffee --method hsi --extra 1 --write suite.json
  otf suite coffee --read suite.json
"""
LARGEST: Final = 500_000_000  # bytes of a file of a suite


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

    Its size and what a system is worth that passes it are told before anything runs. It is run and judged as paths of
    a campaign; a failure is shrunk. Where the method takes inputs that the model leaves open, they must be ignored.
    """
    if read is not None:
        loaded = load(bench, parsed(sets))
        paths, data = _read(read, loaded)
    else:
        with watched():
            built = made(explore(model(bench, parsed(sets)), limit), method, extra)
        paths, data = built.paths, _data(built)
    if not as_json:
        say(data["says"])
    if dry or write is not None:
        if write is not None:
            _write(write, data, paths)
        if as_json:
            document(data)
        return PASS
    return _run(bench, load(bench, parsed(sets)), paths, data, out, as_json=as_json)


def _data(built: Suite) -> dict[str, Any]:
    return {
        "model": built.name,
        "method": built.method,
        "paths": len(built.words),
        "steps": built.steps,
        "guarantee": built.guarantee,
        "notes": list(built.notes),
        "ignores": built.ignores,
        "says": str(built),
    }


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


def _write(path: Path, data: dict[str, Any], paths: list[list[Any]]) -> None:
    content = json.dumps({**data, "inputs": [[encode(inp) for inp in each] for each in paths]})
    try:
        path.write_text(content + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--write {path}: {error.strerror}") from error


def _read(path: Path, bench: Bench) -> tuple[list[list[Any]], dict[str, Any]]:
    try:
        if path.stat().st_size > LARGEST:
            message = f"--read {path}: it is larger than {LARGEST:,} bytes"
            raise UsageError(message)
        data = json.loads(path.read_text(encoding="utf-8"))
        registry = Registry(bench.known_types)
        paths = [[registry.decode(inp) for inp in each] for each in data.pop("inputs")]
        return paths, {
            "ignores": bool(data["ignores"]),
            "method": str(data["method"]),
            "says": str(data["says"]),
            **data,
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"--read {path}: it is no suite as --write writes them: {error}"
        raise UsageError(message) from error
