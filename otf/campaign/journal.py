"""The operational log of a campaign: structlog events in `campaign.jsonl`, with the run's id bound."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from otf.campaign.results import FailureGroup, PathResult, Retried
from otf.errors import OtfError, UsageError, WriteError
from otf.runner.files import unwritten, writing

_TRACES: Final = re.compile(r"(path|saved)-.*\.jsonl")


def claimed(out: Path, name: str, *, joins: bool) -> int:
    """Make the file of that name in a folder, and hold it; return its descriptor.

    The folder may hold other things, but no traces of a run, and no other run may be writing there; with `joins` only
    the latter counts. The hold ends with the descriptor, and so with the process. Raises UsageError.
    """
    file, flags = out / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    with writing(out, "the folder", "choose another with --out"):
        out.mkdir(parents=True, exist_ok=True)
        left = [] if joins else sorted(each.name for each in out.iterdir() if _TRACES.fullmatch(each.name))
        if left:
            raise _taken(out, f"it holds the traces of another run ({left[0]})")
        try:
            descriptor = os.open(file, flags | (0 if joins else os.O_EXCL), 0o666)
        except FileExistsError:
            raise _taken(out, _whose(file)) from None
    if not _held(descriptor):
        os.close(descriptor)
        raise _taken(out, BUSY)
    return descriptor


BUSY: Final = "another run is writing its traces there"


def _taken(out: Path, why: str) -> UsageError:
    return UsageError(f"{out}: {why}; choose another folder with --out, or remove this one")


def _whose(file: Path) -> str:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return f"there is a {file.name} already"
    try:
        return f"it holds the log of another run ({file.name})" if _held(descriptor) else BUSY
    finally:
        os.close(descriptor)


def _held(descriptor: int) -> bool:
    """Hold a file as long as it is open; return False where another process holds it."""
    try:
        import fcntl
    except ImportError:
        return True  # Windows has no such locks: there only what a run has left keeps others out
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


JOURNAL: Final = "campaign.jsonl"


class Journal:
    """The log of one campaign, in a folder that no other run has or had; use it as a context manager.

    With `joins` it may stand in the folder of a run that has ended. Raises UsageError for a folder that is taken.
    """

    def __init__(self, out: Path, *, joins: bool = False) -> None:
        self._sink = _Sink(out / JOURNAL, claimed(out, JOURNAL, joins=joins))
        self._log = _logger(self._sink)

    def __enter__(self) -> Self:
        """Note the start."""
        self._log.info("campaign started", pid=os.getpid())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """Note how it ended."""
        self._log.info("campaign ended", trouble=kind.__name__ if kind else None)
        self._sink.close()
        if kind is None and self._sink.trouble is not None:
            raise self._sink.trouble

    @contextmanager
    def path(self, run: str, number: int, trace: Path) -> Generator[Callable[[PathResult], None]]:
        """Log one path: its start, and its result or what went wrong."""
        log = self._log.bind(run=run, path=number)
        log.info("path started", trace=str(trace))
        try:
            yield lambda result: log.info(
                "path ended", verdict=result.verdict.outcome, steps=result.steps, why=result.verdict.why
            )
        except OtfError as error:
            log.warning("path gave up", why=str(error))
            raise

    def retried(self, kept: Retried) -> None:
        """Log what came of a failure of an earlier campaign."""
        self._log.info("failure tried again", signature=str(kept.signature), trace=str(kept.trace), came=str(kept))

    def shrunk(self, group: FailureGroup) -> None:
        """Log what shrinking came to."""
        done = group.shrunk
        if done is not None:
            self._log.info(
                "failure shrunk",
                signature=str(group.signature),
                trace=str(done.trace),
                steps=done.steps,
                transitions=done.transitions,
            )


class _Sink:
    """The file of a log; what it cannot take is the trouble of the log alone, and the campaign goes on."""

    def __init__(self, path: Path, file: int) -> None:
        self.trouble: WriteError | None = None
        self._path, self._file = path, file

    def write(self, line: bytes) -> None:
        try:
            os.write(self._file, line)
        except OSError as error:
            self.trouble = self.trouble or unwritten(self._path, error, "the log")

    def flush(self) -> None:
        """Do nothing: every line is handed on at once."""

    def close(self) -> None:
        os.close(self._file)


def _logger(file: Any) -> Any:  # noqa: ANN401 -- structlog's loggers are dynamic by design
    # imported here: structlog brings its console renderer along, which no command that only reads needs to wait for
    import structlog

    return structlog.wrap_logger(
        structlog.BytesLogger(file),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(serializer=_encode),
        ],
    )


def _encode(event: dict[str, Any], **_options: object) -> bytes:
    import msgspec

    return msgspec.json.encode(event)
