"""Writing traces: every line is passed to the operating system as soon as its event happens.

A tester that is killed loses at most the line that it was writing. Every OSError becomes an error that names the file
and says what to do.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from otf.errors import ModelError, WriteError
from otf.runner.line_templates import KEPT, SECOND, LineTemplates, Moments
from otf.trace.events import Event, Seen, Sent, Undecodable
from otf.trace.record import Header, Passed, TraceLine, end_line, event_line, header_line
from otf.trace.tagged import encode
from otf.trace.verdict import Verdict

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


TRACE: Final = "the trace"
LONG: Final = 4096  # bytes: a longer text hardly ever repeats, and would take much memory


class TraceWriter:
    """The trace file of one run; `began` is the moment to which the seconds of the events are added.

    `trouble` is the first error in writing it, empty if there was none.

    >>> from datetime import UTC, datetime
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

    def __init__(self, path: Path, header: Header, began: datetime) -> None:
        self.path = path
        self.steps: int = 0
        self.events: int = 0
        self.size: int = 0  # bytes
        self.began = began
        self.trouble: str = ""
        self._moments = Moments()
        self._line_templates = LineTemplates(self._moments)
        self._template = self._line_templates.line
        # by the identity of values, which are kept alive here: most repeat as the same objects
        self._texts: dict[int, tuple[object, msgspec.Raw]] = {}
        self._encode: Callable[[Any], bytes] = msgspec.json.Encoder(enc_hook=str).encode
        self._header = header
        self._file = -1
        self._begin()

    def _begin(self) -> None:
        self.close()
        self.size = 0
        self._file = _create(self.path, self._begun)
        self._out(self._line(header_line(self._header, self.began.isoformat())))
        # it gets its name only now: even if the tester is killed, no trace lacks its header
        with writing(self.path, TRACE):
            self._begun.replace(self.path)

    def known(self, silence: str) -> None:
        """Record in the header how the silences of the run are known; before the first event only."""
        if silence != self._header.silence:
            self._header = replace(self._header, silence=silence)
            self._begin()

    def event(self, event: Event, raw: bytes | None = None, /, **more: Any) -> None:  # noqa: ANN401 -- JSON data
        """Write an event."""
        self.events = number = self.events + 1
        if event.__class__ is Sent:
            self.steps += 1
        # each line of a model with windows has one, and is known without it
        slack: float | None = more.pop("slack", None) if more else None
        line = None if more else self._template(number, event, self.began, raw)
        if line is None:
            line = self._new(event, raw, more)
        if slack is not None:
            line = b'%b,"slack":%.6f}\n' % (line[:-2], slack)
        # as `_out` does, without the call, which is a hundredth of a step
        self.size += len(line)
        try:
            written = os.write(self._file, line)
        except OSError as error:
            raise self._unwritten(error) from error
        if written < len(line):
            self._rest(line, written)

    def _new(self, event: Event, raw: bytes | None, more: dict[str, Any]) -> bytes:
        moment = self._moments(self.began, event.at)
        try:
            if more or raw is None:
                return self._line(event_line(self.events, event, moment, raw, **more))
            passed = self._passed(event, moment, raw)
            line = self._line(passed)
        except TypeError as error:
            message = f"{self.path}: event {self.events}: {error}"
            raise ModelError(message) from error
        if isinstance(passed, Passed):
            self._line_templates.learn(event, raw, line)
        return line

    def _passed(self, event: Event, moment: str, raw: bytes) -> TraceLine | Passed:
        if isinstance(event, Sent):
            name, value = "sent", event.input
        elif isinstance(event, Seen) and event.output.__class__ is not Undecodable:
            name, value = "seen", event.output
        else:
            return event_line(self.events, event, moment, raw)
        at, text = round(event.at * SECOND) / SECOND, self._text(value)
        return Passed(name, "info", moment, self.events, at, event.port, text, raw.hex())

    def _text(self, value: object) -> msgspec.Raw:
        known = self._texts.get(id(value))
        if known is None:
            known = value, msgspec.Raw(self._encode(encode(value)))
            if len(known[1]) > LONG:
                return known[1]
            if len(self._texts) >= KEPT:
                self._texts.clear()
            self._texts[id(value)] = known
        return known[1]

    def end(self, verdict: Verdict) -> None:
        """Write the verdict."""
        self._out(self._line(end_line(verdict, datetime.now(UTC).isoformat(), self.steps)))

    def close(self) -> None:
        """Close the file; without an `end` before, the trace counts as cut off."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    @property
    def _begun(self) -> Path:
        return self.path.with_name(f".{self.path.name}")

    def _line(self, line: TraceLine | Passed) -> bytes:
        try:
            return b"%b\n" % self._encode(line)
        except UnicodeEncodeError:
            # half a surrogate pair, from a file name or the text of an error: JSON in UTF-8 cannot hold it
            plain = _plain(line) if isinstance(line, Passed) else line
            text = json.dumps(plain, ensure_ascii=False, default=str, separators=(",", ":"))
            return text.encode(errors="replace") + b"\n"

    def _out(self, line: bytes) -> None:
        self.size += len(line)
        self._rest(line, 0)

    def _rest(self, line: bytes, written: int) -> None:
        try:
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            raise self._unwritten(error) from error

    def _unwritten(self, error: OSError) -> WriteError:
        trouble = unwritten(self.path, error, TRACE)
        self.trouble = self.trouble or str(trouble)
        return trouble


def _plain(line: Passed) -> TraceLine:
    return {**msgspec.structs.asdict(line), "value": json.loads(bytes(line.value))}


def _create(path: Path, begun: Path) -> int:
    with writing(path, TRACE):
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)


class EventRecord(Protocol):
    """Takes each event of a run as it happens, with its bytes on the wire: a trace file, a list, a progress display."""

    def __call__(self, event: Event, raw: bytes | None = None, /, **more: Any) -> None:  # noqa: ANN401 -- JSON data
        """Take one event."""
        ...
