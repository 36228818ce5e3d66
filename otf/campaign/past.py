"""Reading the journal of a campaign: what was run, how each path counted, and what the paths learned.

Only whole lines count: a path that was begun and has no result is driven again, with the same seed and the same
knowledge. The journal is data like a trace: reading it imports nothing and runs nothing that it names.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import msgspec

from otf.adapter import Bench
from otf.campaign.journal import COUNTED, JOURNAL, SHRUNK, STARTED
from otf.campaign.knowledge import Knowledge
from otf.campaign.results import FailureGroup, KnownIssueCount, PathResult, Shrunk, Summary
from otf.campaign.saved import TIMES
from otf.campaign.settings import Settings, header
from otf.errors import TraceError, UsageError
from otf.offline import judge
from otf.runner.writer import writing
from otf.trace.reading import BAD_JSON, TraceReader, bounded
from otf.trace.requirements import RequirementRecord
from otf.trace.verdict import Outcome, Verdict
from otf.values import show

Line = TypeVar("Line")
OF_A_PATH: Final = ("run", "path", "faults", "shrunk", "minimal", "silence", "ended", "format")
"""Parts of a trace's header that do not belong to the campaign."""


class About(msgspec.Struct, frozen=True):
    """What decides the paths of a campaign: the header of its traces, the inputs of a path, and the lanes.

    `traces` is the number of paths that were planned, `options` are those of the command line.
    """

    header: dict[str, Any]
    steps: int
    lanes: int
    traces: int
    options: dict[str, Any] = {}

    @classmethod
    def of(cls, bench: Bench, settings: Settings) -> Self:
        """Return what decides the paths of this campaign."""
        head = {name: value for name, value in asdict(header(bench, settings, 0)).items() if name not in OF_A_PATH}
        return cls(_plain(head), settings.steps, settings.lanes, settings.traces, _plain(settings.options))

    def parts(self) -> dict[str, object]:
        """Return what must be the same for the same paths, by name."""
        head = dict(self.header)
        # times are compared as they were, wherever they were set; and a path is the same under each version of Python
        own = {name: value for name, value in dict(head.pop("parameters", {})).items() if name not in TIMES}
        version = dict(head.pop("versions", {})).get("otf")
        # of another bench everything else differs as well
        first = {
            "bench": head.pop("bench", None),
            "otf": version,
            "fingerprint": head.pop("fingerprint", None),
            "parameters": own,
        }
        return {**first, **head, "steps": self.steps, "jobs": self.lanes}


_EMPTY: Final = msgspec.Raw(b"{}")


class CountedLine(msgspec.Struct, frozen=True, gc=False):  # it refers to no object of its kind, and there are many
    """How a path counted, as the journal has it.

    `visits` has numbers and times in turn, `new` the names of the numbers that came first with this path; `reached`,
    `decided` and `violated` are the requirements of which it was the first to show that.
    """

    path: int
    verdict: Outcome
    steps: int
    why: str = ""
    signature: str = ""
    known_issue: str = ""
    trace: str = ""
    tries: int = 0
    truncated: bool = False
    late: int = 0
    silence: str = ""
    unwritten: str = ""
    again: bool = False
    reached: tuple[str, ...] = ()
    decided: tuple[str, ...] = ()
    violated: tuple[str, ...] = ()
    new: msgspec.Raw = _EMPTY
    visits: msgspec.Raw = msgspec.Raw(b"[]")
    learned: msgspec.Raw = _EMPTY


class ShrunkLine(msgspec.Struct, frozen=True):
    """A shrunk failure, as the journal has it."""

    signature: str
    trace: str
    steps: int
    transitions: int
    resets: int = 0
    rate: float = 1.0
    runs: int = 1
    before: float = 1.0
    tried: int = 1
    minimal: bool = False
    ended: str = ""
    others: list[str] = []
    program: str | None = None
    known_issue: str = ""

    @classmethod
    def of(cls, signature: str, shrunk: Shrunk) -> Self:
        """Return the line of a shrunk failure."""
        return cls(
            signature,
            str(shrunk.trace),
            shrunk.steps,
            shrunk.transitions,
            shrunk.resets,
            shrunk.rate,
            shrunk.runs,
            shrunk.before,
            shrunk.tried,
            minimal=shrunk.minimal,
            ended=shrunk.ended,
            others=[each.trace.name for each in shrunk.others],
            program=None if shrunk.program is None else str(shrunk.program),
        )


class _StartedLine(msgspec.Struct, frozen=True):
    about: About | None = None


# made once: most lines of a long journal are decoded
_COUNTED: Final = msgspec.json.Decoder(CountedLine)
_SHRUNK: Final = msgspec.json.Decoder(ShrunkLine)
_STARTED: Final = msgspec.json.Decoder(_StartedLine)
_LEARNED: Final = msgspec.json.Decoder(Knowledge)
_NEW: Final = msgspec.json.Decoder(dict[int, str])
_VISITS: Final = msgspec.json.Decoder(list[int])
_MARKS: Final = {event: f'"event":"{event}"'.encode() for event in (STARTED, COUNTED, SHRUNK)}


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
        self._requirements = RequirementRecord()
        try:
            with (folder / JOURNAL).open("rb") as file:
                for line in bounded(file):
                    self._line(line)
        except FileNotFoundError:
            return
        except OSError as error:
            message = f"{folder / JOURNAL}: {error.strerror}; give the folder of a campaign (`otf run` prints it)"
            raise TraceError(message) from error
        finally:
            self.counted = {number: line for number, line in self.counted.items() if not line.again}

    def _line(self, line: bytes) -> None:
        # most lines are about the start of a path, and are not decoded
        if _MARKS[COUNTED] in line:
            counted = _decoded(line, _COUNTED)
            if counted is not None:
                if counted.new != _EMPTY and (new := _decoded(counted.new, _NEW)):
                    self._of.update(new)
                # also of a path that is driven again: what it showed was seen. Most paths are the first to show nothing
                if counted.reached or counted.decided or counted.violated:
                    self._requirements.add(shown(counted, self.folder))
                # a path that was not decided is driven again, and counts once: as its last line says
                self.counted[counted.path] = counted
        elif _MARKS[SHRUNK] in line:
            shrunk = _decoded(line, _SHRUNK)
            if shrunk is not None:
                self.shrunk[shrunk.signature] = shrunk
        elif _MARKS[STARTED] in line:
            started = _decoded(line, _STARTED)
            if started is not None and started.about is not None:
                self.about = started.about

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
                if counted.learned != _EMPTY:
                    known.add(_decoded(counted.learned, _LEARNED) or Knowledge())
                numbers = iter(_decoded(counted.visits, _VISITS) or ())
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

    def restore(self, summary: Summary, bench: Bench) -> None:
        """Add the counted paths to a summary. Raises TraceError if the trace of a failure cannot be read."""
        summary.requirements.add(self._requirements)
        groups = {str(signature): group for signature, group in summary.failures.items()}
        issues = {issue.says: issue for issue in summary.known_issues}
        for number in sorted(self.counted):
            counted = self.counted[number]
            group, known_issue = groups.get(counted.signature), issues.get(counted.known_issue)
            _add(summary, counted, self.folder)
            if known_issue is not None:
                _excused(known_issue, counted, self.folder)
            elif counted.verdict == "fail" and group is not None:
                group.count += 1
            elif counted.verdict == "fail":
                group = groups[counted.signature] = self._group(counted, bench)
                summary.failures[group.signature] = group
        for name, line in self.shrunk.items():
            if name in groups and line.known_issue in issues:
                summary.excuse(groups[name], issues[line.known_issue])

    def _group(self, counted: CountedLine, bench: Bench) -> FailureGroup:
        trace = self.folder / Path(counted.trace).name
        try:
            first = replace(_judged(trace, counted.path, bench), unwritten=counted.unwritten)
        except OSError as error:
            message = f"{trace}: the trace of a failure cannot be read ({error.strerror}): this campaign cannot go on"
            raise TraceError(message) from error
        failure = first.verdict.failure
        if failure is None:
            message = f"{first.trace}: it showed {counted.signature}, and does not show it now; choose another folder"
            raise UsageError(message)
        group = FailureGroup(failure.signature, first, tries=counted.tries)
        line = self.shrunk.get(counted.signature)
        if line is not None and not line.ended:
            group.shrunk = shrunk_of(self.folder, line, counted.path, bench)
        return group


def shown(counted: CountedLine, folder: Path) -> RequirementRecord:
    """Return what a path was the first to show of the requirements."""
    trace = str(folder / Path(counted.trace).name)
    violated = dict.fromkeys(counted.violated, trace)
    return RequirementRecord(reached={*counted.reached}, decided={*counted.decided}, violated=violated)


def _plain(data: Mapping[str, object]) -> dict[str, Any]:
    """Return data as JSON has it; an argument of the command line may be no valid text, and has question marks then."""
    found: dict[str, Any] = json.loads(json.dumps(data, default=str, ensure_ascii=False).encode("utf-8", "replace"))
    return found


def _add(summary: Summary, counted: CountedLine, folder: Path) -> None:
    summary.paths += 1
    summary.steps += counted.steps
    summary.truncated += counted.truncated
    summary.late += counted.late
    if counted.silence:
        summary.silence[counted.silence] = summary.silence.get(counted.silence, 0) + 1
    if counted.unwritten:
        summary.unwritten.append(counted.unwritten)
    if counted.verdict == "inconclusive":
        summary.inconclusive.append(_result(counted, folder))


def _excused(known_issue: KnownIssueCount, counted: CountedLine, folder: Path) -> None:
    known_issue.count += 1
    known_issue.first = known_issue.first or _result(counted, folder)


def _result(counted: CountedLine, folder: Path) -> PathResult:
    return PathResult(
        counted.path, Verdict(counted.verdict, why=counted.why), counted.steps, folder / Path(counted.trace).name
    )


def _judged(trace: Path, number: int, bench: Bench) -> PathResult:
    """Return a path as its trace shows it. Raises OSError, TraceError."""
    with trace.open("rb") as file:
        found = judge(TraceReader(bounded(file), str(trace)), bench, keep=True)
    return PathResult(number, found.verdict, found.steps, trace, found.events)


def shrunk_of(folder: Path, line: ShrunkLine, number: int, bench: Bench) -> Shrunk | None:
    """Return a shrunk failure; None if a trace of it has gone, so that it is shrunk again."""
    try:
        shortest, *others = (_judged(folder / Path(trace).name, number, bench) for trace in (line.trace, *line.others))
    except (OSError, TraceError):
        return None
    return Shrunk(
        shortest.trace,
        line.steps,
        line.transitions,
        line.resets,
        line.rate,
        shortest.verdict,
        minimal=line.minimal,
        events=shortest.events,
        runs=line.runs,
        before=line.before,
        tried=line.tried,
        others=others,
        ended=line.ended,
        program=None if line.program is None else folder / Path(line.program).name,
    )


def _decoded(line: bytes | msgspec.Raw, decoder: msgspec.json.Decoder[Line]) -> Line | None:
    """Return a line, or a part of one; None for what was torn, or is something else: what it said is not known."""
    try:
        return decoder.decode(line)
    except BAD_JSON:
        return None


def _shown(value: object) -> str:
    return "nothing" if value is None else show(value)
