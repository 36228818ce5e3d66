"""`otf replay --nodes`: the logs of several nodes, in one order, judged by a model of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from otf.cli.benches import named
from otf.cli.output import document, say
from otf.cli.replay_logs import Whole, beginning
from otf.cli.traces import opened
from otf.errors import STATUS_OF, ModelError, UsageError
from otf.offline.entries import LogEntry
from otf.offline.formats import FORMATS, guessed
from otf.offline.formats import named as format_named
from otf.offline.nodes import NodeEvent, NodeLogs, NodesOpinion, judge_nodes, smallest_slice
from otf.values import as_text, show


def replay_nodes(files: Sequence[str], place: str, form: str, *, as_json: bool) -> int:
    """Judge these logs together; print the verdict, and the smallest slice that fails. Return the exit status."""
    logs = named(place)
    if not isinstance(logs, NodeLogs):
        message = f"--nodes {place}: this is no NodeLogs; write NodeLogs(spec, event, forget) of otf.offline.nodes"
        raise UsageError(message)
    events = [event for file in files for event in _events(file, logs, form)]
    opinion = judge_nodes(events, logs.spec, copies=logs.copies, unsent=logs.unsent)
    part = smallest_slice(opinion, logs.spec, logs.forget) if logs.forget is not None else []
    if as_json:
        document(_json(opinion, part))
    else:
        say("\n".join([str(opinion), *_told(part)]))
    return STATUS_OF[opinion.verdict.outcome]


def _events(name: str, logs: NodeLogs, form: str) -> Iterator[NodeEvent]:
    with opened(name) as file:
        for entry in _entries(name, file, form):
            try:
                event = logs.event(entry, Path(name).name)
            except Exception as error:
                message = f"{name}, line {entry.place}: `event` raised {type(error).__name__}: {as_text(error)}"
                raise ModelError(message) from error
            if event is not None:
                yield event if event.place else replace(event, place=entry.place)


def _entries(name: str, file: BinaryIO, form: str) -> Iterator[LogEntry]:
    """Return the entries of a log by its format; the lines of one that is of no known format."""
    kind, option = format_named(form) if form else (guessed(beginning(file)), "")
    if kind in {"pcap", "pcapng"}:
        message = f"{name}: a capture is of a network, and not of a node; the logs of nodes are judged together"
        raise UsageError(message)
    if kind in FORMATS:
        return FORMATS[kind].entries(Whole(file), name, option)
    return (LogEntry(0.0, line.rstrip(b"\r\n"), place=number) for number, line in enumerate(Whole(file).lines(), 1))


def _told(part: Sequence[NodeEvent]) -> Iterator[str]:
    if part:
        yield f"the smallest part that fails ({len(part)} events):"
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
