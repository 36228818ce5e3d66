"""`otf shrink`: find the shortest trace with the same failure."""

from __future__ import annotations

import shlex
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from otf.adapter import Bench
from otf.campaign import Budget, PathResult, Settings, Shrinker, Shrunk
from otf.campaign.journal_lines import ShrunkLine
from otf.campaign.settings import header
from otf.campaign.table import table
from otf.cli.commands import ShrinkCommand
from otf.cli.output import columns, document, say
from otf.cli.progress import ShrinkFigures, working
from otf.cli.signals import SIGNALS, Done, interruptible
from otf.cli.summary import notes
from otf.cli.traces import burst_as_recorded, reading, repeated
from otf.errors import FAIL, INCONCLUSIVE, STATUS_OF
from otf.offline import Judgement, judge
from otf.trace.drawn_names import without_drawn_names
from otf.trace.explain import explanation
from otf.trace.result import counted

STDIN = "stdin.jsonl"  # a trace from standard input has no name; this names the result


def shrink(asked: ShrinkCommand) -> int:
    """Do what the command asks; return the exit status."""
    with reading(asked.trace) as reader:
        loaded = asked.system.load_as_recorded(reader, asked.bench)
        judgement = judge(reader, loaded, keep=True)
    if not judgement.verdict.failed:
        return _nothing(judgement, asked.trace, as_json=asked.as_json)
    source = Path(STDIN) if asked.trace == "-" else Path(asked.trace)
    failing = _failing(judgement, source if asked.out is None else asked.out / source.name)
    shrinker = replace(_shrinker(loaded, judgement, failing, asked.bench), where=tuple(asked.system.sut))
    shortest: list[Shrunk] = []
    bounds = Budget(asked.budget, asked.resets, asked.seconds)
    figures, progress = ShrinkFigures(bounds), [f"driving {counted(failing.steps, 'step')} again"]

    def show(length: int, transitions: int) -> None:
        progress[0] = figures.text(failing.steps, length, transitions)

    ready = replace(shrinker, jobs=asked.jobs, budget=bounds, found=shortest.append, progress=show)

    async def work() -> Shrunk:
        with working(lambda: progress[0]):
            return await replace(ready, spent=SIGNALS.spent).run(failing)

    done = interruptible(work)
    return _result(done, shortest, failing, loaded, _options(asked, loaded, judgement), as_json=asked.as_json)


def _options(asked: ShrinkCommand, bench: Bench, judgement: Judgement) -> str:
    """Return the options with which another command drives the same system."""
    named = "" if asked.bench is None else f" --bench {shlex.quote(asked.bench)}"
    given = repeated(bench, asked.bench or judgement.header.bench, drives=True)
    return named + given + asked.system.unrecorded


def _failing(judgement: Judgement, trace: Path) -> PathResult:
    verdict = without_drawn_names(judgement.verdict, judgement.events)
    return PathResult(judgement.header.path, verdict, judgement.steps, trace, judgement.events)


def _shrinker(bench: Bench, judgement: Judgement, failing: PathResult, named: str | None) -> Shrinker:
    recorded = judgement.header
    settings = Settings(
        out=failing.trace.parent,
        reference=named or recorded.bench,
        seed=recorded.seed,
        mode="strict",
        burst=burst_as_recorded(recorded, judgement.steps),
    )
    head = header(bench, settings, failing.number, strategy="script")
    return Shrinker(bench=bench, oracle=bench.oracle(), header=head)


def _result(
    done: Done[Shrunk], shortest: list[Shrunk], failing: PathResult, bench: Bench, options: str, *, as_json: bool
) -> int:
    """Report the result, even of an interrupted search; return the exit status."""
    shrunk = done.value or (shortest[-1] if shortest else None)
    if shrunk is None:
        if as_json:
            document({"verdict": "inconclusive", "interrupted": True})
        else:
            say("INTERRUPTED before the failure was reproduced")
        return done.status(INCONCLUSIVE)
    if as_json:
        document(_json(shrunk))
    else:
        _report(shrunk, failing, bench, options)
    # a failure stays a failure, even if the search for fewer steps was interrupted
    return FAIL if shrunk.before else done.status(INCONCLUSIVE)


def _nothing(judgement: Judgement, trace: str, *, as_json: bool) -> int:
    if as_json:
        document({"trace": trace, "steps": judgement.steps, "transitions": 0, "resets": 0, "rate": 0.0})
    else:
        say(f"{trace}: there is no failure in it to shrink, so nothing was sent to the system")
        say(f"judged again: {explanation(judgement.conclusion)}")
    return STATUS_OF[judgement.conclusion.outcome]


def _json(shrunk: Shrunk) -> dict[str, Any]:
    line: dict[str, Any] = msgspec.to_builtins(ShrunkLine.of("", shrunk))
    # the kind of the line belongs to the journal; the trace tells what failed
    del line["event"], line["signature"]
    others = [
        {"signature": str(other.verdict.failure.signature), "trace": str(other.trace), "steps": other.steps}
        for other in shrunk.others
        if other.verdict.failure
    ]
    return {**line, "others": others}


def _report(shrunk: Shrunk, failing: PathResult, bench: Bench, options: str) -> None:
    say(explanation(shrunk.verdict, shrunk.events, columns()))
    say(f"\n{table(bench.oracle(), shrunk.events)}\n")
    for note in notes(shrunk, lambda other: f"{shlex.quote(str(other.trace))}{options}"):
        say(note)
    took = f"{counted(shrunk.transitions, 'input')} and {counted(shrunk.resets, 'start')} of the system"
    say(f"{failing.steps} -> {counted(shrunk.steps, 'step')}, by {took}")
    if shrunk.program is not None and find_spec("pytest"):
        say(f"as a test: pytest {shrunk.program}")
    say(f"trace: {shrunk.trace}")
