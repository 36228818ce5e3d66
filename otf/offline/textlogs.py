"""Logs of lines: with times, from journald, and terminal captures, which have no times.

Times are the log's. If they are whole seconds, say, a pause between two lines may be a second shorter than it looks,
and is judged accordingly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from otf.errors import TraceError
from otf.offline.entries import UNTIMED, LogEntry, Way
from otf.trace.reading import BAD_JSON, LONGEST

_CHUNK: Final = 4096
_DAY: Final = 86_400.0


class Bounded(Protocol):
    """A file, or one that still grows."""

    def read(self, size: int, /) -> bytes:
        """Return exactly that many bytes, or fewer at the end of the file."""
        ...


def numbered(source: Iterable[bytes], name: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines with their numbers. Raises TraceError for an endless one."""
    for place, line in enumerate(source, 1):
        if len(line) > LONGEST:
            raise TraceError(f"{name}, line {place}: it is longer than {LONGEST} bytes")
        yield place, line


class _Stamp(NamedTuple):
    """A time at the beginning of a line, its unit in seconds, and where it ends."""

    at: float
    unit: float
    end: int
    is_daily: bool = False


_TIME = rb"(?P<time>\d\d:\d\d:\d\d)(?:[.,](?P<part>\d{1,9}))?"
_STAMPS: Final = (
    re.compile(
        rb"\s*[\[(]?(?P<date>\d{4}-\d\d-\d\d)[T ]" + _TIME + rb" ?(?P<zone>Z|[+-]\d\d:?\d\d)?[\])]?:?[ \t,;|]?\s?"
    ),
    re.compile(rb"\s*[\[(]?\s*(?P<seconds>\d{1,12})(?:\.(?P<part>\d{1,9}))[\])]?:?[ \t,;|]\s?"),
    re.compile(rb"\s*[\[(]?" + _TIME + rb"[\])]?:?[ \t,;|]\s?"),
    re.compile(rb"(?P<month>[A-Z][a-z]{2}) {1,2}(?P<day>\d{1,2}) " + _TIME + rb" (?:\S+ [^\s:]+(?:\[\d+\])?: )?"),
)
_MARK = re.compile(rb"(?:(TX|->)|(RX|<-))(?::| )\s?")
_DIRECTION: Final = re.compile(
    rb"(?:(>{1,3}|-{1,2}>|(?:tx|sent|send)\b:?)|(<-{1,2}|<{1,3}|(?:rx|received|recv)\b:?))[ \t]?", re.IGNORECASE
)
FIRST: Final = 9  # lines that show the form of a log
_MONTHS: Final = (b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec")


def stamped(line: bytes) -> bool:
    """Return whether a line begins with a time."""
    return _stamp(line) is not None


def text(source: Iterable[bytes], name: str) -> Iterator[LogEntry]:
    """Yield the lines with their times; a line without a time has that of the line before, and is dropped at the start.

    "TX" or "->" after the time means sent, "RX" or "<-" received.
    """
    yield from _entries(numbered(source, name), _MARK)


def directed(source: Iterable[bytes], name: str) -> Iterator[LogEntry]:
    """Yield the lines that begin with a direction, or a time and a direction, as `otf new --from` reads them.

    ">" and "sent" mean sent, "<" and "received" mean received. The marks of `text` work too, in upper or lower case.
    """
    lines = numbered(source, name)
    first = next(lines, None)
    if first is None:
        return
    every = chain([first], lines)
    if stamped(first[1]):
        yield from _entries(every, _DIRECTION)
        return
    for place, line in every:
        way, said = _marked(line, _DIRECTION)
        yield LogEntry(0.0, _line(said), way, place, unit=UNTIMED)


def has_directions(head: bytes) -> bool:
    """Return whether most of the first lines of a log begin with a direction, with or without a time before it.

    Not all need to: one stray line must not hide those around it.
    """
    lines = [line for line in head.splitlines()[:FIRST] if line.strip()]
    ends = (0 if (stamp := _stamp(line)) is None else stamp.end for line in lines)
    found = [_DIRECTION.match(line, end) for line, end in zip(lines, ends, strict=True)]
    return bool(found) and found[0] is not None and 2 * sum(map(bool, found)) > len(found)


def _entries(lines: Iterable[tuple[int, bytes]], mark: re.Pattern[bytes]) -> Iterator[LogEntry]:
    last: _Stamp | None = None
    for place, line in lines:
        stamp = _stamp(line)
        if stamp is not None and stamp.is_daily and last is not None:
            days = (last.at - stamp.at + _DAY / 2) // _DAY  # after midnight
            stamp = stamp._replace(at=stamp.at + days * _DAY)
        last = stamp or last
        if last is not None:
            way, said = _marked(line[stamp.end :] if stamp is not None else line, mark)
            yield LogEntry(last.at, _line(said), way, place, unit=last.unit)


def _stamp(line: bytes) -> _Stamp | None:
    for pattern in _STAMPS:
        if found := pattern.match(line[:100]):
            try:
                return _read(found)
            except ValueError:  # the 30th of February
                return None
    return None


def _read(found: re.Match[bytes]) -> _Stamp:
    fields = found.groupdict()
    part = fields["part"] or b""
    unit = 10.0 ** -len(part)
    at = int(part or b"0") * unit
    if "seconds" in fields:
        return _Stamp(int(fields["seconds"]) + at, unit, found.end())
    hours, minutes, seconds = (int(each) for each in fields["time"].split(b":"))
    at += hours * 3600 + minutes * 60 + seconds
    if "date" in fields:
        year, month, day = (int(each) for each in fields["date"].split(b"-"))
        at += datetime(year, month, day, tzinfo=UTC).timestamp() - _zone(fields["zone"] or b"Z")
    elif "month" in fields:
        at += (_MONTHS.index(fields["month"]) * 31 + int(fields["day"])) * _DAY
    return _Stamp(at, unit, found.end(), is_daily=fields.keys() == {"time", "part"})


def _zone(text: bytes) -> float:
    digits = text.lstrip(b"+-Z").replace(b":", b"") or b"0000"
    return (int(digits[:2]) * 3600 + int(digits[2:]) * 60) * (-1 if text[:1] == b"-" else 1)


def _marked(line: bytes, mark: re.Pattern[bytes]) -> tuple[Way, bytes]:
    found = mark.match(line)
    if found is None:
        return "unknown", line
    return ("sent" if found[1] else "seen"), line[found.end() :]


def _line(said: bytes) -> bytes:
    return said if said.endswith(b"\n") else said + b"\n"


def raw(file: Bounded, name: str) -> Iterator[LogEntry]:
    """Yield the bytes of a terminal's capture, which has no times; the place is the line number."""
    del name
    place = 1
    while data := file.read(_CHUNK):
        for line in data.splitlines(keepends=True):
            yield LogEntry(0.0, line, "unknown", place, unit=UNTIMED)
            place += line.endswith(b"\n")


def journal_json(source: Iterable[bytes], name: str) -> Iterator[LogEntry]:
    """Yield the messages of `journalctl -o json`. Raises TraceError that names the line."""
    for place, line in numbered(source, name):
        try:
            fields: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
            said = fields.get("MESSAGE")
            at = int(fields["__REALTIME_TIMESTAMP"]) / 1e6
            data = said.encode() if isinstance(said, str) else bytes(said or ())
        except (*BAD_JSON, KeyError, TypeError, ValueError, OverflowError) as error:
            why = f"this is not an entry of `journalctl -o json`: {type(error).__name__}: {error}"
            raise TraceError(f"{name}, line {place}: {why}") from error
        yield LogEntry(at, _line(data), "unknown", place)


def journal_export(file: Bounded, name: str) -> Iterator[LogEntry]:
    """Yield the messages of `journalctl -o export`; the place is the entry number."""
    fields, place = dict[bytes, bytes](), 1
    for key, value in _exported(file, name):
        if key in {b"MESSAGE", b"__REALTIME_TIMESTAMP"}:
            fields[key] = value
        if not key and fields:
            stamp = fields.get(b"__REALTIME_TIMESTAMP", b"")
            if not stamp.isdigit() or len(stamp) > 18:  # noqa: PLR2004 -- microseconds
                raise TraceError(f"{name}, entry {place}: it has no __REALTIME_TIMESTAMP")
            yield LogEntry(int(stamp) / 1e6, _line(fields.get(b"MESSAGE", b"")), "unknown", place)
            place += 1
            fields.clear()


def _exported(file: Bounded, name: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield the fields; an empty name ends each entry."""
    reader = _Lines(file)
    while line := reader.line():
        key, is_text, value = line.rstrip(b"\n").partition(b"=")
        if key and not is_text:
            size = int.from_bytes(reader.exactly(8), "little")
            if size > LONGEST:
                raise TraceError(f"{name}: the field {key[:40]!r} has {size} bytes; at most {LONGEST} are read")
            value = reader.exactly(size)
            reader.exactly(1)
        if len(line) > LONGEST:
            raise TraceError(f"{name}: the field {key[:40]!r} is longer than {LONGEST} bytes")
        yield key, value
    yield b"", b""


class _Lines:
    """Reads lines, and given numbers of bytes, in turn."""

    def __init__(self, file: Bounded) -> None:
        self._file, self._held = file, b""

    def line(self) -> bytes:
        """Return the next line; an endless one is cut at the bound."""
        while b"\n" not in self._held and len(self._held) <= LONGEST and (more := self._file.read(_CHUNK)):
            self._held += more
        end = self._held.find(b"\n") + 1
        return self._take(end or min(len(self._held), LONGEST + 1))

    def exactly(self, size: int) -> bytes:
        """Return exactly that many bytes, or fewer at the end of the file."""
        if len(self._held) < size:
            self._held += self._file.read(size - len(self._held))
        return self._take(size)

    def _take(self, size: int) -> bytes:
        taken, self._held = self._held[:size], self._held[size:]
        return taken
