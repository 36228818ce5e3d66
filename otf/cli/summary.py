"""The result of a campaign in words."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from otf.adapter import Bench
from otf.campaign import FailureGroup, PathResult, Settings, Shrunk, Summary
from otf.cli.benches import is_shipped
from otf.cli.output import say
from otf.cli.traces import repeated
from otf.core.enabled import ITERATED
from otf.trace.explain import explanation
from otf.trace.reading import bounded
from otf.trace.result import CampaignResult, counted

LONGEST: Final = 60  # bytes of a frame that are shown
SLOW: Final = 10.0  # seconds after which a user may ask where the time went
LEAST: Final = 0.005  # the least share of the time that is shown

_SHARES: Final = {
    "silence": ("waiting for silence", "--calibrate suggests shorter times, and a barrier needs no silence; or --jobs"),
    "wire": ("waiting for outputs", "the system takes this time to answer; --jobs N runs N copies of it at once"),
    "starts": ("starting and stopping the system", "fewer, longer paths (--traces, --steps), or a reset instead"),
    "model": ("the model's functions", "make them faster, or let states recur: each is called once for each state"),
    "otf": ("otf itself", "states that recur cost least; to use more cores, run other seeds at the same time"),
}


def spaced(data: bytes) -> str:
    """Return bytes in hexadecimal, as many as fit next to a value.

    >>> spaced(b"coin")
    '63 6f 69 6e'
    """
    return f"{data[:LONGEST].hex(' ')}{' …' if len(data) > LONGEST else ''}"


def raw(trace: Path, number: int) -> bytes:
    """Return the bytes of the event with that number in a trace; empty if it has none or the trace is gone."""
    with suppress(OSError), trace.open("rb") as file:
        for line in bounded(file):
            record: dict[str, Any] = json.loads(line)
            if record.get("n") == number:
                return bytes.fromhex(record.get("raw") or "")
    return b""


def print_summary(summary: Summary, settings: Settings, bench: Bench, seconds: float) -> None:
    """Print the failures, each with its explanation and what to do next, then the verdict of the campaign."""
    for kept in summary.saved:
        say(f"{kept}: {kept.signature or 'a failure'} of an earlier run ({kept.trace})")
    print_failures(summary, settings, bench)
    if summary.trouble:
        say(f"stopped: {summary.trouble}")
    result = summary.result
    say(f"{result.headline} ({result.totals}, {seconds:.1f} s, seed {settings.seed})")
    if result.mixed:
        say(result.tally)
    notes = (*_known_issues(summary, settings, bench), *_notes(summary))
    for note in (*notes, *_time_spent(summary, seconds, own=bench.system is not None)):
        say(note)
    say(f"traces: {settings.out}/")


def lists(result: CampaignResult) -> dict[str, Any]:
    """Return what a JSON document has of the known issues and the inconclusive paths, beside the failures."""
    return {
        "passed": result.passed,
        "departures": [
            {"says": each.says, "count": each.paths, "trace": each.trace or None} for each in result.known_issues
        ],
        "inconclusive": [{"why": each.why, "count": each.paths, "trace": each.trace} for each in result.inconclusive],
    }


def print_failures(summary: Summary, settings: Settings, bench: Bench) -> None:
    """Print the failures of paths alone: a campaign that could not go on has no verdict."""
    for group in summary.failures.values():
        say("\n".join(_failure(group, summary, settings, bench)))
    _print_inconclusive(summary, settings, bench)


def _print_inconclusive(summary: Summary, settings: Settings, bench: Bench) -> None:
    first = {each.verdict.why: each for each in reversed(summary.inconclusive)}
    for each in summary.result.inconclusive:
        say(f"inconclusive ({counted(each.paths, 'path')}): {each.why}")
        say(f"  look at it:      otf show {_call(first[each.why], settings, bench)}")


def notes(shrunk: Shrunk) -> Iterator[str]:
    """Yield what a user must know about a shrunk failure besides its steps."""
    if not shrunk.tried:
        yield f"nothing was shrunk: {shrunk.ended} before the failure was seen again"
    elif not shrunk.rate:
        yield "the failure did not recur when the same inputs were sent: it depends on chance or on timing"
    elif shrunk.rate < 1 or shrunk.before < 1:
        after, before = _of(shrunk.rate, shrunk.runs), _of(shrunk.before, shrunk.tried)
        yield f"it depends on chance: these steps failed in {after}, the original in {before}"
    if shrunk.rate and not shrunk.minimal:
        yield f"the search was stopped early, since {shrunk.ended}: fewer steps may be enough"
    for other in shrunk.others:
        failure = other.verdict.failure
        yield f"another failure was found on the way, {failure.signature if failure else ''}: {other.trace}"


def _of(rate: float, runs: int) -> str:
    return f"{round(rate * runs)} of {counted(runs, 'run')}"


def _known_issues(summary: Summary, settings: Settings, bench: Bench) -> Iterator[str]:
    for known in summary.known_issues:
        if known.first is not None:
            yield f"known issue ({counted(known.count, 'path')}): {known.says}"
            yield f"  shrink it:       otf shrink {_call(known.first, settings, bench, drives=True)}"
        elif summary.paths:
            yield f"known issue that did not occur: {known.says}"


def _notes(summary: Summary) -> Iterator[str]:
    if summary.paths and not summary.steps:
        yield "note: nothing was sent and nothing was tested: the model enables no input in its initial state"
    yield from (f"note: {each}" for each in summary.unwritten)
    if summary.cut:
        yield f"note: only the first {ITERATED:,} inputs of a state were tried; from a list, all are drawn"
    yield from summary.result.basis()


def _time_spent(summary: Summary, seconds: float, *, own: bool) -> Iterator[str]:
    """Yield where the time of a slow campaign went, and how to save most of it; `own`: its system is an object."""
    shares, whole = summary.spent.shares(), sum(summary.spent.shares().values())
    if seconds < SLOW or not whole:
        return
    named = {name: _SHARES[name][0] for name in shares} | ({"otf": "otf and the system itself"} if own else {})
    shown = [f"{share / whole:.0%} {named[name]}" for name, share in shares.items() if share >= LEAST * whole]
    yield f"time: {', '.join(shown)}"
    yield f"  to save time:    {_SHARES[next(iter(shares))][1]}"


def _failure(group: FailureGroup, summary: Summary, settings: Settings, bench: Bench) -> Iterator[str]:
    shown = group.shrunk or group.first
    found = f"failed on {group.count} of {summary.paths} paths, first" if group.count else "failed as before,"
    yield f"{found} {_after(group)}"
    if group.tries > 1:
        yield f"it took {group.tries} strict runs of the same inputs to reproduce it: it depends on chance or on timing"
    yield explanation(shown.verdict, shown.events)
    yield from _bytes(shown)
    if group.shrunk is not None and group.shrunk.rate:
        yield from notes(group.shrunk)
    call = _call(shown, settings, bench)
    yield f"  look at it:      otf show {call}"
    yield f"  judge it again:  otf replay {call}"
    yield f"  drive it again:  otf rerun {_call(shown, settings, bench, drives=True)}"
    if group.shrunk is not None and group.shrunk.program is not None:
        yield f"  as a test:       pytest {shlex.quote(str(group.shrunk.program))}"
    yield ""


def _bytes(result: PathResult | Shrunk) -> Iterator[str]:
    """Yield the bytes of the output that failed, if the trace has them."""
    data = raw(result.trace, result.verdict.failure.event) if result.verdict.failure is not None else b""
    if data:
        yield f"  its bytes:       {spaced(data)}"


def _after(group: FailureGroup) -> str:
    steps, shrunk = f"after {counted(group.first.steps, 'step')}", group.shrunk
    if shrunk is None:
        return f"{steps}, not shrunk: {group.unshrunk}" if group.unshrunk else steps
    if not shrunk.rate:
        return f"{steps}; it did not recur when the same inputs were sent: it depends on chance or on timing"
    return f"{steps}, shrunk to {shrunk.steps} (with {counted(shrunk.transitions, 'step')} of the system)"


def _call(result: PathResult | Shrunk, settings: Settings, bench: Bench, *, drives: bool = False) -> str:
    named = "" if is_shipped(settings.reference) else f" --bench {shlex.quote(settings.reference)}"
    return shlex.quote(str(result.trace)) + named + repeated(bench, settings.reference, drives=drives)
