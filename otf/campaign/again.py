"""Drives a system again with the inputs of a run: of a trace, or of a path from a snapshot.

otf takes a snapshot once, after the start. A path that begins with it cannot show a fault in the start itself. So now
and then otf drives a passing path again after a reset.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from pathlib import Path

from otf.adapter import Bench
from otf.adapter.log import note
from otf.adapter.third_party import watched
from otf.campaign.journal import Journal
from otf.campaign.pace import as_before, repeating
from otf.campaign.paths import PathRun
from otf.campaign.recorder import OnEvent, reread
from otf.campaign.results import STRICT, PathResult
from otf.campaign.settings import Settings, header
from otf.core import Chooser, Oracle
from otf.core.repeatable import ask_again
from otf.runner.lookout import patience
from otf.shrink import again, issue_of
from otf.strategy import Script
from otf.strategy.renames import NamedRun
from otf.trace.events import Event, Sent
from otf.trace.record import Header


async def rerun(
    bench: Bench,
    events: Iterable[Event],
    settings: Settings,
    recorded: Header | None = None,
    on_event: OnEvent | None = None,
) -> PathResult:
    """Drive the inputs among `events` again on a fresh copy of the system, and return the result of the path.

    `rerun` sends the inputs in strict mode. If `burst` is set, `rerun` sends up to `burst` inputs at once where the
    trace shows inputs sent at once. If the system answers differently this time, the model may no longer allow an
    input, and `rerun` skips that input. For a shrunk trace, `rerun` instead plans other inputs that lead to the failing
    step. If `rerun` skips inputs that the failure needs, the result is inconclusive. `recorded` is the header of the
    trace, which lists the faults that otf injects again. `on_event` gets each event. `rerun` raises ContactError if the
    system cannot be reached, ModelError if the model is broken, and WriteError if the trace cannot be written.

    >>> import anyio
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from otf.models.coffee import Button, Coin, bench
    >>> from otf.trace import Sent
    >>> events = [Sent(Coin(10), "line", 0.0), Sent(Button(), "line", 0.1)]
    >>> with TemporaryDirectory() as folder:
    ...     result = anyio.run(rerun, bench(fault="dry"), events, Settings(out=Path(folder, "out")))
    >>> result.verdict.outcome, result.steps
    ('fail', 2)
    """
    events = list(events)
    inputs = [event.input for event in events if isinstance(event, Sent)]
    oracle, steps = bench.oracle(), max(1, len(inputs))
    chooser: Chooser = Script(inputs)
    least = len(inputs)
    if recorded is not None and recorded.shrunk and (settings.burst or 1) == 1:
        issue = issue_of(oracle, events)
        if len(issue) == len(inputs):  # a plan for fewer would pass without the others
            candidate = again(issue, oracle, patience(bench))
            chooser, steps, least = candidate.chooser(), candidate.limit, candidate.least
    head = header(bench, replace(settings, mode="strict"), 1, strategy="script")
    if recorded is not None:
        head = replace(head, path=recorded.path, faults=recorded.faults)
    with Journal(settings.out, joins=True) as journal, watched():
        journal.begin()
        trace = _free_trace(settings.out)
        with journal.path(head.run, 1, trace) as done:
            joins = None if recorded is None or recorded.burst == 1 else as_before(events)
            pacing = repeating(oracle, bench, events, settings.burst or 1, joins).pacing()
            path = PathRun(bench, oracle, head, trace, on_event, aftermath=lambda _: settings.aftermath, least=least)
            result = await path.run(chooser, steps, pacing, earlier=[NamedRun.of(oracle, events)])
            if result.verdict.failed:
                ask_again(oracle.model, bench.oracle(), result.events)
            done(result)
    return result


def _free_trace(out: Path) -> Path:
    names = (out / f"rerun-{number:04}.jsonl" for number in count(1))
    return next(name for name in names if not name.exists())


_HIDDEN = "from the snapshot the same inputs passed: it hides what goes wrong from a reset"


async def both_ways(own: Bench, oracle: Oracle, head: Header, passed: PathResult, until: float) -> PathResult:
    """Drive a path's inputs strictly after a reset; return that run if it fails, else the path. Raises ContactError."""
    events, trace = reread(passed.trace, own), passed.trace.with_suffix(STRICT)
    inputs = [event.input for event in events if isinstance(event, Sent)]
    pacing = repeating(oracle, own, events, head.burst).pacing()
    run = PathRun(own, oracle, head, trace)
    again = await run.run(Script(inputs), len(inputs), pacing, until=until, earlier=[NamedRun.of(oracle, events)])
    if not again.verdict.failed or again.verdict.failure is None:
        trace.unlink(missing_ok=True)
        return passed
    note("it fails from a reset alone", "warning", trace=str(trace))
    told = "\n".join(filter(None, [again.verdict.failure.note, _HIDDEN]))
    return replace(again, verdict=replace(again.verdict, failure=replace(again.verdict.failure, note=told)))
