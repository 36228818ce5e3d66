"""Writes the journal of a campaign.

The journal is `campaign.jsonl`: structlog events with the id of the run, one per line. It says what to run, which paths
began, and how each counts; `otf.campaign.journal_reader` reads it, so that a killed campaign can continue. Each line is
written by one call and never changed: a killed tester loses none, a power cut at most those of the last second. Each
line ends with the digest of the previous line, and contains the digests of its traces.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from otf.campaign.believed import TraceFile
from otf.campaign.confirm import ConfirmedPath
from otf.campaign.journal_file import JournalFile, claim
from otf.campaign.journal_lines import (
    COMPLETED,
    COUNTED,
    FAILED_START,
    JOURNAL,
    KINDS,
    SHRUNK,
    SPENT,
    STARTED,
    Knowledge,
    ShrunkLine,
)
from otf.campaign.results import FailureGroup, PathResult, Retried
from otf.errors import OtfError
from otf.trace.requirements import RequirementRecord
from otf.trace.result import GuessedResult

NAMES: Final = 1_000_000
"""Pairs of state and input numbered in one folder, at 100 bytes of memory each. For a larger model, later pairs are not
written: such a pair hardly ever recurs, and a night of them would fill the disk."""


class Journal:
    """The journal of one campaign, in a folder that no other run uses or has used; use it as a context manager.

    With `joins`, the folder may belong to a run that has ended. Raises UsageError for a folder in use.
    """

    def __init__(self, out: Path, *, joins: bool = False) -> None:
        self._sink = JournalFile(out / JOURNAL, claim(out, JOURNAL, joins=joins))
        self._log = _logger(self._sink)
        self._names: dict[str, int] = {}
        self._runs: dict[int, str] = {}  # of the paths that do not count yet

    def __enter__(self) -> Self:
        """Return the journal."""
        return self

    def begin(self, about: object = None, names: dict[str, int] | None = None) -> None:
        """Log the start. `about` determines the paths of a campaign; `names` maps names in this folder to numbers."""
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

        `driven` is the path itself, even if a strict run of the same inputs decided: its steps count. `shows` lists the
        requirements that this path was the first to show.
        """
        result, known = path.result, path.known
        digests = {each.trace.name: each.digest for each in (driven, result) if each.digest}
        failure = result.verdict.failure
        signature = known or (None if failure is None else failure.signature)
        new, visits = self._by_number(learned)
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
            excused=driven.excused if known_issue else 0,
            together=driven.together,
            heard=driven.heard,
            judged=driven.verdict.judged,
            late=len(driven.verdict.late),
            behind=len(driven.verdict.behind),
            silence=driven.silence,
            unwritten=result.unwritten,
            again=path.again,
            **({} if shows is None else _requirements_of(shows)),
            new=new,
            visits=visits,
            learned=msgspec.structs.replace(learned, visits={}),
        )

    def keeps(self) -> None:
        """Note that a trace was written and stays: an unreadable pass proves nothing."""
        self._sink.kept += 1

    def _by_number(self, learned: Knowledge) -> tuple[dict[int, str], list[int]]:
        """Return the visits as alternating numbers and times, with the names of numbers that are new in this folder."""
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
        """Log how many workers died while driving a path."""
        self._log.warning("path driven again", run=run, path=number, deaths=deaths)

    def failed_start(self, number: int, why: str, pause: float) -> None:
        """Log that a path could not reach the system, and will be driven again after a pause in seconds."""
        self._log.warning(FAILED_START, path=number, why=why, pause=round(pause, 3))

    def ended(self, parts: Mapping[str, float]) -> None:
        """Log what the campaign spent its seconds on, whatever ended it."""
        self._log.info(SPENT, parts={name: round(each, 3) for name, each in parts.items() if each})

    def completed(self, trouble: str, seconds: Mapping[str, float]) -> None:
        """Log that nothing interrupted the campaign, and where its time went.

        `trouble` is the error that ended contact with the system.
        """
        self._log.info(COMPLETED, trouble=trouble, time={name: round(each, 6) for name, each in seconds.items()})

    def retried(self, kept: Retried) -> None:
        """Log the outcome of a failure that an earlier campaign saved."""
        self._log.info("failure tried again", signature=str(kept.signature), trace=str(kept.trace), came=str(kept))

    def kinds(self, names: Mapping[str, str], guessed: Sequence[GuessedResult] = (), *, full: bool = False) -> None:
        """Log the kinds of failures, by fingerprint, if a signature alone does not tell them apart.

        `guessed` holds those seen only behind others. `full`: there were too many different failures to tell apart.
        """
        if names or full or guessed:
            self._log.info(KINDS, kinds=dict(names), full=full, guessed=[*guessed])

    def shrunk(self, name: str, group: FailureGroup) -> None:
        """Log the result of shrinking a kind of failure, or a known issue, of this name."""
        done = group.shrunk
        if done is not None:
            # short traces, whose headers are written last
            digests = {file.name: TraceFile.read(file).digest for file in done.traces if file.is_file()}
            line = ShrunkLine.of(name, done)
            self._log.info(SHRUNK, **msgspec.structs.asdict(line), digests=digests)
        elif group.unshrunk:
            self._log.warning("failure not shrunk", signature=name, why=group.unshrunk)


def _requirements_of(shows: RequirementRecord) -> dict[str, list[str]]:
    """Return what a path shows of requirements; most show nothing new."""
    kinds = {"reached": shows.reached, "decided": shows.decided, "violated": shows.violated}
    return {kind: sorted(ids) for kind, ids in kinds.items() if ids}


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
