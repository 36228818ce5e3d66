"""The reader of traces: it bounds what it reads, names the line of an error, and tolerates an incomplete last line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, BinaryIO, Final, Literal, NoReturn, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from otf.errors import CodecError, TraceError, choose, near
from otf.trace.events import Closed, Event, Guess, KnownBy, Quiet, Seen, Sent, Stalled, Taken
from otf.trace.record import DROPPED, FORMAT, Header, TraceLine
from otf.trace.tagged import Registry
from otf.values import show

T = TypeVar("T")

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

    def events(
        self, registry: Registry, ports: Collection[str] = (), port_of: Callable[[object], str] | None = None
    ) -> Iterator[TracedEvent]:
        """Yield the events of the trace; `registry` decodes their values.

        If `ports` are given, each event must be on one of them, and each input on the port that `port_of` returns.
        """
        before: object = None if self.dropped else 0
        names = [*ports]
        for number, line in self._lines:
            if line["event"] == "end":
                self._finish(line)
                return
            if line["event"] == DROPPED:
                self.dropped = self._dropped(number, line)
                return
            if line["event"] not in _READ:
                known = choose(line["event"], [*_READ, "end"], "known:")
                self.fail(number, f"the event {show(line['event'])} is not known; {known}")
            traced = self._traced_event(number, line, registry)
            self._check_port(traced, names, port_of)
            if line.get("aftermath") is not True:
                self._follows(number, line.get("n"), before)
                before = line.get("n")
                yield traced
            elif len(self.aftermath) < AFTERMATH:
                self.aftermath.append(traced)
        self.cut = True

    def _check_port(self, traced: TracedEvent, known: list[str], port_of: Callable[[object], str] | None) -> None:
        """Refuse an event on a port that is not `known`, and an input on another port than its own.

        The port of an input becomes known: a bench that connects its ports itself may not name all.
        """
        port, event = getattr(traced.event, "port", ""), traced.event
        own = port
        if port_of is not None and isinstance(event, Sent):
            try:
                own = port_of(event.input)
            except CodecError as error:
                self.fail(traced.line, str(error))
            if known and own not in known:
                known.append(own)
        if known and port not in {"", *known}:
            self.fail(traced.line, f"the bench has no port {show(port)}; {choose(port, known, 'it has')}")
        if isinstance(event, Sent) and port not in {"", own}:
            what = f"the input {show(event.input)} goes to {own or 'no port'}"
            self.fail(traced.line, f"the field 'port' is {show(port)}; {what}")

    def skip(self) -> None:
        """Read the rest of the trace, to its last line, without yielding events."""
        for _, line in self._lines:
            if line["event"] == "end":
                self._finish(line)
                return
        self.cut = True

    def _finish(self, line: TraceLine) -> None:
        """Take the last line. Nothing may follow it: a second trace in the file would count as judged and was not."""
        self.end = line
        for number, more in self._lines:
            second = "a second trace begins" if more["event"] == "start" else f"there is {show(more['event'])}"
            self.fail(number, f"{second} after the event 'end': a file holds one trace; give each trace its own file")

    def _follows(self, number: int, event: object, before: object) -> None:
        """Refuse a gap in the numbers of events: without an event, a right system looks wrong, or a wrong one right."""
        if isinstance(event, int) and isinstance(before, int) and event != before + 1:
            expected = f"here stands event {event}, and event {before + 1} is due"
            self.fail(number, f"{expected}: lines are missing or out of order; give the trace as `otf run` wrote it")

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
            raw = _raw(line["raw"]) if "raw" in line else None
            return TracedEvent(_event(line, registry), number, raw, line, _seconds(line, "slack", 0.0))
        except KeyError as error:
            self.fail(number, f"the field {_missing(error, line)}")
        except MisfitError as error:
            self.fail(number, str(error))
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            self.fail(number, f"{error}; the trace was recorded with the bench {show(self.header.bench)}")

    def _header(self) -> Header:
        number, line = next(self._lines, (1, None))
        if line is None:
            self.fail(1, "the trace is empty: not even its header was written; give another one, or run again")
        if line.get("event") != "start":
            first = show(line["event"])
            self.fail(
                number,
                f"a trace begins with the event 'start', its header; this is not one, it begins with {first}; "
                "`otf run` calls its traces path-0001.jsonl, …",
            )
        if line.get("format") != FORMAT:
            self.fail(number, f"the format is {show(line.get('format'))}; this version of otf reads format {FORMAT}")
        line = line | {"latency": line.get("L"), "busy": line.get("R")}
        try:
            return msgspec.convert({name: line[name] for name in _FIELDS if name in line or name in _NEEDED}, Header)
        except KeyError as error:
            self.fail(number, f"the header's field {_missing(error, line)}")
        except msgspec.ValidationError as error:
            field = str(error).partition("`$.")[2].partition("`")[0].partition("[")[0]
            self.fail(number, f"in the header {_misfit(field, line[field], get_type_hints(Header)[field])}")

    def _decoded(self, source: Iterable[bytes]) -> Iterator[tuple[int, TraceLine]]:
        good = False  # a line was read
        for number, text in enumerate(source, 1):
            whole = text.endswith(b"\n")
            if len(text) > LONGEST:
                self.fail(number, f"the line is longer than {LONGEST} bytes")
            if not text.strip():
                continue
            try:
                line = _object(text)
            except (msgspec.DecodeError, ValueError, RecursionError) as error:
                # the tester was killed while it wrote this line: all earlier lines are good
                if not whole and good:
                    return
                self.fail(number, f"not a line of a trace: {error}; {_remedy(number if good else 1)}")
            good = True
            yield number, line


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


class MisfitError(ValueError):
    """A field of a line has a value of another type than it must have."""


def _misfit(name: str, value: object, kind: Any) -> str:  # noqa: ANN401 -- an annotation
    known = [each for each in get_args(kind) if each] if get_origin(kind) is Literal else []
    needed = choose(str(value), known) if known else f"{_SAID[kind]} is needed"
    return f"the field {_RENAMED.get(name, name)!r} is {show(value)}; {needed}"


def _missing(error: KeyError, line: TraceLine) -> str:
    hint = near(error.args[0], line.keys() - _KNOWN).replace("mean", "write")
    return f"{error} is missing{hint and f'; {hint}'}"


def _field(line: TraceLine, name: str, kind: type[T]) -> T:
    """Return a field of a line. Raises KeyError, or MisfitError."""
    try:
        return msgspec.convert(line[name], kind)
    except msgspec.ValidationError as error:
        raise MisfitError(_misfit(name, line[name], kind)) from error


def _event(line: TraceLine, registry: Registry) -> Event:
    return _READ[line["event"]](line, _seconds(line, "at"), registry)


def _sent(line: TraceLine, at: float, registry: Registry) -> Sent:
    return Sent(registry.decode(line["value"]), _field(line, "port", str), at, _seconds(line, "took", 0.0))


def _quiet(line: TraceLine, at: float, _registry: Registry) -> Quiet:
    by: Any = KnownBy
    return Quiet(at, line.get("restless") is True, _field(line, "by", by) if "by" in line else "")


def _seconds(line: TraceLine, name: str, default: float | None = None) -> float:
    if default is not None and name not in line:
        return default
    seconds = _field(line, name, float)
    if not 0 <= seconds <= LATEST:
        raise MisfitError(f"the field {name!r} is {seconds:g}; a time is a number of seconds, from 0 to {LATEST:g}")
    return seconds


def _raw(data: object) -> bytes:
    try:
        return bytes.fromhex(msgspec.convert(data, str))
    except ValueError as error:
        raise MisfitError(
            f"the field 'raw' is {show(data)}; two hexadecimal digits are needed for each byte"
        ) from error


_FIELDS = [field.name for field in fields(Header)]
_NEEDED = {each.name for each in fields(Header) if each.default is MISSING and each.default_factory is MISSING}
_KNOWN: Final = {*_FIELDS, "level", "timestamp", "port", "value", "raw", "upto", "reason", "seconds", "took", "slack"}
_RENAMED: Final = {"latency": "L", "busy": "R"}
_SAID: Final[Mapping[Any, str]] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    Mapping[str, Any]: "an object",
    Mapping[str, str]: "an object of texts",
    tuple[str, ...] | None: "a list of texts, or null",
}
_READ: Final[Mapping[str, Callable[[TraceLine, float, Registry], Event]]] = {
    "sent": _sent,
    "seen": lambda line, at, registry: Seen(registry.decode(line["value"]), _field(line, "port", str), at),
    "quiet": _quiet,
    "taken": lambda line, at, _: Taken(_field(line, "upto", int), at),
    "closed": lambda line, at, _: Closed(_field(line, "port", str), _field(line, "reason", str), at),
    "stalled": lambda line, at, _: Stalled(_seconds(line, "seconds"), at),
    "guess": lambda _line, at, _: Guess(at),
}
"""How to read each kind of event: one that is not here is not taken for another."""
