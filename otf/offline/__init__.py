"""Judging offline: recorded traces, captures and the logs of other programs, by the same oracle as live."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from tempfile import SpooledTemporaryFile
from time import monotonic, process_time
from typing import Any, Final

from otf.adapter import Bench
from otf.adapter.exits import watched
from otf.core import Monitor, Session
from otf.core.stalls import unless_delayed
from otf.core.waits import Strict
from otf.spec import fingerprint
from otf.strategy import Script
from otf.trace.events import Event
from otf.trace.reading import LATEST, TracedEvent, TraceReader
from otf.trace.record import Header
from otf.trace.tagged import Registry
from otf.trace.verdict import Verdict

SECONDS: Final = 2.0
EACH: Final = 0.001
SOON: Final = 1_000
"""Events after which a model has shown that it has windows, if it has some: only then are all events needed again."""
MEMORY: Final = 1 << 20
"""Bytes of the lines of such a trace that are kept in memory; the rest goes to a temporary file."""
OnStep = Callable[[TracedEvent, Monitor], None]


class Patience:
    """A bound for the time to judge a trace: its author can make every event as expensive as the limits allow."""

    verdict: Final = Verdict(
        "inconclusive", why=f"it takes longer to judge than {SECONDS:g} s and {EACH * 1e3:g} ms an event"
    )

    def __init__(self) -> None:
        self.ended: bool = False
        self._events = 0
        self._began, self._spent = monotonic(), process_time()

    def over(self) -> bool:
        """Count an event; return whether the time is over. On a busy machine only our own CPU time counts."""
        self._events += 1
        most = SECONDS + EACH * self._events
        self.ended = monotonic() - self._began > most and process_time() - self._spent > most
        return self.ended


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of a replay: today's verdict, the recorded one (None: the trace was cut), and the events.

    `changed`: the spec has changed since the trace was recorded.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from otf.campaign import run
    >>> from otf.models.coffee import bench
    >>> with TemporaryDirectory() as folder:
    ...     _ = run(bench(), traces=1, steps=5, out=Path(folder, "out"))
    ...     trace = next(Path(folder, "out").glob("path-*.jsonl"))
    ...     judgement = judge(TraceReader(trace.read_bytes().splitlines(keepends=True), trace.name), bench())
    >>> judgement.recorded, judgement.changed, judgement.cut
    ('pass', False, False)
    """

    header: Header
    verdict: Verdict
    recorded: str | None
    steps: int
    events: Sequence[Event]
    changed: bool
    cut: bool


def judge(reader: TraceReader, bench: Bench, *, keep: bool = False, on_step: OnStep | None = None) -> Judgement:
    """Judge a trace against a bench's spec; `keep` keeps the events, `on_step` gets each with the monitor after it.

    Raises TraceError if the trace cannot be read; memory is constant unless `keep`.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from otf.campaign import run
    >>> from otf.models.coffee import bench
    >>> with TemporaryDirectory() as folder:
    ...     _ = run(bench(), traces=1, steps=5, out=Path(folder, "out"))
    ...     trace = next(Path(folder, "out").glob("path-*.jsonl"))
    ...     judgement = judge(TraceReader(trace.read_bytes().splitlines(keepends=True), trace.name), bench())
    >>> judgement.verdict.outcome, judgement.steps
    ('pass', 5)
    """
    # the session and not its monitor alone: a flood is its verdict
    session = Session(bench.oracle(), Script(()), Strict(bench.timing), steps=0)
    monitor = session.monitor
    events: list[Event] = []
    patience, registry = Patience(), Registry(bench.known_types)
    with watched(), SpooledTemporaryFile(MEMORY) as copy:
        reader.copy = copy
        copy.write(reader.opening)
        for number, read in enumerate(reader.events(registry)):
            monitor.slack = read.slack
            session.tell(read.event, len(read.raw or b""))
            if keep:
                events.append(read.event)
            if number == SOON and not monitor.oracle.model.timed:
                reader.copy = None
            if on_step is not None:
                on_step(read, monitor)
            if patience.over():
                break
        verdict = (
            patience.verdict if patience.ended and monitor.verdict is None else _verdict(monitor, reader, registry)
        )
    return Judgement(
        header=reader.header,
        verdict=verdict,
        recorded=None if reader.end is None else str(reader.end.get("verdict")),
        steps=monitor.sent,
        events=events,
        changed=fingerprint(bench.spec) != reader.header.fingerprint,
        cut=reader.cut,
    )


def _verdict(monitor: Monitor, reader: TraceReader, registry: Registry) -> Verdict:
    verdict, end = monitor.end(), reader.end
    delay: Any = (end or {}).get("delay")
    if isinstance(delay, float) and 0 < delay < LATEST and verdict.failed and reader.copy is not None:
        reader.copy.seek(0)
        again = TraceReader(reader.copy, reader.name).events(registry)
        verdict = unless_delayed(replace(verdict, delay=delay), monitor.oracle, (each.event for each in again))
    reason: Any = (end or {}).get("reason")
    # observations beside the events (the end of stderr) are in the recorded verdict only
    note: Any = reason.get("note") if isinstance(reason, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- JSON
    if verdict.failure is None or not isinstance(note, str):
        return verdict
    return replace(verdict, failure=replace(verdict.failure, note=note))


__all__ = ["Judgement", "judge"]
