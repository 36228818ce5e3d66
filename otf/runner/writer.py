"""Writing traces: every line is passed to the operating system as soon as its event happens.

A tester that is killed loses at most the line that it was writing. Every OSError becomes an error that names the file
and says what to do.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol

from otf.errors import ModelError, WriteError
from otf.runner.trace_lines import TraceLines
from otf.supervisor import end_copy
from otf.trace.digest import hasher
from otf.trace.events import Event, Sent
from otf.trace.record import Header, end_line, header_line
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
        self._lines = TraceLines()
        self._header = header
        self._file = -1
        self._begin()

    @property
    def digest(self) -> str:
        """Return the digest of what was written so far: a trace that is changed later has another one."""
        return self._digest.hexdigest()

    def _begin(self) -> None:
        self.close()
        self.size, self._digest = 0, hasher()
        self._file = _create(self.path, self._begun)
        self._out(self._lines.line(header_line(self._header, self.began.isoformat())))
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
        self.events += 1
        if event.__class__ is Sent:
            self.steps += 1
        # each line of a model with windows has one, and repeats without it
        slack: float | None = more.pop("slack", None) if more else None
        try:
            line = self._lines.event(self.events, event, self.began, raw, **more)
        except TypeError as error:
            message = f"{self.path}: event {self.events}: {error}"
            raise ModelError(message) from error
        self._out(line if slack is None else b'%b,"slack":%.6f}\n' % (line[:-2], slack))

    def end(self, verdict: Verdict) -> None:
        """Write the verdict."""
        self._out(self._lines.line(end_line(verdict, datetime.now(UTC).isoformat(), self.steps)))

    def close(self) -> None:
        """Close the file; without an `end` before, the trace counts as cut off."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    @property
    def _begun(self) -> Path:
        return self.path.with_name(f".{self.path.name}")

    def _out(self, line: bytes) -> None:
        end_copy()
        self.size += len(line)
        written = 0
        try:
            while written < len(line):
                written += os.write(self._file, line[written:] if written else line)
        except OSError as error:
            raise self._unwritten(error) from error
        finally:
            # of a whole line no copy is made
            self._digest.update(line[:written])

    def _unwritten(self, error: OSError) -> WriteError:
        trouble = unwritten(self.path, error, TRACE)
        self.trouble = self.trouble or str(trouble)
        return trouble


def _create(path: Path, begun: Path) -> int:
    with writing(path, TRACE):
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)


class EventRecord(Protocol):
    """Takes each event of a run as it happens, with its bytes on the wire: a trace file, a list, a progress display."""

    def __call__(self, event: Event, raw: bytes | None = None, /, **more: Any) -> None:  # noqa: ANN401 -- JSON data
        """Take one event."""
        ...
