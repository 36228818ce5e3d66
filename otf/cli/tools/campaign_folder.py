"""Reads a campaign's folder: judges each path again, and counts it as the campaign counted it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from inspect import unwrap
from pathlib import Path
from typing import Final, NamedTuple

from otf.adapter import Bench
from otf.campaign.confidence import Discoveries, stated
from otf.campaign.journal_lines import CompletedLine, CountedLine
from otf.campaign.journal_reader import Past
from otf.campaign.settings import learn
from otf.campaign.shrinking import INTERRUPTED
from otf.cli.output import spaced
from otf.cli.spent import time_spent
from otf.cli.traces import bench_of, ordinary, raw, reading
from otf.cli.user_code import near_file
from otf.core import Model, Monitor
from otf.errors import UsageError
from otf.explore.space import MOST
from otf.offline import Judgement, judge
from otf.report import Gathered, ReportedFailure
from otf.report import PathSummary as Walked
from otf.report.mutants import read_mutation
from otf.spec.transition import requirements
from otf.trace.events import Guess
from otf.trace.reading import TracedEvent
from otf.trace.record import Header
from otf.trace.requirements import RequirementRecord
from otf.trace.result import counted
from otf.trace.title import title

# an earlier failure that was driven again, or one seen behind another and then shown without it
SAVED: Final = re.compile(r"(saved|path-\d+\.behind)-\d+\.jsonl")
PATH: Final = re.compile(rf"path-\d+\.jsonl|{SAVED.pattern}")
FEW: Final = 5  # folders named in a message
NOT_KEPT: Final = "its trace was not kept"
Shows = Callable[[list[Path]], Iterable[Path]]


class Read(NamedTuple):
    """A trace judged again: the judgement, when the path began, and how many seconds it took."""

    judgement: Judgement
    started: str
    seconds: float


def paths(folder: Path) -> list[Path]:
    """Return the traces of the paths in a folder. Raises UsageError if there are none."""
    try:
        files = sorted((file for file in folder.iterdir() if PATH.fullmatch(file.name)), key=place)
    except OSError as error:
        message = (
            f"{folder}: {error.strerror}{near_file(folder, '; give the folder of a campaign (`otf run` prints it)')}"
        )
        raise UsageError(message) from error
    for file in files:
        ordinary(file)
    if not files:
        below = sorted({file.parent.name for file in folder.glob("*/path-*.jsonl")})
        more = f" and {len(below) - FEW:,} more" if len(below) > FEW else ""
        hint = (
            f"these of its folders have traces: {', '.join(below[:FEW])}{more}"
            if below
            else "`otf run` prints the folder of its traces"
        )
        raise UsageError(f"{folder}: there is no trace in it (path-0001.jsonl, …); {hint}")
    return files


def place(file: Path) -> tuple[bool, int]:
    """Return the place of a trace in its campaign: by its number, saved failures last."""
    name, _, number = file.stem.rpartition("-")
    return name != "path", int(number)


def gathered(folder: Path, named: str | None, sets: Mapping[str, object], show: Shows = iter) -> Gathered:
    """Return the content of all traces in a folder; the bench is that of the first trace, or `named`.

    `show` gets the traces and yields them as they are read, to show progress.
    """
    files = paths(folder)
    with reading(str(files[0])) as reader:
        bench = bench_of(reader, named, sets, drives=False)
        header = reader.header
    return judged(folder, bench, header, show(files))


def judged(folder: Path, bench: Bench, header: Header, files: Iterable[Path], most: int = MOST) -> Gathered:
    """Return the content of these traces of a folder, with this bench, exploring at most `most` of its states."""
    found = Gathered.of(header, Model(bench.spec, bench.oracle().model.routes), most)
    found.known_issues = tuple(dict.fromkeys(issue.says for issue in bench.known_issues))
    found.requirements = RequirementRecord(bench.requirements)
    found.bench, found.folder = bench, str(folder)
    found.mutation = read_mutation(folder, found.notes)
    found.source = source((bench.spec.partial or bench.spec).step, Path.cwd())
    gathering = _Gathering(bench, found, Past(folder, learns=False))
    for file in files:
        gathering.trace(file)
    gathering.end()
    return found


def source(step: Callable[..., object], below: Path) -> tuple[str, int] | None:
    """Return a function's file, relative to the folder, and its line; None if the file is not below the folder."""
    code = getattr(unwrap(step), "__code__", None)
    if code is None or not Path(code.co_filename).is_relative_to(below):
        return None
    return str(Path(code.co_filename).relative_to(below)), code.co_firstlineno


class _Gathering:
    """Adds one path after the other, as the campaign counted it."""

    def __init__(self, bench: Bench, found: Gathered, log: Past) -> None:
        self._bench, self._found, self._log = bench, found, log
        # signatures of failures in eager mode, with those of the same failures in strict mode
        self._known: dict[str, str] = {}
        self._left = log.counted | log.undecided
        # failures that count with another whose trace has not been read yet, with the numbers of their paths
        self._others: list[tuple[int, ReportedFailure]] = []
        self._shrunk: list[ReportedFailure] = []
        self._discoveries = Discoveries()

    def trace(self, file: Path) -> None:
        """Add the trace of a path, or of a saved failure that was driven again."""
        if SAVED.fullmatch(file.name):
            self._saved(file)
        else:
            self._path(file)

    def end(self) -> None:
        """Add what is left: paths whose traces were not kept, failures that count with others, and shorter traces."""
        for record in self._left.values():
            if record.verdict == "pass" and not record.known_issue:
                told = Walked(record.path, "", "pass", record.steps, 0.0, NOT_KEPT, short=record.short)
                self._found.done(replace(told, malformed=record.malformed))
                self._found.heard |= record.heard
                self._found.requirements.add(RequirementRecord(reached={*record.reached}, decided={*record.decided}))
        for at, found in self._others:
            path = self._found.paths[at]
            signature = path.signature if path.signature in self._found.failures else str(found.failure.signature)
            self._found.failed(found, signature)
            self._found.paths[at] = replace(path, signature=signature)
        for shrunk in self._shrunk:
            if shrunk.signature in self._found.failures:
                self._found.failed(shrunk)
        log, end = self._log, self._log.end or CompletedLine()
        self._found.trouble, self._found.full = end.trouble, log.kinds.full
        self._found.guessed = tuple(log.kinds.guessed)
        self._found.failed_starts, self._found.parts = log.failed_starts, log.parts
        self._found.time = time_spent(end.time, own=self._bench.system is not None)
        self._found.interrupted = log.begun and log.end is None
        self._found.worth = tuple(self._worth())

    def _worth(self) -> Iterator[str]:
        """Yield what the paths prove: nothing if one failed, if they learned, or if no log has the plan."""
        found, plan = self._found, self._log.about
        if plan is None or found.verdict == "fail" or learn(found.header, self._bench):
            return
        whole = not (plan.options.get("time") or plan.options.get("until")) and len(found.paths) >= plan.traces
        line = stated(found.result, 0 if whole else plan.lanes)
        if line:
            yield line
            if whole and len(self._discoveries.paths) == len(found.paths):
                # lanes run at the same time
                yield from self._discoveries.lines(sum(path.seconds for path in found.paths) / plan.lanes)

    def _path(self, file: Path) -> None:
        record = self._left.pop(int(file.stem.rpartition("-")[2]), None)
        if record is None and self._log.begun and self._interrupted(file):
            return
        read = self._read(file, follow=True)
        self._found.started = self._found.started or read.started
        result = _result(read, file, record)
        if result.verdict == "fail":
            result = self._failed(result, file, read.judgement, record)
        self._found.done(result)

    def _interrupted(self, file: Path) -> bool:
        """Return whether the campaign did not count a path, since it was interrupted or lost contact.

        The path itself may be complete: then the runs to confirm its failure were interrupted.
        """
        judgement = self._read(file).judgement
        if judgement.recorded is None:
            return False
        self._found.unfinished += [judgement.steps] * bool(judgement.steps)
        self._note(f"{file.name} does not count: it was interrupted, or there was no contact with the system")
        return True

    def _failed(self, result: Walked, file: Path, judgement: Judgement, record: CountedLine | None) -> Walked:
        own = found = self._seen(judgement, file)
        strict = file.with_suffix(".strict.jsonl")
        if strict.is_file() and (record is not None or judgement.header.mode == "eager"):
            again = self._read(strict).judgement
            if again.verdict.failure is None and record is None:
                why = "a failure in eager mode did not recur in strict mode"
                return replace(result, verdict="inconclusive", why=why)
            decides = record is None or record.signature != own.signature or Path(record.trace).name == strict.name
            if again.verdict.failure is not None and decides:
                found = self._seen(again, strict)
                self._known[own.signature] = found.signature
        if excused := self._excused(found):
            self._found.requirements.failed(own.failure, str(file))
            self._found.requirements.violates(self._required(excused), str(file))
            for each in (found, *self._shorter(file)):
                if self._excused(each) == excused:
                    self._found.excuse(excused, each)
            return replace(result, verdict="pass", why=f"known issue: {excused}", known_issue=excused)
        signature = self._counted(found, file, own.signature, record)
        return replace(result, signature=signature, title=title(own.failure))

    def _counted(self, found: ReportedFailure, file: Path, own: str, record: CountedLine | None) -> str:
        """Add a failure of a path; return the signature that it counts with. Shorter traces follow at the end."""
        tries = 0 if record is None else record.tries
        found = replace(found, tries=tries, chance=_took(tries) if tries > 1 else "")
        signature = found.kind or (record and record.signature) or self._known.get(own, found.signature)
        if signature == found.signature:
            self._found.failed(found)
        else:
            self._others.append((len(self._found.paths), found))
        self._shrunk += self._shorter(file, tries)
        return signature

    def _saved(self, file: Path) -> None:
        judgement = self._read(file).judgement
        if judgement.verdict.failure is not None and not self._excused(found := self._seen(judgement, file)):
            self._found.failed(replace(found, count=0))
            self._shrunk += self._shorter(file)

    def _excused(self, found: ReportedFailure) -> str:
        """Return the text of the bench's known issue that a failure shows, "" if none."""
        known = self._bench.known_issue(found.failure)
        return "" if known is None else known.says

    def _required(self, excused: str) -> tuple[str, ...]:
        """Return the requirements that a known issue violates."""
        return next(requirements(known.req) for known in self._bench.known_issues if known.says == excused)

    def _shorter(self, file: Path, tries: int = 0) -> Iterator[ReportedFailure]:
        """Yield shorter traces of a failure; each counts with the failure that it shows."""
        for shrunk in sorted(file.parent.glob(f"{file.stem}.*shrunk.jsonl")):
            ordinary(shrunk)
            judgement = self._read(shrunk).judgement
            if judgement.verdict.failure is not None:
                header = judgement.header
                ended = "" if header.minimal else header.ended or INTERRUPTED
                seen, chance = self._seen(judgement, shrunk), _chance(header, tries)
                yield replace(seen, count=0, shrunk=True, ended=ended, chance=chance, tries=tries)

    def _read(self, file: Path, *, follow: bool = False) -> Read:
        started, seconds = "", 0.0

        def step(traced: TracedEvent, monitor: Monitor) -> None:
            nonlocal started, seconds
            started, seconds = started or str(traced.data.get("timestamp", "")), traced.event.at
            if follow:
                self._found.follow(traced.event, monitor)
                self._discoveries.event(traced.event, monitor)

        with reading(str(file)) as reader:
            judgement = judge(reader, self._bench, keep=True, on_step=step)
        if follow:
            self._discoveries.end()
        if judgement.header.bench != self._found.header.bench:
            self._note(f"{file.name} is of the bench {judgement.header.bench}")
        if judgement.dropped and judgement.doubt:
            self._note(f"{file.name}: {judgement.doubt}")
        if judgement.changed:
            self._note(
                "the model has changed since these traces were recorded; they were judged against the current model"
            )
        return Read(judgement, started, seconds)

    def _seen(self, judgement: Judgement, file: Path) -> ReportedFailure:
        failure = judgement.verdict.failure
        if failure is None:
            raise AssertionError
        kind = self._log.kinds.kinds.get(failure.signature.fingerprint, "")
        guessed = any(isinstance(event, Guess) for event in judgement.events)
        steps, events = judgement.steps, judgement.events
        if guessed:
            steps, events = failure.step, events[: failure.event]
        data = raw(file, failure.event)
        return ReportedFailure(failure, str(file), steps, events, kind=kind, bytes=spaced(data) if data else "")

    def _note(self, text: str) -> None:
        self._found.notes[text] = None


def _took(tries: int) -> str:
    return f"It took {tries} strict runs of the same inputs to reproduce it"


def _chance(header: Header, tries: int) -> str:
    """Return how often shrunk steps failed, and how many runs it took to see their failure again."""
    failed = f"{round(header.rate * header.runs)} of {counted(header.runs, 'run')}"
    if tries > 1:
        rated = ": it depends on chance: these steps" if header.rate < 1 else "; shrunk, it"
        return f"{_took(tries)}{rated} failed in {failed}"
    rated = "it depends on chance: these steps" if header.rate < 1 else "These steps"
    return f"{rated} failed in {failed}" if header.rate and header.runs > 1 else ""


def _result(read: Read, file: Path, record: CountedLine | None) -> Walked:
    """Return a path as the current model judges it; what the campaign left undecided stays undecided."""
    judgement = read.judgement
    outcome, why = judgement.verdict.outcome, judgement.verdict.why
    if record is not None and record.verdict == "inconclusive" and "pass" not in {outcome, judgement.recorded}:
        outcome, why = "inconclusive", record.why
    elif judgement.recorded == "inconclusive" and outcome == "pass":
        outcome, why = "inconclusive", (record and record.why) or "recorded as inconclusive: see `otf show`"
    elif judgement.cut and outcome == "pass":
        outcome, why = "inconclusive", "the trace was cut: the tester was killed"
    elif judgement.doubt and not (judgement.dropped and judgement.recorded == outcome):
        outcome, why = "inconclusive", judgement.doubt
    silence = judgement.header.silence
    return Walked(
        judgement.header.path,
        file.name,
        outcome,
        judgement.steps if record is None else record.steps,
        read.seconds,
        why,
        judgement.verdict.truncated,
        # for a system in this process, which answers before any time passes, the header says no more than this
        silence="" if silence == "timed" else silence,
        late=len(judgement.verdict.late),
        short=record is not None and record.short,
        malformed=0 if record is None else record.malformed,
        excused=0 if record is None else record.excused,
        decided="" if record is None else Path(record.trace).name,
    )
