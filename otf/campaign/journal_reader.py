"""Reading the journal of a campaign: what was run, how each path counted, and what the paths learned.

Only whole lines count: a path that was begun and has no result is driven again, with the same seed and the same
knowledge. The journal is data like a trace: reading it imports nothing and runs nothing that it names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from otf.adapter import Bench
from otf.campaign.believed import Believed, judged, past_gap
from otf.campaign.evidence import passed_steps
from otf.campaign.journal_lines import (
    COMPLETED,
    COUNTED,
    COUNTED_LINES,
    EMPTY,
    FAILED_START,
    JOURNAL,
    LEARNED,
    MARKS,
    NEW,
    OF_SHRUNK,
    SHRUNK,
    SHRUNK_LINES,
    SPENT,
    SPENT_LINES,
    STARTED,
    STARTED_LINES,
    VISITS,
    About,
    CountedLine,
    ShrunkLine,
    SpentLine,
    decoded,
)
from otf.campaign.knowledge import Knowledge
from otf.campaign.results import FailureGroup, KnownIssueCount, PathResult, Shrunk
from otf.campaign.settings import Settings
from otf.campaign.summary import Summary
from otf.errors import TraceError, UsageError
from otf.runner.writer import writing
from otf.trace.reading import bounded
from otf.trace.record import LineChain
from otf.trace.requirements import RequirementRecord
from otf.trace.verdict import Verdict
from otf.values import show


class Past:
    """What a folder has of a campaign; empty for a new one. Raises TraceError for a folder that cannot be read.

    >>> from tempfile import TemporaryDirectory
    >>> from otf.campaign import run
    >>> from otf.models.coffee import bench
    >>> with TemporaryDirectory() as folder:
    ...     _ = run(bench(), traces=2, steps=5, seed=7, out=Path(folder, "out"))
    ...     past = Past(Path(folder, "out"))
    >>> sorted(past.counted), past.about.header["seed"]
    ([1, 2], 7)
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.about: About | None = None
        self.counted: dict[int, CountedLine] = {}
        self._of: dict[int, str] = {}
        self.shrunk: dict[str, ShrunkLine] = {}
        self.completed: bool = False
        self.altered: list[str] = []
        self._linked = set[int]()
        self._judges = False
        self._requirements = RequirementRecord()
        self._failed_starts = 0
        self._seconds = 0.0
        try:
            with (folder / JOURNAL).open("rb") as file:
                self._read(bounded(file))
        except FileNotFoundError:
            return
        except OSError as error:
            message = f"{folder / JOURNAL}: {error.strerror}; give the folder of a campaign (`otf run` prints it)"
            raise TraceError(message) from error
        finally:
            self.counted = {number: line for number, line in self.counted.items() if not line.again}

    def _read(self, lines: Iterable[bytes]) -> None:
        chain, before = LineChain(), 0
        for number, line in enumerate(lines, 1):
            follows = chain.take(line)
            if follows:
                self._linked.add(before)
            elif follows is False:
                self.altered.append(f"{JOURNAL}: what is before line {number} is not what was written there")
            before = self._line(line)
            self._linked.discard(before)

    def _line(self, line: bytes) -> int:  # noqa: C901 -- a branch for each kind of line
        """Take a line; return the number of the path that it counts, 0 if it counts none."""
        # most lines are about the start of a path, and are not decoded
        if MARKS[COUNTED] in line:
            counted = decoded(line, COUNTED_LINES)
            if counted is not None:
                if counted.new != EMPTY and (new := decoded(counted.new, NEW)):
                    self._of.update(new)
                # also of a path that is driven again: what it showed was seen. Most paths are the first to show nothing
                if counted.reached or counted.decided or counted.violated:
                    self._requirements.add(shown(counted, self.folder))
                # a path that was not decided is driven again, and counts once: as its last line says
                self.counted[counted.path] = counted
                # one that only began to continue, and was killed, has nothing new to say
                self.completed = False
                return counted.path
        elif MARKS[SHRUNK] in line:
            shrunk = decoded(line, SHRUNK_LINES)
            if shrunk is not None:
                self.shrunk[shrunk.signature] = shrunk
        elif MARKS[STARTED] in line:
            started = decoded(line, STARTED_LINES)
            if started is not None and started.about is not None:
                self.about = started.about
        elif MARKS[COMPLETED] in line:
            self.completed = line.endswith(b"}\n")
        elif MARKS[FAILED_START] in line:
            self._failed_starts += 1
        elif MARKS[SPENT] in line:
            self._seconds += (decoded(line, SPENT_LINES) or SpentLine()).seconds
        return 0

    @property
    def names(self) -> dict[str, int]:
        """Return the numbers that the names of visits have in this folder."""
        return {name: number for number, name in self._of.items()}

    def check(self, about: About) -> None:
        """Raise UsageError if the paths of this campaign would be others than those of the folder."""
        if self.about is None:
            return
        was, now = self.about.parts(), about.parts()
        for name in {**was, **now}:
            if was.get(name) != now.get(name):
                message = f"{self.folder}: its paths were run with {name} {_shown(was.get(name))}, not with "
                # the fingerprint is the one part that no option sets
                advice = "the model or the bench was changed since; --into with --spend goes on with it; " * (
                    name == "fingerprint"
                )
                advice += "continue them with the same, or choose another folder"
                raise UsageError(f"{message}{_shown(now.get(name))}; {advice}")

    def knowledge(self, numbers: Iterable[int]) -> Knowledge:
        """Return what these paths learned together, as far as they count."""
        known, visits = Knowledge(), defaultdict[int, int](int)
        for number in sorted(numbers):
            if (counted := self.counted.get(number)) is not None:
                if counted.learned != EMPTY:
                    known.add(decoded(counted.learned, LEARNED) or Knowledge())
                numbers = iter(decoded(counted.visits, VISITS) or ())
                for name, times in zip(numbers, numbers, strict=False):
                    visits[name] += times
        known.visits.update((self._of[number], times) for number, times in visits.items() if number in self._of)
        return known

    def tidy(self) -> None:
        """Remove what is left of paths that are driven again: a trace of a strict run would decide the next one."""
        for file in self.folder.glob("path-*.*.jsonl"):
            number = file.name.removeprefix("path-").partition(".")[0]
            if number.isdecimal() and int(number) not in self.counted:
                with writing(file):
                    file.unlink(missing_ok=True)

    def restore(self, summary: Summary, bench: Bench, about: About, settings: Settings) -> None:
        """Add the counted paths to a summary, as far as their traces bear them out; the others are driven again.

        `about` is that of the campaign that continues. Raises UsageError for a trace of another campaign, TraceError if
        the trace of a failure cannot be read.
        """
        # of one that was interrupted after its last path nobody has said the result: it is judged again, and not driven
        self._judges = settings.check or not (self.completed or self._lacks(settings.traces))
        believed = Believed(self.folder, about.header, bench, again=self._judges, partial=settings.keep == "failures")
        believed.refuse_others()
        lines = {number: believed.line(line, linked=number in self._linked) for number, line in self.counted.items()}
        self.counted = {number: line for number, line in lines.items() if line is not None}
        summary.altered, summary.unshown = [*self.altered, *believed.altered], believed.unshown
        self._add(summary, bench)

    def idle(self, summary: Summary) -> bool:
        """Return whether a campaign that continued has tested nothing: no path was driven, and it had ended before.

        If it had not, the traces that were judged again are its result.
        """
        driven = summary.parts.paths or summary.parts.saved or not self.counted
        shown = len(self.counted) > summary.unshown
        return not driven and (self.completed or not self._judges or not shown)

    def _lacks(self, paths: int) -> bool:
        return any(number not in self.counted for number in range(1, paths + 1))

    def _add(self, summary: Summary, bench: Bench) -> None:
        summary.requirements.add(self._requirements)
        summary.failed_starts, summary.earlier = self._failed_starts, self._seconds
        groups = dict[tuple[str, str], FailureGroup]()
        issues = {issue.says: issue for issue in summary.known_issues}
        for number in sorted(self.counted):
            counted = self.counted[number]
            same = counted.signature, counted.exact
            group, known_issue = groups.get(same), issues.get(counted.known_issue)
            _add(summary, counted, self.folder)
            if known_issue is not None:
                known_issue.add(self._known_issue(counted, known_issue, bench), counted.signature)
            elif counted.verdict == "fail" and group is not None:
                group.count += 1
                group.meet(self._shorter(counted, group, bench))
            elif counted.verdict == "fail":
                groups[same] = self._group(counted, bench)
        oracle = bench.oracle()
        for group in groups.values():
            group.first = replace(group.first, passed=(*passed_steps(oracle, group.first.events),))
            summary.failed(group)
        summary.regroup()
        self._add_guessed(summary, bench)
        kinds = {str(kind): group for kind, group in summary.failures.items()}
        for name, group in (kinds | {each.says: each.group for each in summary.known_issues if each.group}).items():
            line = self.shrunk.get(name)
            if line is not None and not line.ended:
                group.shrunk = shrunk_of(self.folder, line, group.first.number, bench)

    def _add_guessed(self, summary: Summary, bench: Bench) -> None:
        """Add what failed behind a guess: it is looked for without the guess again."""
        for number, counted in sorted(self.counted.items()):
            if counted.behind and counted.verdict != "inconclusive":
                with suppress(OSError, TraceError):
                    summary.behind(judged(self.folder / f"path-{number:04}.jsonl", number, bench), bench.known_issue)

    def _known_issue(self, counted: CountedLine, known: KnownIssueCount, bench: Bench) -> PathResult:
        """Return a path that showed a known issue; only the first is judged again, and one that is shorter."""
        if known.group is not None:
            return self._shorter(counted, known.group, bench)
        with suppress(OSError, TraceError):
            return _first(judged(self.folder / Path(counted.trace).name, counted.path, bench))
        return _result(counted, self.folder)

    def _shorter(self, counted: CountedLine, group: FailureGroup, bench: Bench) -> PathResult:
        """Return another path of a group; only one that is shorter is judged again."""
        if counted.steps < group.result.steps:
            with suppress(OSError, TraceError):
                return _first(judged(self.folder / Path(counted.trace).name, counted.path, bench))
        return _result(counted, self.folder)

    def _group(self, counted: CountedLine, bench: Bench) -> FailureGroup:
        trace = self.folder / Path(counted.trace).name
        try:
            first = replace(_first(past_gap(judged(trace, counted.path, bench))), unwritten=counted.unwritten)
        except OSError as error:
            message = f"{trace}: the trace of a failure cannot be read ({error.strerror}): this campaign cannot go on"
            raise TraceError(message) from error
        failure = first.verdict.failure
        if failure is None:
            message = f"{first.trace}: it showed {counted.signature}, and does not show it now; choose another folder"
            raise UsageError(message)
        return FailureGroup(failure.signature, first, tries=counted.tries)


def shown(counted: CountedLine, folder: Path) -> RequirementRecord:
    """Return what a path was the first to show of the requirements."""
    trace = str(folder / Path(counted.trace).name)
    violated = dict.fromkeys(counted.violated, trace)
    return RequirementRecord(reached={*counted.reached}, decided={*counted.decided}, violated=violated)


def _add(summary: Summary, counted: CountedLine, folder: Path) -> None:
    summary.paths += 1
    summary.steps += counted.steps
    summary.truncated += counted.truncated
    summary.short += counted.short
    summary.malformed += counted.malformed
    summary.excused += counted.excused
    summary.together = max(summary.together, counted.together)
    summary.heard |= counted.heard
    summary.judged += counted.judged
    summary.late += counted.late
    if counted.silence:
        summary.silence[counted.silence] = summary.silence.get(counted.silence, 0) + 1
    if counted.unwritten:
        summary.unwritten.append(counted.unwritten)
    if counted.verdict == "inconclusive":
        summary.inconclusive.append(_result(counted, folder))


def _first(found: PathResult) -> PathResult:
    return found.upto(found.verdict.failure)


def _result(counted: CountedLine, folder: Path) -> PathResult:
    return PathResult(
        counted.path, Verdict(counted.verdict, why=counted.why), counted.steps, folder / Path(counted.trace).name
    )


def shrunk_of(folder: Path, line: ShrunkLine, number: int, bench: Bench) -> Shrunk | None:
    """Return a shrunk failure; None if a trace of it has gone, so that it is shrunk again."""
    try:
        shortest, *others = (judged(folder / Path(trace).name, number, bench) for trace in (line.trace, *line.others))
    except (OSError, TraceError):
        return None
    same: dict[str, Any] = {name: getattr(line, name) for name in OF_SHRUNK}
    program = None if line.program is None else folder / Path(line.program).name
    trace, verdict, events = shortest.trace, shortest.verdict, shortest.events
    return Shrunk(trace=trace, verdict=verdict, events=events, others=others, program=program, **same)


def _shown(value: object) -> str:
    return "nothing" if value is None else show(value)
