"""The journal of a campaign, and the hold on its folder.

The journal is `campaign.jsonl`: structlog events with the id of the run, one a line. It says what was to be run, which
paths were begun, and how each counts; `otf.campaign.journal_reader` reads it, so that a campaign that was killed can
continue. A line is written by one call and never changed: a killed tester loses none, a power cut at most those of the
last second.
Each line ends with the digest of the line before, and has those of the traces that it is about.

A folder of traces belongs to one run, so that no run overwrites the traces of another or takes them for its own.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event as Flag
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from otf.adapter.third_party import start_thread
from otf.campaign.confirm import ConfirmedPath
from otf.campaign.knowledge import Knowledge
from otf.campaign.results import FailureGroup, PathResult, Retried
from otf.campaign.trace_files import TraceFile
from otf.errors import OtfError, UsageError, WriteError
from otf.runner.writer import ADVICE, unwritten, writing
from otf.trace.digest import LineChain
from otf.trace.reading import bounded
from otf.trace.requirements import RequirementRecord

_TRACES: Final = re.compile(r"(path|saved)-.*\.jsonl")


def claimed(out: Path, name: str, *, joins: bool) -> int:
    """Create a file in a folder and lock it; return its descriptor.

    The folder may hold other files, but no traces of a run, and no other run may be writing to it; with `joins` only
    the second is checked. The lock ends with the descriptor, and so with the process. Raises UsageError.
    """
    file, flags = out / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    with writing(out, "the folder", "choose another with --out"):
        out.mkdir(parents=True, exist_ok=True)
        left = [] if joins else sorted(each.name for each in out.iterdir() if _TRACES.fullmatch(each.name))
        if left:
            whose = _whose(file) if file.exists() else ""
            raise _taken(out, BUSY if whose == BUSY else f"it holds the traces of another run ({left[0]})")
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
    # what a run writes to now must not be removed
    advice = "choose another folder with --out, or " + ("wait until it ends" if why == BUSY else "remove this one")
    return UsageError(f"{out}: {why}; {advice}")


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
    """Lock a file for as long as it is open; return False if another process has locked it."""
    try:
        import fcntl
    except ImportError:
        return True  # Windows has no such locks: there only the files of a run keep others out
    until = time.monotonic() + GOING
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() >= until:
                return False
            time.sleep(GOING / 20)
        else:
            return True


GOING: Final = 0.4
"""Seconds in which a run that was killed goes: its work ends a moment after the command that was killed."""


JOURNAL: Final = "campaign.jsonl"
STARTED: Final = "campaign started"
COUNTED: Final = "path counted"
COMPLETED: Final = "campaign completed"
KINDS: Final = "kinds of failure"
SHRUNK: Final = "failure shrunk"
FAILED_START: Final = "start failed"
SPENT: Final = "time spent"
NAMES: Final = 1_000_000
"""Pairs of state and input that have numbers in one folder, 100 bytes each in memory. Of a model with more, later pairs
are not written: such a pair hardly ever comes again, and a night of them would fill the disk."""
SAFE: Final = 1.0
"""Seconds after which a line is on the disk: waiting for the disk at each line would cost 0.1 ms to 10 ms."""


class Journal:
    """The journal of one campaign, in a folder that no other run uses or has used; use it as a context manager.

    With `joins` the folder may be that of a run that has ended. Raises UsageError for a folder that is taken.
    """

    def __init__(self, out: Path, *, joins: bool = False) -> None:
        self._sink = _Sink(out / JOURNAL, claimed(out, JOURNAL, joins=joins))
        self._log = _logger(self._sink)
        self._names: dict[str, int] = {}
        self._runs: dict[int, str] = {}  # of the paths that do not count yet

    def __enter__(self) -> Self:
        """Return the journal."""
        return self

    def begin(self, about: object = None, names: dict[str, int] | None = None) -> None:
        """Log the start. `about` decides the paths of a campaign; `names` are the numbers of names in this folder."""
        self._names = names or {}
        self._log.info(STARTED, pid=os.getpid(), counts=COUNTED, **({} if about is None else {"about": about}))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """Log the end, and the type of the error that caused it, if any."""
        self._log.info("campaign ended", trouble=kind.__name__ if kind else None)
        self._sink.close()
        if kind is None and self._sink.trouble is not None:
            raise self._sink.trouble

    @contextmanager
    def path(self, run: str, number: int, trace: Path, knows: int = 0) -> Generator[Callable[[PathResult], None]]:
        """Log one path: its start, and its result or its error. It `knows` all paths up to that number."""
        log = self._log.bind(run=run, path=number)
        self._sink.check_folder()
        self._runs[number] = run
        log.info("path started", trace=str(trace), knows=knows)
        try:
            yield lambda result: log.info(
                "path ended", verdict=result.verdict.outcome, steps=result.steps, why=result.verdict.why
            )
        except OtfError as error:
            log.warning("path gave up", why=str(error))
            raise

    def counted(
        self,
        path: ConfirmedPath,
        driven: PathResult,
        known_issue: str,
        learned: Knowledge,
        shows: RequirementRecord | None = None,
    ) -> None:
        """Log how a path counts: reports group its failure as the campaign did, and have its totals.

        `driven` is the path itself, also where a strict run of the same inputs decided: its steps count. `shows` is
        what no path before it showed of the requirements.
        """
        result, known = path.result, path.known
        digests = {each.trace.name: each.digest for each in (driven, result) if each.digest}
        failure = result.verdict.failure
        signature = known or (None if failure is None else failure.signature)
        new, visits = self._numbered(learned)
        self._log.info(
            COUNTED,
            run=self._runs.pop(result.number, ""),
            path=result.number,
            verdict="pass" if known_issue else result.verdict.outcome,
            steps=driven.steps,
            why=result.verdict.why,
            signature=str(signature or ""),
            exact="" if signature is None else signature.fingerprint,
            known_issue=known_issue,
            trace=result.trace.name,
            digests=digests,
            tries=path.tries,
            truncated=driven.verdict.truncated,
            short=driven.short,
            malformed=driven.malformed,
            together=driven.together,
            judged=driven.verdict.judged,
            late=len(driven.verdict.late),
            behind=len(driven.verdict.behind),
            silence=driven.silence,
            unwritten=result.unwritten,
            again=path.again,
            **({} if shows is None else _shown(shows)),
            new=new,
            visits=visits,
            learned=msgspec.structs.replace(learned, visits={}),
        )

    def keeps(self) -> None:
        """Note that a trace was written, and stays: a pass that nobody can read has shown nothing."""
        self._sink.kept += 1

    def _numbered(self, learned: Knowledge) -> tuple[dict[int, str], list[int]]:
        """Return the visits as numbers and times in turn, with the names of numbers that are new in this folder."""
        new: dict[int, str] = {}
        visits: list[int] = []
        for name, times in learned.visits.items():
            number = self._names.get(name)
            if number is None and len(self._names) >= NAMES:
                continue
            if number is None:
                number = self._names[name] = len(self._names)
                new[number] = name
            visits += (number, times)
        return new, visits

    def driven_again(self, run: str, number: int, deaths: int) -> None:
        """Log that so many workers died while they drove a path."""
        self._log.warning("path driven again", run=run, path=number, deaths=deaths)

    def failed_start(self, number: int, why: str, pause: float) -> None:
        """Log that a path could not reach the system, and is driven again after a pause in seconds."""
        self._log.warning(FAILED_START, path=number, why=why, pause=round(pause, 3))

    def ended(self, parts: Mapping[str, float]) -> None:
        """Log on what the campaign spent its seconds, whatever ended it."""
        self._log.info(SPENT, parts={name: round(each, 3) for name, each in parts.items() if each})

    def completed(self, trouble: str, seconds: Mapping[str, float]) -> None:
        """Log that nothing interrupted the campaign, and where its time went.

        `trouble` is the error that ended contact with the system.
        """
        self._log.info(COMPLETED, trouble=trouble, time={name: round(each, 3) for name, each in seconds.items()})

    def retried(self, kept: Retried) -> None:
        """Log the outcome of a failure that an earlier campaign saved."""
        self._log.info("failure tried again", signature=str(kept.signature), trace=str(kept.trace), came=str(kept))

    def kinds(self, names: Mapping[str, str], guessed: Sequence[Mapping[str, Any]] = (), *, full: bool = False) -> None:
        """Log the kinds of the failures, by their fingerprints, where a signature alone does not tell them apart.

        `guessed` are those seen only behind others. `full`: there were more different failures than are told apart.
        """
        if names or full or guessed:
            self._log.info(KINDS, kinds=dict(names), full=full, guessed=[*guessed])

    def shrunk(self, group: FailureGroup) -> None:
        """Log the result of shrinking."""
        done = group.shrunk
        if done is not None:
            self._log.info(
                SHRUNK,
                signature=str(group.signature),
                trace=str(done.trace),
                steps=done.steps,
                transitions=done.transitions,
                ended=done.ended,
                resets=done.resets,
                rate=done.rate,
                runs=done.runs,
                before=done.before,
                tried=done.tried,
                minimal=done.minimal,
                others=[each.trace.name for each in done.others],
                program=done.program and str(done.program),
                # short traces, and their headers are written last
                digests={file.name: TraceFile.read(file).digest for file in done.traces if file.is_file()},
            )
        elif group.unshrunk:
            self._log.warning("failure not shrunk", signature=str(group.signature), why=group.unshrunk)


def _shown(shows: RequirementRecord) -> dict[str, list[str]]:
    """Return what a path shows of requirements; most show nothing new."""
    kinds = {"reached": shows.reached, "decided": shows.decided, "violated": shows.violated}
    return {kind: sorted(ids) for kind, ids in kinds.items() if ids}


class _Sink:
    """The file of a journal; if it cannot be written, the campaign goes on, and `trouble` has the first error."""

    def __init__(self, path: Path, file: int) -> None:
        self.trouble: WriteError | None = None
        self._path, self._file = path, file
        self.kept = 0
        self._chain = _left(path)
        self._size = os.fstat(file).st_size
        self._written, self._ended = Flag(), Flag()
        # the disk may take longer than an answer of the system may: the event loop must not wait for it
        self._synced = start_thread(self._sync)

    def check_folder(self) -> None:
        """Raise WriteError if the folder was moved, removed or cut: another run may have one with its name now."""
        lost = self._lost()
        if lost is not None:
            raise lost

    def write(self, line: bytes) -> None:
        """Write a line; one that was torn before, by a kill or a full disk, is ended first: no reader joins the two."""
        text, torn = self._chain.link(line), self._chain.torn
        try:
            written = text[: os.write(self._file, text)]
            self._size += len(written)
        except OSError as error:
            self.trouble = self.trouble or unwritten(self._path, error, "the log")
        else:
            for part in (written[:torn], written[torn:]):
                self._chain.take(part)
        self._written.set()

    def flush(self) -> None:
        """Do nothing: every line is written at once."""

    def close(self) -> None:
        self._ended.set()
        self._written.set()
        self._synced.wait()
        self.trouble = self.trouble or self._lost() or self._emptied()
        with suppress(OSError):  # the user's code closed it
            os.close(self._file)

    def _lost(self) -> WriteError | None:
        """Return an error if the log is not where it belongs: a campaign that nobody can read has shown nothing."""
        with suppress(OSError):
            held = os.fstat(self._file)
            if os.path.samestat(self._path.stat(), held):
                if held.st_size >= self._size:
                    return None
                return WriteError(f"{self._path}: the log was cut while this run was writing to it; {ADVICE}")
        message = f"{self._path.parent}: the folder was moved or removed while this run was writing to it"
        return WriteError(f"{message}, or the bench changed the current folder; what was written is where it is now")

    def _emptied(self) -> WriteError | None:
        """Return an error if there are fewer traces than paths have left: code of the bench may have removed some."""
        with suppress(OSError), os.scandir(self._path.parent) as files:
            there = sum(each.name.endswith(".jsonl") and _begins(Path(each.path)) for each in files if each.is_file())
            if there <= self.kept:  # the journal is one more
                message = f"{self._path.parent}: of {self.kept} traces that this run wrote only {there - 1} are there"
                return WriteError(f"{message}: they were removed or emptied while it ran; {ADVICE}")
        return None

    def _sync(self) -> None:
        while not self._ended.is_set():
            self._written.wait()
            self._ended.wait(SAFE)
            self._written.clear()
            with suppress(OSError):  # a pipe, or a file system that cannot
                os.fsync(self._file)


def _left(path: Path) -> LineChain:
    chain = LineChain()
    with suppress(OSError), path.open("rb") as file:
        for line in bounded(file):
            chain.take(line)
    return chain


def _logger(file: Any) -> Any:  # noqa: ANN401 -- structlog's loggers are dynamic by design
    # imported here: structlog imports its console renderer, and commands that only read should not wait for that
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
    return msgspec.json.encode(event)


def _begins(path: Path) -> bool:
    """Return whether a file begins as a trace does: one that was emptied while it was written begins with zeros."""
    with path.open("rb") as file:
        return file.read(1) == b"{"
