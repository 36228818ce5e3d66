"""`otf shrink`: find the shortest trace with the same failure."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from otf.cli.option_values import RESETS, SECONDS, TRANSITIONS
from otf.cli.options import AsJson, FromBench, Jobs, SystemOptions, TraceName, guarded, option
from otf.cli.output import columns, document, say
from otf.cli.signals import SIGNALS, Done, interruptible
from otf.errors import FAIL, INCONCLUSIVE, STATUS_OF

if TYPE_CHECKING:
    from otf.adapter import Bench
    from otf.campaign import PathResult, Shrinker, Shrunk
    from otf.offline import Judgement

STDIN = "stdin.jsonl"  # the trace on standard input has no name; the result is named after this


EXAMPLES = """\b
Examples:
  otf shrink runs/path-0001.jsonl  fewer inputs, the same failure
"""


@guarded
def shrink(
    trace: TraceName,
    budget: Annotated[int, option("STEPS", "How many inputs may be sent to the system.", min=1)] = TRANSITIONS,
    resets: Annotated[int, option("NUMBER", "How many copies of the system may be started.", min=1)] = RESETS,
    seconds: Annotated[float, option("SECONDS", "How long it may take.", min=0)] = SECONDS,
    jobs: Jobs = 1,
    bench: FromBench = None,
    out: Annotated[Path | None, option("DIR", "The folder of the result; default: that of the trace.")] = None,
    *,
    system: SystemOptions,
    as_json: AsJson = False,
) -> int:
    """Find the shortest trace with the same failure; its name ends in .shrunk.jsonl.

    Inputs are left out one group after another; each time a fresh copy of the system is driven with the remaining ones.
    """
    from otf.campaign import Budget
    from otf.cli.progress import ShrinkFigures, working
    from otf.cli.traces import reading
    from otf.offline import judge
    from otf.trace.result import counted

    with reading(trace) as reader:
        loaded = system.load_as_recorded(reader, bench)
        judgement = judge(reader, loaded, keep=True)
    if not judgement.verdict.failed:
        return _nothing(judgement, trace, as_json=as_json)
    source = Path(STDIN) if trace == "-" else Path(trace)
    failing = _failing(judgement, source if out is None else out / source.name)
    shrinker = replace(_shrinker(loaded, judgement, failing, bench), where=tuple(system.sut))
    shortest: list[Shrunk] = []
    bounds = Budget(budget, resets, seconds)
    figures, progress = ShrinkFigures(bounds), [f"driving {counted(failing.steps, 'step')} again"]

    def show(length: int, transitions: int) -> None:
        progress[0] = figures.text(failing.steps, length, transitions)

    ready = replace(shrinker, jobs=jobs, budget=bounds, found=shortest.append, progress=show)

    async def work() -> Shrunk:
        with working(lambda: progress[0]):
            return await replace(ready, spent=SIGNALS.spent).run(failing)

    done = interruptible(work)
    return _result(done, shortest, failing, loaded, as_json=as_json)


def _failing(judgement: Judgement, trace: Path) -> PathResult:
    from otf.campaign import PathResult
    from otf.trace.drawn_names import without_drawn_names

    verdict = without_drawn_names(judgement.verdict, judgement.events)
    return PathResult(judgement.header.path, verdict, judgement.steps, trace, judgement.events)


def _shrinker(bench: Bench, judgement: Judgement, failing: PathResult, named: str | None) -> Shrinker:
    from otf.campaign import Settings, Shrinker
    from otf.campaign.settings import header
    from otf.cli.traces import burst_as_recorded

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


def _result(done: Done[Shrunk], shortest: list[Shrunk], failing: PathResult, bench: Bench, *, as_json: bool) -> int:
    """Report the result, also if the search was interrupted; return the exit status."""
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
        _report(shrunk, failing, bench)
    # a failure stays a failure, also if the search for fewer steps was interrupted
    return FAIL if shrunk.before else done.status(INCONCLUSIVE)


def _nothing(judgement: Judgement, trace: str, *, as_json: bool) -> int:
    from otf.trace.explain import explanation

    if as_json:
        document({"trace": trace, "steps": judgement.steps, "transitions": 0, "resets": 0, "rate": 0.0})
    else:
        say(f"{trace}: there is no failure in it to shrink; {explanation(judgement.conclusion)}")
    return STATUS_OF[judgement.conclusion.outcome]


def _json(shrunk: Shrunk) -> dict[str, Any]:
    import msgspec

    from otf.campaign.journal_lines import ShrunkLine

    line: dict[str, Any] = msgspec.to_builtins(ShrunkLine.of("", shrunk))
    del line["signature"]
    others = [
        {"signature": str(other.verdict.failure.signature), "trace": str(other.trace), "steps": other.steps}
        for other in shrunk.others
        if other.verdict.failure
    ]
    return {**line, "others": others}


def _report(shrunk: Shrunk, failing: PathResult, bench: Bench) -> None:
    from otf.campaign.table import table
    from otf.cli.summary import notes
    from otf.trace.explain import explanation
    from otf.trace.result import counted

    say(explanation(shrunk.verdict, shrunk.events, columns()))
    say(f"\n{table(bench.oracle(), shrunk.events)}\n")
    for note in notes(shrunk):
        say(note)
    took = f"{counted(shrunk.transitions, 'step')} and {counted(shrunk.resets, 'start')} of the system"
    say(f"{failing.steps} -> {counted(shrunk.steps, 'step')}, with {took}")
    if shrunk.program is not None and find_spec("pytest"):
        say(f"as a test: pytest {shrunk.program}")
    say(f"trace: {shrunk.trace}")
