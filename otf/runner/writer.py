"""Writes traces: passes every line to the operating system as soon as its event happens.

A tester that is killed loses at most the line that it was writing. The same messages come over and over, and only the
number and time of a line are new: the rest is cached. Every OSError becomes an error that names the file and says what
to do.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from otf.errors import ModelError, WriteError
from otf.runner.rotation import EventCount, TraceTail
from otf.supervisor import end_copy, supervised
from otf.trace.events import Event, Quiet, Seen, Sent, Undecodable
from otf.trace.record import LARGEST, Header, TraceLine, dropped_line, end_line, event_line, hasher, header_line
from otf.trace.tagged import encode
from otf.trace.verdict import Verdict
from otf.values import as_text, show

ADVICE = "choose another folder with --out"


@contextmanager
def writing(path: Path, what: str = "it", advice: str = ADVICE) -> Generator[None]:
    """Turn every OSError into a WriteError that names the file and its role."""
    try:
        yield
    except OSError as error:
        raise unwritten(path, error, what, advice) from error


def unwritten(path: Path, error: OSError, what: str = "it", advice: str = ADVICE) -> WriteError:
    """Return the error for a file that cannot be written."""
    return WriteError(f"{path}: {what} cannot be written ({error.strerror or error}); {advice}")


def put(path: Path, content: bytes, advice: str = ADVICE) -> None:
    """Write a file atomically: readers see the old content until the new one is complete. Raises WriteError."""
    begun = path.with_name(f".{path.name}.{os.getpid()}")
    with writing(path, advice=advice):
        try:
            begun.write_bytes(content)
            begun.replace(path)
        except BaseException:
            begun.unlink(missing_ok=True)
            raise


KEPT: Final = 16_384  # endings of lines; one more clears them
SHORT: Final = 4_096  # bytes: a longer ending hardly ever repeats, and would take much memory
SECOND: Final = 1_000_000  # microseconds

_to_json: Final[Callable[[Any], bytes]] = msgspec.json.Encoder(enc_hook=as_text).encode
_HEADS: Final[dict[type[Event], bytes]] = {
    kind: b'{"event":"%b","level":"info","timestamp":"' % kind.__name__.lower().encode() for kind in (Sent, Seen, Quiet)
}


class TraceLines:
    """Makes the lines of one trace.

    The timestamp of a line is `began` plus the time of the event. The text that all timestamps of one second share is
    made only once.

    >>> lines = TraceLines()
    >>> began = datetime.fromisoformat("2026-11-20T06:41:56.900000+00:00")
    >>> lines.event(3, Seen("tea", "line", 0.25), began, b"t")[:75]
    b'{"event":"seen","level":"info","timestamp":"2026-11-20T06:41:57.150000+00:0'
    """

    def __init__(self) -> None:
        # by identity, which keeps the values alive: most repeat as the same objects
        self._ends: dict[tuple[int, str, bytes], tuple[object, bytes]] = {}
        self._began: datetime | None = None
        self._start: int = 0
        self._second: bytes = b""
        self._zone: bytes = b""

    def event(self, number: int, event: Event, began: datetime, raw: bytes | None, **more: Any) -> bytes:  # noqa: ANN401 -- JSON data
        """Return the line of an event with its line break; `raw` are the bytes on the wire.

        Raises TypeError for a value that has no text.
        """
        micros = round(event.at * SECOND)
        after = micros - self._start
        if not 0 <= after < SECOND or began is not self._began:
            after = self._turn(began, micros)
        end = None if more else self._end(event, raw)
        if end is None:
            moment = f"{self._second.decode()}{after:06}{self._zone.decode()}"
            return self.line(event_line(number, event, moment, raw, **more))
        return b'%b%b%06d%b","n":%d,"at":%.6f%b' % (
            _HEADS[event.__class__], self._second, after, self._zone, number, micros / SECOND, end
        )  # fmt: skip

    def line(self, line: TraceLine) -> bytes:
        """Return a line with its line break."""
        try:
            return b"%b\n" % _to_json(line)
        except UnicodeEncodeError:
            # half a surrogate pair, from a file name or an error text: JSON in UTF-8 cannot hold it
            text = json.dumps(line, ensure_ascii=False, default=as_text, separators=(",", ":"))
            return text.encode(errors="replace") + b"\n"

    def _end(self, event: Event, raw: bytes | None) -> bytes | None:
        """Return the text after the time; None for a line that hardly ever repeats."""
        if isinstance(event, Sent):
            if event.took:
                return None
            value = event.input
        elif isinstance(event, Seen):
            value = event.output
        else:
            if raw is not None or not isinstance(event, Quiet):
                return None
            by = b',"by":"%b"' % event.by.encode() if event.by else b""
            return b"%b%b}\n" % (b',"restless":true' if event.restless else b"", by)
        if raw is None or value.__class__ is Undecodable:
            return None
        name = id(value), event.port, raw
        known = self._ends.get(name)
        return self._made(name, value) if known is None else known[1]

    def _made(self, name: tuple[int, str, bytes], value: object) -> bytes | None:
        try:
            end = b',"port":%b,"value":%b,"raw":"%b"}\n' % (
                _to_json(name[1]), _to_json(encode(value)), name[2].hex().encode()
            )  # fmt: skip
        except UnicodeEncodeError:
            return None
        if len(end) <= SHORT:
            if len(self._ends) >= KEPT:
                self._ends.clear()
            self._ends[name] = value, end
        return end

    def _turn(self, began: datetime, micros: int) -> int:
        """Begin another second; return how many microseconds of it have passed."""
        second, after = divmod(began.microsecond + micros, SECOND)
        whole = (began.replace(microsecond=0) + timedelta(seconds=second)).isoformat()
        self._second, self._zone = f"{whole[:19]}.".encode(), whole[19:].encode()
        self._began, self._start = began, second * SECOND - began.microsecond
        return after


TRACE: Final = "the trace"
PART: Final = 1 << 20  # bytes copied at once
_ANEW: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC


class TraceWriter:
    """A `TraceWriter` writes the trace of one path to a file.

    `path` is the name of the file. `size` is how many bytes the trace has, `steps` and `events` are how many inputs and
    events. `began` is the moment to which the seconds of the events are added. `heard` is true if an output came.
    `trouble` is the first error in writing the file, "" if there was none. If the trace grows beyond `largest` bytes,
    the file keeps only its head and tail; `dropped` says what was lost between them.

    >>> from datetime import UTC, datetime, timedelta
    >>> from tempfile import TemporaryDirectory
    >>> from otf.trace import Quiet
    >>> from otf.trace.record import Header
    >>> header = Header("1", "coffee", {}, "", 0, "random", "strict", "uioco", 0.1, 0.002, 0.002)
    >>> with TemporaryDirectory() as folder:
    ...     writer = TraceWriter(Path(folder, "trace.jsonl"), header, datetime.now(UTC))
    ...     writer.event(Quiet(0.2))
    ...     writer.end(Verdict("pass"))
    ...     writer.close()
    ...     lines = writer.path.read_text().splitlines()
    >>> len(lines), writer.trouble
    (3, '')
    """

    def __init__(self, path: Path, header: Header, began: datetime, largest: int = LARGEST) -> None:
        self.path = path
        self.steps: int = 0
        self.heard: bool = False
        self.events: int = 0
        self.size: int = 0  # bytes
        self.began = began
        self.trouble: str = ""
        self._lines = TraceLines()
        # only a supervised process must end its copies, and asking for its number takes as long as a line
        self._process = supervised()
        self._header = header
        self._file = -1
        self._tail = TraceTail(path, largest)
        self._begin()

    @property
    def digest(self) -> str:
        """Return the digest of the trace so far; a trace that somebody changes later has another digest."""
        return self._digest.hexdigest()

    @property
    def dropped(self) -> EventCount:
        """Return how many events and inputs the trace lost between its head and its tail."""
        return self._tail.dropped

    def _begin(self) -> None:
        end_copy()
        self.close()
        self.size, self._digest, self._hashes = 0, hasher(), True
        self._room = self._tail.head
        with writing(self.path, TRACE):
            self._tail.clear()
        self._file = _create(self.path, self._begun)
        self._out(self._lines.line(header_line(self._header, self.began.isoformat())))
        # it gets its name only now, so that no trace lacks its header, even if the tester is killed
        with writing(self.path, TRACE):
            self._begun.replace(self.path)

    def known(self, silence: str) -> None:
        """Record in the header how otf detects silence on this path; allowed only before the first event."""
        if silence != self._header.silence:
            self._header = replace(self._header, silence=silence)
            self._begin()

    def event(self, event: Event, raw: bytes | None = None, /, **more: Any) -> None:  # noqa: ANN401 -- JSON data
        """Write an event of the path."""
        self.events += 1
        if event.__class__ is Sent:
            self.steps += 1
        elif event.__class__ is Seen:
            self.heard = True
        # each line of a model with windows has a slack; without it, lines repeat
        slack: float | None = more.pop("slack", None) if more else None
        try:
            line = self._lines.event(self.events, event, self.began, raw, **more)
        except TypeError as error:
            # without its cause: the frames of the writer say nothing about the model
            raise ModelError(f"{self.path}: event {self.events}, {show(event)}: {error}") from None
        if self._room <= 0:
            self._turn(event)
        self._out(line if slack is None else b'%b,"slack":%.6f}\n' % (line[:-2], slack))

    def _turn(self, event: Event) -> None:
        """Continue in another file, since the head of the trace or a piece of its tail is full."""
        before = EventCount(self.events - 1, self.steps - (event.__class__ is Sent))
        with writing(self.path, TRACE):
            os.close(self._file)
            self._file = -1
            self._file = os.open(self._tail.next(before), _ANEW, 0o666)
        self._room, self._hashes = self._tail.piece, False

    def end(self, verdict: Verdict) -> None:
        """Write the verdict, after the tail of a long trace."""
        pieces = self._tail.kept
        if pieces:
            self._join(pieces)
        self._out(self._lines.line(end_line(verdict, datetime.now(UTC).isoformat(), self.steps)))

    def _join(self, pieces: list[Path]) -> None:
        with writing(self.path, TRACE):
            os.close(self._file)
            self._file = -1
            self._file, self._hashes = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC), True
            if self.dropped.events:
                self._out(self._lines.line(dropped_line(*self.dropped, datetime.now(UTC).isoformat())))
            for piece in pieces:
                with piece.open("rb") as file:
                    while part := file.read(PART):
                        self._out(part)
                piece.unlink()

    def close(self) -> None:
        """Close the file; a trace that is closed before `end` is cut off."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    @property
    def _begun(self) -> Path:
        return self.path.with_name(f".{self.path.name}")

    def _out(self, line: bytes) -> None:
        if self._process and os.getpid() != self._process:
            end_copy()
        self.size += len(line)
        self._room -= len(line)
        written = 0
        try:
            while written < len(line):
                written += os.write(self._file, line[written:] if written else line)
        except OSError as error:
            raise self._unwritten(error) from error
        finally:
            # a complete line is not copied
            if self._hashes:
                self._digest.update(line[:written])

    def _unwritten(self, error: OSError) -> WriteError:
        trouble = unwritten(self.path, error, TRACE)
        self.trouble = self.trouble or str(trouble)
        return trouble


def _create(path: Path, begun: Path) -> int:
    with writing(path, TRACE):
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(begun, _ANEW, 0o666)


class EventRecord(Protocol):
    """Takes each event of a run as it happens, with its bytes on the wire: a trace file, a list, a progress display."""

    def __call__(self, event: Event, raw: bytes | None = None, /, **more: Any) -> None:  # noqa: ANN401 -- JSON data
        """Take one event."""
        ...
