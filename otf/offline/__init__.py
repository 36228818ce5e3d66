"""Judges recorded traces, captures and logs of other programs, with the oracle that also judges a running system."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic, process_time
from typing import Any, Final

from otf.adapter import Bench
from otf.adapter.third_party import watched
from otf.codec.malformed import Malformed
from otf.core import Monitor, Session
from otf.core.model import first_inputs
from otf.core.pacing import Strict
from otf.spec import Spec, fingerprint
from otf.strategy import Script
from otf.trace.events import Closed, Event, Seen, Sent
from otf.trace.reading import TracedEvent, TraceReader
from otf.trace.record import Header
from otf.trace.result import untested
from otf.trace.tagged import Registry
from otf.trace.verdict import Verdict
from otf.values import show

CUT: Final = "the trace was cut, and the model allows all that is left of it"
DROPPED: Final = "of its events {:,} in the middle were dropped, since it grew too long: those before are judged alone"
MISSING: Final = "its last line counts {} inputs, and {} are there: lines are missing"
MANY: Final = 100  # inputs whose ports are known
SECONDS: Final = 2.0
EACH: Final = 0.001
OnStep = Callable[[TracedEvent, Monitor], None]


class Patience:
    """A limit on the time to judge a trace, because a stranger can write a trace that is expensive to judge."""

    verdict: Final = Verdict(
        "inconclusive", why=f"it takes longer to judge than {SECONDS:g} s and {EACH * 1e3:g} ms an event"
    )

    def __init__(self) -> None:
        self.ended: bool = False
        self._events = 0
        self._began, self._spent = monotonic(), process_time()

    def over(self) -> bool:
        """Count an event; return whether time is up. On a busy machine only our own CPU time counts."""
        self._events += 1
        most = SECONDS + EACH * self._events
        self.ended = monotonic() - self._began > most and process_time() - self._spent > most
        return self.ended


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of judging a trace with `judge`.

    `verdict` is the verdict according to the current model. `recorded` is the verdict in the trace, or None if the
    trace was cut off. `header` and `events` come from the trace, and `steps` is the number of inputs that otf judged.
    `changed` is true if the spec has changed since the recording. `cut` is true if the trace was cut off before its
    end. `left_open` lists the inputs that the model does not specify.

    A pass proves nothing if events are missing, or if no event tests the system: `doubt` or `untested` then contains
    the reason. If a pass is meaningful, `doubt` and `untested` are "". A long trace lacks `dropped` events in its
    middle, and otf judges only the events before this gap.

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
    doubt: str = ""
    dropped: int = 0
    untested: str = ""
    left_open: tuple[str, ...] = ()

    @property
    def conclusion(self) -> Verdict:
        """Return the verdict, or "inconclusive" if a pass would say nothing about the system."""
        why = self.doubt or self.untested
        return Verdict("inconclusive", why=why) if why else self.verdict


def judge(reader: TraceReader, bench: Bench, *, keep: bool = False, on_step: OnStep | None = None) -> Judgement:
    """Judge a recorded trace against the spec of a bench.

    With `keep=True`, the result contains all events of the trace. By default the result contains no events, so that a
    long trace needs little memory. otf calls `on_step(event, monitor)` after each event that it judges. `judge` raises
    TraceError if it cannot read the trace.

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
    tally = EventTally(bench.spec)
    patience, registry = Patience(), Registry(bench.known_types, bench.made_at)
    with watched():
        for read in reader.events(registry, _ports(bench), bench.port):
            monitor.slack = read.slack
            session.tell(read.event, len(read.raw or b""))
            # only now is it known whether the system had taken an input that leaves everything open
            tally.take(read.event, free=monitor.belief.unconstrained)
            if keep:
                events.append(read.event)
            if on_step is not None:
                on_step(read, monitor)
            if patience.over():
                break
        if reader.dropped:
            reader.skip()
        verdict = patience.verdict if patience.ended and monitor.verdict is None else _verdict(monitor, reader)
    passes = verdict.outcome == "pass"
    return Judgement(
        header=reader.header,
        verdict=verdict,
        recorded=None if reader.end is None else str(reader.end.get("verdict")),
        steps=monitor.sent,
        events=events,
        changed=fingerprint(bench.spec) != reader.header.fingerprint,
        cut=reader.cut,
        doubt=_doubt(reader, tally.sent) if passes else "",
        dropped=reader.dropped,
        untested=tally.nothing(truncated=verdict.truncated) if passes else "",
        left_open=tuple(monitor.properties.left_open()) if passes and monitor.properties is not None else (),
    )


def _ports(bench: Bench) -> tuple[str, ...]:
    """Return the names of all ports; () if only the bench's `connect` knows them."""
    if bench.ports or not bench.outputs:
        return tuple(bench.ports)
    given = first_inputs(bench.spec, MANY)
    return tuple(dict.fromkeys(port for port in (*bench.outputs, *map(bench.port, given)) if port))


def _doubt(reader: TraceReader, sent: int) -> str:
    """Return why a trace with `sent` inputs may lack a failure although the model allows all of it."""
    claimed = None if reader.end is None else reader.end.get("steps")
    if reader.dropped:
        return DROPPED.format(reader.dropped)
    if reader.cut:
        return CUT
    return "" if claimed == sent else MISSING.format(show(claimed), sent)


def _verdict(monitor: Monitor, reader: TraceReader) -> Verdict:
    verdict = monitor.end()
    reason: Any = (reader.end or {}).get("reason")
    # observations beside the events (the end of stderr) are in the recorded verdict only
    note: Any = reason.get("note") if isinstance(reason, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- JSON
    if verdict.failure is None or not isinstance(note, str):
        return verdict
    return replace(verdict, failure=replace(verdict.failure, note=note))


__all__ = ["Judgement", "judge"]


NOTHING: Final = "it has no input, and no output was seen: nothing was tested"


class EventTally:
    """Counts the inputs and outputs of a path; `nothing` returns why they test nothing, or "" if they test something.

    >>> from otf.spec import goto
    >>> tally = EventTally(Spec(lambda state, _: [goto(state)], 0, ["a"]))
    >>> tally.nothing(truncated=False) == NOTHING
    True
    >>> tally.take(Sent("a", "line", 0.0))
    >>> tally.nothing(truncated=False), tally.nothing(truncated=True)[:31]
    ('', 'the first input of each path is')
    """

    def __init__(self, spec: Spec[Any, Any]) -> None:
        self.sent: int = 0
        self._seen = self._malformed = self._free = 0
        # if the model says what follows them, malformed inputs test the system as others do
        self._says_nothing = spec.malformed is None

    def take(self, event: Event, *, free: bool = False) -> None:
        """Count an event; `free`: the model allows any output there."""
        if isinstance(event, Sent):
            self.sent += 1
            self._free += free
            self._malformed += not free and self._says_nothing and isinstance(event.input, Malformed)
        else:
            self._seen += isinstance(event, Seen | Closed) and not free

    def nothing(self, *, truncated: bool) -> str:
        """Return why a passing run tests nothing, "" if it tests something; `truncated` is as in its verdict."""
        if not self.sent and not self._seen:
            return NOTHING
        # outputs before an unspecified input were judged; answers to a malformed one were not
        is_judged = self._seen and not self._malformed
        return "" if is_judged else untested(self.sent - self._free, self._malformed, int(truncated))
