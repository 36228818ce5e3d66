"""The log that etcd's raft is published with, judged by a model in Python; and the same log with one edit each.

etcd checks this log by a specification in TLA+, event by event. It publishes no figure of its time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any, Final

from benchmarks.field.raft import raft
from benchmarks.field.raft_nodes import forget, read
from otf.errors import TraceError
from otf.offline.nodes import NodesOpinion, judge_nodes, smallest_slice

NAME: Final = "etcd"
SOURCE: Final = "github.com/etcd-io/raft, tla/example.ndjson"
LICENCE: Final = "Apache-2.0"
SUM: Final = "cd02768bd1849a717d9abaf29612d7901efe8048d2b3fa25d9a66ba3df7f7db7"
EDITS: Final = 50
SEEN: Final = {"InitState", "Replicate", "ChangeConf", "BecomeLeader", "BecomeCandidate", "ReceiveAppendEntriesRequest"}
"""Events that change a state, so that the log is wrong without them, if the node goes on."""


@dataclass(frozen=True)
class Row:
    """What was found: of the whole log, or of its edits."""

    says: str
    figures: dict[str, Any]

    def __str__(self) -> str:
        """Return the row as text."""
        return f"{self.says}: {', '.join(f'{name} {value}' for name, value in self.figures.items())}"


def run(data: Path, seeds: int) -> Iterator[Row]:
    """Yield the verdict on the log, and how many of the edits were found, for each seed."""
    text = _text(data)
    began, used = perf_counter(), process_time()
    whole = judge_nodes(read(text), raft)
    times = {"seconds": round(perf_counter() - began, 3), "of CPU": round(process_time() - used, 3)}
    yield Row("the log", {"verdict": whole.verdict.outcome, "events": len(whole.order), **times})
    for seed in range(1, seeds + 1):
        yield _edited(text, Random(seed), seed)


def _text(data: Path) -> list[str]:
    found = list(data.rglob("example.ndjson"))
    if not found:
        raise SystemExit(f"{data}: no tla/example.ndjson below it; check out {SOURCE}")
    if sha256(found[0].read_bytes()).hexdigest() != SUM:
        raise SystemExit(f"{found[0]}: not the file that was measured")
    return found[0].read_text().splitlines()


def _edited(text: list[str], random: Random, seed: int) -> Row:
    sizes, missed = list[int](), list[str]()
    began = perf_counter()
    for _ in range(EDITS):
        lines, what = edit(text, random)
        opinion = _judged(lines)
        if opinion is None:
            sizes.append(1)  # the logs contradict each other: one line says so
        elif opinion.at < 0:
            missed.append(what)
        else:
            sizes.append(len(smallest_slice(opinion, raft, forget)))
    figures = {
        "found": f"{len(sizes)} of {EDITS}",
        "largest slice": max(sizes, default=0),
        "median slice": sorted(sizes)[len(sizes) // 2] if sizes else 0,
        "seconds": round(perf_counter() - began, 1),
        "missed": missed,
    }
    return Row(f"edits of seed {seed}", figures)


def _judged(lines: list[str]) -> NodesOpinion | None:
    try:
        return judge_nodes(read(lines), raft)
    except TraceError:
        return None


def edit(text: list[str], random: Random) -> tuple[list[str], str]:
    """Return the lines with one edit, and what it is: a field changed, an event left out, or two exchanged."""
    lines, kind = list(text), random.choice(["state", "message", "left out", "exchanged", "conf"])
    while True:
        at = random.randrange(len(lines))
        event = json.loads(lines[at])["event"]
        if kind == "state":
            name = random.choice(["term", "commit", "vote", "log", "role"])
            _change(event if name in {"log", "role"} else event["state"], name, random)
        elif kind == "message" and "msg" in event:
            name = random.choice(["term", "index", "logTerm", "commit", "entries", "reject", "from", "to"])
            _change(event["msg"], name, random)
        elif kind == "conf" and event["conf"][0]:
            name = "conf"
            event["conf"][0].remove(random.choice(event["conf"][0]))
        elif kind == "left out" and event["name"] in SEEN and _goes_on(lines, at, event):
            del lines[at]
            return lines, f"line {at + 1} left out: {event['name']}"
        elif kind == "exchanged" and (then := _next(lines, at, event["nid"])) and event["name"] in SEEN:
            lines[at], lines[then] = lines[then], lines[at]
            return lines, f"lines {at + 1} and {then + 1} exchanged"
        else:
            continue
        lines[at] = json.dumps({"event": event})
        return lines, f"line {at + 1}, {name} of {event['name']}"


def _change(where: dict[str, Any], name: str, random: Random) -> None:
    value = where[name]
    if isinstance(value, bool):
        where[name] = not value
    elif isinstance(value, int):
        where[name] = value + random.choice([-1, 1]) if value else 1
    elif name == "role":
        where[name] = random.choice(
            [role for role in ("StateFollower", "StateCandidate", "StateLeader") if role != value]
        )
    else:
        where[name] = str(int(value) + 1)


def _next(lines: list[str], at: int, node: str) -> int:
    for then in range(at + 1, min(len(lines), at + 200)):
        event = json.loads(lines[then])["event"]
        if event["nid"] == node:
            return then if event["name"] != "Ready" else 0
    return 0


def _goes_on(lines: list[str], at: int, event: dict[str, Any]) -> bool:
    """Return whether the log of a node shows a difference later: something of it changes with this event."""
    then = _next(lines, at, event["nid"])
    return bool(then)
