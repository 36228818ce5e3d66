"""Reading the folder of a campaign: each path is judged again, as the campaign counted it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from otf.adapter import Bench
from otf.cli.traces import bench_of, reading
from otf.core import Model, Monitor
from otf.errors import UsageError
from otf.offline import Judgement, judge
from otf.report import Gathered, ReportedFailure
from otf.report import PathSummary as Walked
from otf.trace.reading import Told

PATH: Final = re.compile(r"path-\d+\.jsonl")


class Read(NamedTuple):
    """A trace that was judged again: what came of it, when it began, and how long it took."""

    judgement: Judgement
    started: str
    seconds: float


def paths(folder: Path) -> list[Path]:
    """Return the traces of the paths in a folder. Raises UsageError where there are none."""
    try:
        files = sorted(file for file in folder.iterdir() if PATH.fullmatch(file.name))
    except OSError as error:
        message = f"{folder}: {error.strerror}; give the folder of a campaign (`otf run` prints it)"
        raise UsageError(message) from error
    if not files:
        below = sorted({file.parent.name for file in folder.glob("*/path-*.jsonl")})
        hint = f"its folders have: {', '.join(below)}" if below else "`otf run` prints the folder of its own"
        raise UsageError(f"{folder}: there is no trace in it (path-0001.jsonl and so on); {hint}")
    return files


def gathered(files: Iterable[Path], first: Path, named: str | None, sets: Mapping[str, object]) -> Gathered:
    """Return what the traces hold together; the first of them, or `named`, tells the bench."""
    with reading(str(first)) as reader:
        bench = bench_of(reader, named, sets, drives=False)
        found = Gathered.of(reader.header, Model(bench.spec, bench.oracle().model.routes))
    gathering = _Gathering(bench, found)
    for file in files:
        gathering.path(file)
    return found


class _Gathering:
    """Takes in one path after the other."""

    def __init__(self, bench: Bench, found: Gathered) -> None:
        self._bench, self._found = bench, found
        # signatures that eager mode gives, with those under which strict mode saw the same failures
        self._known: dict[str, str] = {}

    def path(self, file: Path) -> None:
        """Take in a path: its trace, and what was seen when its failure was driven again strictly, and shrunk."""
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
                        result, verdict="inconclusive", why="a failure was seen in eager mode, and not again"
                    )
                self._known[str(found.failure.signature)] = str(again.verdict.failure.signature)
                found = _found(again, strict)
        excused = next((known.says for known in self._bench.known_issues if known.shows(found.failure)), None)
        if excused is not None:
            return replace(result, verdict="pass", why=f"known departure: {excused}")
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
                yield _found(judgement, shrunk)

    def _read(self, file: Path, *, follow: bool = False) -> Read:
        started, seconds = "", 0.0

        def step(told: Told, monitor: Monitor) -> None:
            nonlocal started, seconds
            started, seconds = started or str(told.data.get("timestamp", "")), told.event.at
            if follow:
                self._found.follow(told.event, monitor)

        with reading(str(file)) as reader:
            judgement = judge(reader, self._bench, keep=True, on_step=step)
        if judgement.header.bench != self._found.header.bench:
            self._note(f"{file.name} is of the bench {judgement.header.bench}")
        if judgement.changed:
            self._note("the model has changed since these traces were recorded; they are judged by the one of today")
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
    number, truncated = judgement.header.path, judgement.verdict.truncated
    return Walked(number, file.name, outcome, judgement.steps, read.seconds, why, truncated)
