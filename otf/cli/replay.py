"""`otf replay`: judge recorded traces again, offline, or judge the logs of several nodes against one model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from otf.cli.benches import parsed, placed
from otf.cli.commands import ReplayCommand
from otf.cli.output import document, say
from otf.cli.replay_logs import How, TraceSource, Whole, as_data, beginning, judged, report, status_of
from otf.cli.traces import each_trace, opened
from otf.errors import FAIL, INCONCLUSIVE, PASS, STATUS_OF, USAGE, ModelError, UsageError
from otf.offline.entries import LogEntry
from otf.offline.formats import FORMATS, guessed
from otf.offline.formats import named as format_named
from otf.offline.nodes import NodeEvent, NodeLogs, NodesOpinion, judge_nodes, smallest_slice
from otf.trace.result import counted
from otf.values import as_text, show

WORST = (FAIL, USAGE, INCONCLUSIVE, PASS)  # the status of several traces: a failure outranks everything else


def replay(asked: ReplayCommand) -> int:
    """Do what the command asks; return the exit status."""
    if asked.nodes:
        return replay_nodes(asked.traces, asked.nodes, asked.log_format, as_json=asked.as_json)
    form, choice = format_named(asked.log_format) if asked.log_format else ("", "")
    source = TraceSource(
        asked.bench,
        asked.suts,
        parsed(asked.sets),
        How(asked.follow, asked.lost_start, asked.ended, form, choice, asked.port),
    )
    found = {name: judged(name, source) for name in each_trace(asked.traces)}
    if asked.as_json:
        document([as_data(name, judgement) for name, judgement in found.items()])
    else:
        for name, judgement in found.items():
            report(name, judgement)
    statuses = {status_of(each) for each in found.values() if not getattr(each, "untested", "")} or {INCONCLUSIVE}
    return next(status for status in WORST if status in statuses)


def replay_nodes(files: Sequence[str], place: str, form: str, *, as_json: bool) -> int:
    """Judge these logs together; print the verdict and the smallest failing slice. Return the exit status."""
    logs = placed("--nodes", place)
    if not isinstance(logs, NodeLogs):
        message = f"--nodes {place}: this is not a NodeLogs; write NodeLogs(spec, event, forget) of otf.offline.nodes"
        raise UsageError(message)
    events = [event for file in files for event in _events(file, logs, form)]
    opinion = judge_nodes(events, logs.spec, copies=logs.copies, unsent=logs.unsent)
    if not as_json:
        say(str(opinion))  # before the slice: `forget` may be broken
    part = smallest_slice(opinion, logs.spec, logs.forget) if logs.forget is not None else []
    if as_json:
        document(_json(opinion, part))
    elif part:
        say("\n".join(_told(part)))
    return STATUS_OF[opinion.verdict.outcome]


def _events(name: str, logs: NodeLogs, form: str) -> Iterator[NodeEvent]:
    with opened(name) as file:
        for entry in _entries(name, file, form):
            try:
                event = logs.event(entry, Path(name).name)
            except Exception as error:
                message = f"{name}, line {entry.place}: `event` raised {type(error).__name__}: {as_text(error)}"
                raise ModelError(message) from error
            if isinstance(event, NodeEvent):
                yield event if event.place else replace(event, place=entry.place)
            elif event is not None:
                message = f"{name}, line {entry.place}: `event` returned {show(event)}; return a NodeEvent, or None"
                raise ModelError(message)


def _entries(name: str, file: BinaryIO, form: str) -> Iterator[LogEntry]:
    """Return the entries of a log in its format, or its lines if the format is unknown."""
    kind, option = format_named(form) if form else (guessed(beginning(file)), "")
    if kind in {"pcap", "pcapng"}:
        raise UsageError(f"{name}: a capture is of a network, and not of a node; the logs of nodes are judged together")
    if kind in FORMATS:
        return FORMATS[kind].entries(Whole(file), name, option)
    return (LogEntry(0.0, line.rstrip(b"\r\n"), place=number) for number, line in enumerate(Whole(file).lines(), 1))


def _told(part: Sequence[NodeEvent]) -> Iterator[str]:
    yield f"the smallest part that fails ({counted(len(part), 'event')}):"
    for each in part:
        shows = f"  {each.shows}" if each.shows is not None else ""
        yield f"  node {each.node}, line {each.place}: {show(each.action)}{shows}"


def _json(opinion: NodesOpinion, part: Sequence[NodeEvent]) -> dict[str, Any]:
    return {
        "verdict": opinion.verdict.outcome,
        "events": len(opinion.order),
        "why": opinion.why,
        "slice": [{"node": each.node, "place": each.place, "action": show(each.action)} for each in part],
    }
