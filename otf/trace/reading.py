"""The reader of traces: it bounds what it reads, names the line of an error, and tolerates an incomplete last line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, BinaryIO, Final, NoReturn

import msgspec

from otf.errors import TraceError
from otf.trace.events import Closed, Event, Guess, KnownBy, Quiet, Seen, Sent, Stalled, Taken
from otf.trace.record import DROPPED, FORMAT, Header, TraceLine
from otf.trace.tagged import Registry
from otf.values import show

BAD_JSON: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The exceptions of decoding JSON for invalid bytes, such as bytes that are not UTF-8 or endlessly nested."""

LONGEST: Final = (
    1 << 20
)  # bytes of one line: a datagram of 64 KiB, twice in hexadecimal and with its value, is far below

AFTERMATH: Final = 1_000  # events kept after a failure

LATEST: Final = 1e10
"""The longest time in seconds: three centuries, so that log times fit, and sums of times stay finite."""


@dataclass(frozen=True, slots=True)
class TracedEvent:
    """An `event` of a trace, with its `line` number, its bytes on the wire (`raw`) and its decoded line (`data`).

    `slack` is the number of seconds by which otf may have seen the event late.

    >>> from otf.trace.events import Seen
    >>> traced = TracedEvent(Seen("coffee", "slot", 0.2), 3, b"coffee", {"event": "seen"})
    >>> traced.event.output, traced.line
    ('coffee', 3)
    """

    event: Event
    line: int
    raw: bytes | None
    data: TraceLine
    slack: float = 0.0


class TraceReader:
    """A `TraceReader` reads a trace line by line, and so needs little memory however long the trace is.

    `name` is the name of the trace's file. `header` is the header of the trace, and `events` yields the events. After
    the last event, `end` is the last line of the trace. If the trace is cut off, `end` is None and `cut` is true.
    `aftermath` holds the events that came after a failure and that otf did not judge.

    A very large trace lacks the events in its middle. `events` stops at this gap, and a second call of `events` yields
    the events after the gap. `dropped` is the number of missing events. `skip` reads past the remaining events, to the
    last line of the trace.

    `TraceReader` raises TraceError, with the file's name and the line, for anything that it cannot read.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from otf.campaign import run
    >>> from otf.models.coffee import bench
    >>> with TemporaryDirectory() as folder:
    ...     _ = run(bench(), out=Path(folder, "out"), traces=1, steps=3)
    ...     lines = Path(folder, "out", "path-0001.jsonl").read_bytes().splitlines(keepends=True)
    >>> reader = TraceReader(lines, "path-0001.jsonl")
    >>> events = list(reader.events(Registry(bench().codec.types)))
    >>> reader.header.path, len([each for each in events if isinstance(each.event, Sent)]), reader.end["verdict"]
    (1, 3, 'pass')
    """

    def __init__(self, source: Iterable[bytes], name: str) -> None:
        self.name = name
        self.end: TraceLine | None = None
        self.aftermath: list[TracedEvent] = []
        self.cut: bool = False
        self.dropped: int = 0
        self._lines = self._decoded(source)
        self.header: Header = self._header()

    def events(self, registry: Registry) -> Iterator[TracedEvent]:
        """Yield the events of the trace; `registry` decodes their values."""
        for number, line in self._lines:
            if line["event"] == "end":
                self.end = line
                return
            if line["event"] == DROPPED:
                self.dropped = self._dropped(number, line)
                return
            if line["event"] not in _READ:
                self.fail(number, f"the event {show(line['event'])} is not known; known: {', '.join(_READ)}, end")
            traced = self._traced_event(number, line, registry)
            if line.get("aftermath") is not True:
                yield traced
            elif len(self.aftermath) < AFTERMATH:
                self.aftermath.append(traced)
        self.cut = True

    def skip(self) -> None:
        """Read the rest of the trace, to its last line, without yielding events."""
        self.end = next((line for _, line in self._lines if line["event"] == "end"), None)
        self.cut = self.end is None

    def _dropped(self, number: int, line: TraceLine) -> int:
        events: Any = line.get("events")
        if not isinstance(events, int) or events < 1:
            self.fail(number, f"the number of events that were dropped is {show(events)}")
        return events

    def fail(self, number: int, why: str) -> NoReturn:
        """Raise TraceError about the line with this number."""
        message = f"{self.name}, line {number}: {why}"
        raise TraceError(message)

    def _traced_event(self, number: int, line: TraceLine, registry: Registry) -> TracedEvent:
        try:
            raw = bytes.fromhex(line["raw"]) if "raw" in line else None
            return TracedEvent(_event(line, registry), number, raw, line, _seconds(line.get("slack", 0.0)))
        except KeyError as error:
            self.fail(number, f"the field {error} is missing")
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            self.fail(number, f"{error}; the trace was recorded with the bench {show(self.header.bench)}")

    def _header(self) -> Header:
        number, line = next(self._lines, (1, None))
        if line is None:
            self.fail(1, "the trace is empty: not even its header was written; give another one, or run again")
        if line.get("event") != "start":
            first = show(line["event"])
            self.fail(
                number, f"a trace begins with the event 'start', its header; this is not one, it begins with {first}"
            )
        if line.get("format") != FORMAT:
            self.fail(number, f"the format is {show(line.get('format'))}; this version of otf reads format {FORMAT}")
        line = line | {"latency": line.get("L"), "busy": line.get("R")}
        try:
            return msgspec.convert({name: line[name] for name in _FIELDS if name in line or name in _NEEDED}, Header)
        except KeyError as error:
            self.fail(number, f"the header's field {error} is missing")
        except msgspec.ValidationError as error:
            self.fail(number, f"the header is malformed: {error}")

    def _decoded(self, source: Iterable[bytes]) -> Iterator[tuple[int, TraceLine]]:
        for number, text in enumerate(source, 1):
            whole = text.endswith(b"\n")
            if len(text) > LONGEST:
                self.fail(number, f"the line is longer than {LONGEST} bytes")
            try:
                yield number, _object(text)
            except (msgspec.DecodeError, ValueError, RecursionError) as error:
                # the tester was killed while it wrote this line: all earlier lines are good
                if not whole and number > 1:
                    return
                self.fail(number, f"not a line of a trace: {error}; {_remedy(number)}")


def bounded(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file, and cut a too long line just above the bound, so that its reader reports an error."""
    while line := file.readline(LONGEST + 1):
        yield line


def _remedy(number: int) -> str:
    if number > 1:
        return f"all lines before it are good: `head -n {number - 1}` keeps them"
    return "give a trace of `otf run`; of the log of another program, `otf replay` reads it with --bench and --format"


def _object(text: bytes) -> TraceLine:
    data: Any = msgspec.json.decode(text)
    if not isinstance(data, dict) or not isinstance(data.get("event"), str):  # pyright: ignore[reportUnknownMemberType] -- JSON
        message = "it is not a JSON object with an event"
        raise msgspec.DecodeError(message)
    return data  # pyright: ignore[reportUnknownVariableType] -- JSON objects have string keys


def _event(line: TraceLine, registry: Registry) -> Event:
    return _READ[line["event"]](line, _seconds(line["at"]), registry)


def _sent(line: TraceLine, at: float, registry: Registry) -> Sent:
    return Sent(registry.decode(line["value"]), _text(line["port"]), at, _seconds(line.get("took", 0.0)))


def _quiet(line: TraceLine, at: float, _registry: Registry) -> Quiet:
    return Quiet(at, line.get("restless") is True, _known_by(line.get("by", "")))


def _known_by(data: object) -> KnownBy:
    known: KnownBy = msgspec.convert(data, KnownBy)
    return known


def _seconds(data: object) -> float:
    seconds = msgspec.convert(data, float)
    if abs(seconds) > LATEST:
        message = f"a time of {seconds:g} seconds: the maximum is {LATEST:g}"
        raise ValueError(message)
    return seconds


def _text(data: object) -> str:
    return msgspec.convert(data, str)


_FIELDS = [field.name for field in fields(Header)]
_NEEDED = {each.name for each in fields(Header) if each.default is MISSING and each.default_factory is MISSING}
_READ: Final[Mapping[str, Callable[[TraceLine, float, Registry], Event]]] = {
    "sent": _sent,
    "seen": lambda line, at, registry: Seen(registry.decode(line["value"]), _text(line["port"]), at),
    "quiet": _quiet,
    "taken": lambda line, at, _: Taken(msgspec.convert(line["upto"], int), at),
    "closed": lambda line, at, _: Closed(_text(line["port"]), _text(line["reason"]), at),
    "stalled": lambda line, at, _: Stalled(_seconds(line["seconds"]), at),
    "guess": lambda _line, at, _: Guess(at),
}
"""How to read each kind of event: one that is not here is not taken for another."""
