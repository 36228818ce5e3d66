"""A campaign that continues: its counted paths go into the summary, as far as their traces confirm them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from otf.adapter import Bench
from otf.campaign.believed import Believed, judged, past_gap
from otf.campaign.evidence import passed_steps
from otf.campaign.journal_lines import OF_SHRUNK, About, CountedLine, ShrunkLine
from otf.campaign.journal_reader import Past
from otf.campaign.results import FailureGroup, PathResult, Shrunk
from otf.campaign.settings import Settings
from otf.campaign.summary import Summary
from otf.errors import TraceError, UsageError
from otf.trace.verdict import Verdict


def restore(past: Past, summary: Summary, bench: Bench, about: About, settings: Settings) -> None:
    """Add the counted paths to a summary, as far as their traces confirm them; the others are driven again.

    `about` belongs to the campaign that continues. Raises UsageError for a trace of another campaign, TraceError if the
    trace of a failure cannot be read.
    """
    # if it was interrupted after its last path, its result was never reported: judge it again, without driving
    past.judges_again = settings.check or not (past.completed or past.lacks(settings.traces))
    believed = Believed(past.folder, about.header, bench, again=past.judges_again, partial=settings.keep == "failures")
    believed.refuse_others()
    lines = {number: believed.line(line, linked=number in past.linked) for number, line in past.counted.items()}
    past.counted = {number: line for number, line in lines.items() if line is not None}
    summary.altered, summary.unshown = [*past.altered, *believed.altered], believed.unshown
    _add_all(past, summary, bench)


def is_idle(past: Past, summary: Summary) -> bool:
    """Return whether a campaign with earlier paths has tested nothing: it drove no path, and had ended before.

    If it had not, the traces that were judged again are its result.
    """
    driven = summary.parts.paths or summary.parts.saved
    shown = len(past.counted) > summary.unshown
    return not driven and (past.completed or not past.judges_again or not shown)


def _add_all(past: Past, summary: Summary, bench: Bench) -> None:
    summary.requirements.add(past.requirements)
    summary.failed_starts, summary.earlier = past.failed_starts, past.seconds
    groups = dict[tuple[str, str], FailureGroup]()
    issues = {issue.says: issue for issue in summary.known_issues}
    for number in sorted(past.counted):
        counted = past.counted[number]
        same = counted.signature, counted.exact
        group, known_issue = groups.get(same), issues.get(counted.known_issue)
        _add(summary, counted, past.folder)
        if known_issue is not None:
            known_issue.add(_path(past.folder, counted, known_issue.group, bench), counted.signature)
        elif counted.verdict == "fail" and group is not None and group.signature.fingerprint == counted.exact:
            group.count += 1
            group.meet(_path(past.folder, counted, group, bench))
        elif counted.verdict == "fail":
            # the trace of an eager path may show another one: that of the strict run counts
            groups[same] = _group(past.folder, counted, bench)
            groups[same].count += group.count if group is not None else 0
    oracle = bench.oracle()
    for group in groups.values():
        group.first = replace(group.first, passed=(*passed_steps(oracle, group.first.events),))
        summary.failed(group)
    summary.regroup()
    _add_guessed(past, summary, bench)
    kinds = {str(kind): group for kind, group in summary.failures.items()}
    for name, group in (kinds | {each.says: each.group for each in summary.known_issues if each.group}).items():
        line = past.shrunk.get(name)
        if line is not None and not line.ended:
            group.shrunk = shrunk_of(past.folder, line, group.first.number, bench)


def _add_guessed(past: Past, summary: Summary, bench: Bench) -> None:
    """Add what failed behind a guess: it is sought again without the guess."""
    for number, counted in sorted(past.counted.items()):
        if counted.behind and counted.verdict != "inconclusive":
            with suppress(OSError, TraceError):
                summary.behind(judged(past.folder / f"path-{number:04}.jsonl", number, bench), bench.known_issue)


def _path(folder: Path, counted: CountedLine, group: FailureGroup | None, bench: Bench) -> PathResult:
    """Return another path of a group; only the first is judged again, and one that is shorter."""
    if group is None or counted.steps < group.result.steps:
        with suppress(OSError, TraceError):
            return _first(judged(folder / Path(counted.trace).name, counted.path, bench))
    return _result(counted, folder)


def _group(folder: Path, counted: CountedLine, bench: Bench) -> FailureGroup:
    trace = folder / Path(counted.trace).name
    try:
        first = replace(_first(past_gap(judged(trace, counted.path, bench))), unwritten=counted.unwritten)
    except OSError as error:
        message = f"{trace}: the trace of a failure cannot be read ({error.strerror}): this campaign cannot go on"
        raise TraceError(message) from error
    failure = first.verdict.failure
    if failure is None:
        message = f"{first.trace}: it showed {counted.signature}, and does not show it now; choose another folder"
        raise UsageError(message)
    return FailureGroup(failure.signature, first, tries=counted.tries)


def _add(summary: Summary, counted: CountedLine, folder: Path) -> None:
    summary.paths += 1
    summary.steps += counted.steps
    summary.truncated += counted.truncated
    summary.short += counted.short
    summary.malformed += counted.malformed
    summary.excused += counted.excused
    summary.together = max(summary.together, counted.together)
    summary.heard |= counted.heard
    summary.judged += counted.judged
    summary.late += counted.late
    if counted.silence:
        summary.silence[counted.silence] = summary.silence.get(counted.silence, 0) + 1
    if counted.unwritten:
        summary.unwritten.append(counted.unwritten)
    if counted.verdict == "inconclusive":
        summary.inconclusive.append(_result(counted, folder))


def _first(found: PathResult) -> PathResult:
    return found.upto(found.verdict.failure)


def _result(counted: CountedLine, folder: Path) -> PathResult:
    return PathResult(
        counted.path, Verdict(counted.verdict, why=counted.why), counted.steps, folder / Path(counted.trace).name
    )


def shrunk_of(folder: Path, line: ShrunkLine, number: int, bench: Bench) -> Shrunk | None:
    """Return a shrunk failure; None if one of its traces is gone, so that it is shrunk again."""
    try:
        shortest, *others = (judged(folder / Path(trace).name, number, bench) for trace in (line.trace, *line.others))
    except (OSError, TraceError):
        return None
    same: dict[str, Any] = {name: getattr(line, name) for name in OF_SHRUNK}
    program = None if line.program is None else folder / Path(line.program).name
    trace, verdict, events = shortest.trace, shortest.verdict, shortest.events
    return Shrunk(trace=trace, verdict=verdict, events=events, others=others, program=program, **same)
