"""Reading the folder of a campaign: each path is judged again, as the campaign counted it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from otf.adapter import Bench
from otf.campaign.shrinking import INTERRUPTED
from otf.cli.traces import bench_of, reading
from otf.core import Model, Monitor
from otf.errors import UsageError
from otf.offline import Judgement, judge
from otf.report import Gathered, ReportedFailure
from otf.report import PathSummary as Walked
from otf.trace.reading import TracedEvent

PATH: Final = re.compile(r"path-\d+\.jsonl")


class Read(NamedTuple):
    """A trace that was judged again: the judgement, when the path began, and how many seconds it took."""

    judgement: Judgement
    started: str
    seconds: float


def paths(folder: Path) -> list[Path]:
    """Return the traces of the paths in a folder. Raises UsageError if there are none."""
    try:
        files = sorted(file for file in folder.iterdir() if PATH.fullmatch(file.name))
    except OSError as error:
        message = f"{folder}: {error.strerror}; give the folder of a campaign (`otf run` prints it)"
        raise UsageError(message) from error
    if not files:
        below = sorted({file.parent.name for file in folder.glob("*/path-*.jsonl")})
        hint = (
            f"these of its folders have traces: {', '.join(below)}"
            if below
            else "`otf run` prints the folder of its traces"
        )
        raise UsageError(f"{folder}: there is no trace in it (path-0001.jsonl, …); {hint}")
    return files


def gathered(files: Iterable[Path], first: Path, named: str | None, sets: Mapping[str, object]) -> Gathered:
    """Return the content of all traces together; the bench is that of the first trace, or `named`."""
    with reading(str(first)) as reader:
        bench = bench_of(reader, named, sets, drives=False)
        found = Gathered.of(reader.header, Model(bench.spec, bench.oracle().model.routes))
    gathering = _Gathering(bench, found)
    for file in files:
        gathering.path(file)
    return found


class _Gathering:
    """Adds one path after the other."""

    def __init__(self, bench: Bench, found: Gathered) -> None:
        self._bench, self._found = bench, found
        # signatures of failures in eager mode, with those of the same failures in strict mode
        self._known: dict[str, str] = {}

    def path(self, file: Path) -> None:
        """Add a path: its trace, and those of its failure when it was driven again strictly, and shrunk."""
        read = self._read(file, follow=True)
        self._found.started = self._found.started or read.started
        result = _result(read, file)
        if result.verdict == "fail":
            result = self._failed(result, file, read.judgement)
        self._found.done(result)

    def _failed(self, result: Walked, file: Path, judgement: Judgement) -> Walked:
        found = _found(judgement, file)
        if judgement.header.mode == "eager":
            strict = file.with_suffix(".strict.jsonl")
            if strict.is_file():
                again = self._read(strict).judgement
                if again.verdict.failure is None:
                    return replace(
                        result, verdict="inconclusive", why="a failure in eager mode did not recur in strict mode"
                    )
                self._known[str(found.failure.signature)] = str(again.verdict.failure.signature)
                found = _found(again, strict)
        excused = next((known.says for known in self._bench.known_issues if known.shows(found.failure)), None)
        if excused is not None:
            return replace(result, verdict="pass", why=f"known issue: {excused}", known_issue=excused)
        signature = str(found.failure.signature)
        signature = self._known.get(signature, signature)
        self._found.failed(found, signature)
        for shorter in self._shrunk(file):
            self._found.failed(replace(shorter, count=0, shrunk=True), signature)
        return replace(result, signature=signature)

    def _shrunk(self, file: Path) -> Iterator[ReportedFailure]:
        for shrunk in sorted(file.parent.glob(f"{file.stem}.*shrunk.jsonl")):
            judgement = self._read(shrunk).judgement
            if judgement.verdict.failure is not None:
                ended = "" if judgement.header.minimal else judgement.header.ended or INTERRUPTED
                yield replace(_found(judgement, shrunk), ended=ended)

    def _read(self, file: Path, *, follow: bool = False) -> Read:
        started, seconds = "", 0.0

        def step(traced: TracedEvent, monitor: Monitor) -> None:
            nonlocal started, seconds
            started, seconds = started or str(traced.data.get("timestamp", "")), traced.event.at
            if follow:
                self._found.follow(traced.event, monitor)

        with reading(str(file)) as reader:
            judgement = judge(reader, self._bench, keep=True, on_step=step)
        if judgement.header.bench != self._found.header.bench:
            self._note(f"{file.name} is of the bench {judgement.header.bench}")
        if judgement.changed:
            self._note(
                "the model has changed since these traces were recorded; they were judged against the current model"
            )
        return Read(judgement, started, seconds)

    def _note(self, text: str) -> None:
        self._found.notes[text] = None


def _found(judgement: Judgement, file: Path) -> ReportedFailure:
    failure = judgement.verdict.failure
    if failure is None:
        raise AssertionError
    return ReportedFailure(failure, str(file), judgement.steps, judgement.events)


def _result(read: Read, file: Path) -> Walked:
    judgement = read.judgement
    outcome, why = judgement.verdict.outcome, judgement.verdict.why
    if judgement.recorded == "inconclusive" and outcome == "pass":
        outcome, why = "inconclusive", "recorded as inconclusive: see `otf show`"
    if judgement.cut and outcome == "pass":
        outcome, why = "inconclusive", "the trace was cut: the tester was killed"
    header, silence = judgement.header, judgement.header.silence
    return Walked(
        header.path,
        file.name,
        outcome,
        judgement.steps,
        read.seconds,
        why,
        judgement.verdict.truncated,
        # for a system in this process, which answers before any time passes, the header says no more than this
        silence="" if silence == "timed" else silence,
        late=len(judgement.verdict.late),
    )
