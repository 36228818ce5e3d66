"""The content of a campaign's traces: verdicts, failures, visited states and transitions, response times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from otf.adapter import Bench
from otf.core import Model, Monitor, RequirementEvidence
from otf.explore.space import MOST, Space, VisitedParts, VisitedSpace, Walker, space
from otf.report.mutants import ReportedMutation
from otf.trace.events import Closed, Event, Guess, Quiet, Seen, Sent, Stalled, Taken
from otf.trace.record import Header
from otf.trace.requirements import RequirementRecord
from otf.trace.result import (
    CampaignResult,
    FailureResult,
    GuessedResult,
    InconclusiveResult,
    KnownIssueResult,
    untested,
)
from otf.trace.title import title
from otf.trace.verdict import Failure, Outcome
from otf.values import message_of

ANSWERS: Final = 20_000  # response times to keep for each type of input


@dataclass(frozen=True, slots=True)
class PathSummary:
    """One path of a campaign, as its trace shows it; `title` is that of its failure.

    `number` is the path's number, `file` the name of its trace; `steps` counts its inputs, `seconds` is how long it
    took. `why` gives the reason for the `verdict`; `signature` is that of the failure. `truncated`: the path ended at
    an input that the model does not specify. `excused` counts the inputs that showed a known issue, or came after one.

    A path that showed the known issue with the description `known_issue` passed. `silence` says how otf detected
    silence on the path; `late` counts outputs after the quiescence time. `short`: the path ended early because the time
    ran out. If another run decided the verdict, `decided` is its trace. The model says nothing about answers to
    `malformed` inputs.

    >>> PathSummary(1, "path-0001.jsonl", "pass", steps=20, seconds=0.4).signature
    ''
    """

    number: int
    file: str
    verdict: Outcome
    steps: int
    seconds: float
    why: str = ""
    truncated: bool = False
    signature: str = ""
    title: str = ""
    known_issue: str = ""
    silence: str = ""
    late: int = 0
    short: bool = False
    decided: str = ""
    malformed: int = 0
    excused: int = 0

    @property
    def undecided(self) -> str:
        """Return why the path is inconclusive; "" if it is not."""
        return (self.why or "the trace does not say why") if self.verdict == "inconclusive" else ""


@dataclass(slots=True)
class ReportedFailure:
    """All failures of one signature: `count` paths showed `failure`.

    `file` is the shortest trace of such a failure, `steps` and `events` are the numbers of its steps and events, and
    `shrunk` says whether it is the result of shrinking. `ended` says why the search for a shorter trace ended early,
    `chance` how often the steps of the trace fail, `tries` how many strict runs it took to reproduce it (0: none was
    needed); `bytes` has the bytes of the failed output, as text. `kind` is the campaign's name for these failures, if
    the campaign divides the failures of one signature into several kinds.

    >>> from otf.trace import Failure, Signature
    >>> signature = Signature("wrong", "int", "Button", "Coffee", "Tea")
    >>> failure = Failure(signature, event=3, step=1, input="Button()", seen="Tea()", port="line")
    >>> ReportedFailure(failure, "path-0001.jsonl", steps=2, events=[]).count
    1
    """

    failure: Failure
    file: str
    steps: int
    events: Sequence[Event]
    count: int = 1
    shrunk: bool = False
    ended: str = ""
    chance: str = ""
    tries: int = 0
    kind: str = ""
    bytes: str = ""

    @property
    def signature(self) -> str:
        """Return the kind of the failure if the campaign told kinds apart, else its signature."""
        return self.kind or str(self.failure.signature)

    def shorter(self, other: ReportedFailure) -> bool:
        """Return whether to show this trace and not the other one; of equal ones, the earlier path, as a run does."""
        return (self.steps, not self.shrunk, self._path) < (other.steps, not other.shrunk, other._path)

    @property
    def _path(self) -> tuple[int, str]:
        # path-0005 of path-0005.behind-1.jsonl; path-10000 comes after path-9999
        path = Path(self.file).name.partition(".")[0]
        return len(path), path


@dataclass
class Gathered:
    """The results of a campaign; `follow` takes the events of each path, `done` ends the path.

    `header` is that of the traces; `space` has the states and transitions of the model, `visits` those that were
    visited. `paths` and `failures` are the results, `notes` remarks on them. `answers` has the seconds that each type
    of input waited for its answer; `growth` has the number of visited transitions after so many steps. `started` is the
    day and time, `interrupted`: a signal ended it, `full`: there were more different failures than can be told apart.
    `windows` holds the time windows that the model allows for the answers to each type of input, `waits` the seconds
    spent waiting for each kind of event. `bench` judges the traces in the `folder`; `known_issues` are the bench's own,
    and `source` is the file and line of its model. `failed_starts` of the system were retried; `trouble` is the error
    that ended contact with it. `unfinished` holds the steps of interrupted paths, which do not count. `parts` tells
    what the campaign spent its seconds on, `time` what its paths spent them on, and `worth` what the paths prove if
    none failed. `requirements` tells which requirements the paths decided, `mutation` is the result of `otf mutants`,
    if any. `guessed` holds failures seen only behind others, `excused` those that known issues excuse, by description.
    `heard`: an output was seen.

    >>> from otf.core import Model
    >>> from otf.models.coffee import coffee
    >>> from otf.trace.record import Header
    >>> header = Header("1", "coffee", {}, "", 0, "random", "strict", "uioco", 0.1, 0.002, 0.002)
    >>> gathered = Gathered.of(header, Model(coffee))
    >>> gathered.done(PathSummary(1, "path-0001.jsonl", "pass", steps=20, seconds=0.4))
    >>> gathered.verdict
    'pass'
    """

    header: Header
    space: Space
    visits: VisitedSpace
    bench: Bench | None = None
    folder: str = ""
    source: tuple[str, int] | None = None
    known_issues: tuple[str, ...] = ()
    started: str = ""
    trouble: str = ""
    failed_starts: int = 0
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    unfinished: list[int] = field(default_factory=list[int])
    time: str = ""
    worth: tuple[str, ...] = ()
    interrupted: bool = False
    full: bool = False
    heard: bool = False
    guessed: tuple[GuessedResult, ...] = ()
    excused: dict[str, ReportedFailure] = field(default_factory=dict[str, ReportedFailure])
    paths: list[PathSummary] = field(default_factory=list[PathSummary])
    failures: dict[str, ReportedFailure] = field(default_factory=dict[str, ReportedFailure])
    notes: dict[str, None] = field(default_factory=dict[str, None])
    answers: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict[str, list[float]](list))
    windows: dict[str, list[tuple[float, float]]] = field(default_factory=dict[str, list[tuple[float, float]]])
    waits: defaultdict[str, float] = field(default_factory=lambda: defaultdict[str, float](float))
    requirements: RequirementRecord = field(default_factory=RequirementRecord)
    mutation: ReportedMutation | None = None
    growth: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])
    _walker: Walker | None = None
    _evidence: RequirementEvidence | None = None
    _asked: Sent | None = None
    _steps: int = 0
    _at: float = 0.0

    @classmethod
    def of(cls, header: Header, model: Model, most: int = MOST) -> Gathered:
        """Return the results before reading any trace; `model` is the bench's, not completed.

        It explores at most `most` states.
        """
        found = space(model, most)
        return cls(header, found, VisitedSpace(found), windows=_windows(model))

    @property
    def result(self) -> CampaignResult:
        """Return the result of the campaign, the same for every kind of report."""
        known = dict(self._paths_by("known_issue"))
        return CampaignResult(
            paths=len(self.paths),
            steps=self.steps,
            failures=tuple(
                FailureResult(name, found.count, found.file, found.steps, title(found.failure))
                for name, found in self.failures.items()
            ),
            known_issues=tuple(
                self._known_issue(says, paths)
                for says, paths in {**{says: [] for says in self.known_issues}, **known}.items()
            ),
            inconclusive=tuple(
                InconclusiveResult(why, len(paths), self._trace(paths)) for why, paths in self._paths_by("undecided")
            ),
            silence={how: len(paths) for how, paths in self._paths_by("silence")},
            truncated=sum(path.truncated for path in self.paths),
            short=sum(path.short for path in self.paths),
            late=sum(path.late for path in self.paths),
            unfinished=len(self.unfinished),
            unfinished_steps=sum(self.unfinished),
            parts=self.parts,
            failed_starts=self.failed_starts,
            trouble=self.trouble,
            interrupted=self.interrupted,
            requirements=self.requirements.results(),
            full=self.full,
            guessed=self.guessed,
            heard=self.heard,
            untested="" if self.bench is None or self.bench.spec.emits else self._untested(),
        )

    def titled(self, signature: str) -> str:
        """Return the title of a kind of failure, from the values of the trace shown for it."""
        found = self.failures.get(signature)
        return signature if found is None else title(found.failure)

    @property
    def verdict(self) -> Outcome:
        """Return the verdict of the campaign."""
        return self.result.verdict

    @property
    def mutants(self) -> tuple[str, ...]:
        """Return the result of `otf mutants` in words, () if the folder has none."""
        return () if self.mutation is None else tuple(self.mutation.lines())

    @property
    def steps(self) -> int:
        """Return the number of inputs sent on all paths."""
        return sum(path.steps for path in self.paths)

    @property
    def coverage(self) -> VisitedParts:
        """Return what the paths visited of the model."""
        return self.visits.coverage

    def _known_issue(self, says: str, paths: Sequence[PathSummary]) -> KnownIssueResult:
        if (found := self.excused.get(says)) is None:
            return KnownIssueResult(says, len(paths), self._trace(paths) if paths else "")
        return KnownIssueResult(says, len(paths), found.file, found.steps)

    def _trace(self, paths: Sequence[PathSummary]) -> str:
        """Return the name of the first trace, with its folder."""
        return str(Path(self.folder, paths[0].decided or paths[0].file))

    def _paths_by(
        self, name: Literal["known_issue", "undecided", "silence"]
    ) -> Iterable[tuple[str, list[PathSummary]]]:
        """Return the paths that have such a text, grouped by it."""
        found = defaultdict[str, list[PathSummary]](list)
        for path in self.paths:
            if text := getattr(path, name):
                found[text].append(path)
        return found.items()

    def _untested(self) -> str:
        if not self.steps:
            return "nothing was sent"
        return untested(
            self.steps,
            *(sum(getattr(each, name) for each in self.paths) for name in ("malformed", "truncated", "excused")),
        )

    def follow(self, event: Event, monitor: Monitor) -> None:
        """Add an event of the current path, with the monitor after that event."""
        if self._walker is None:
            self._walker = Walker(self.visits, monitor.oracle.model)
            self._evidence = RequirementEvidence(self.requirements.reached, self.requirements.decided)
        if not monitor.past:
            # behind a guess, what was visited is unknown
            self._walker.event(event, monitor)
            if self._evidence is not None:
                self._evidence.follow(event, monitor)
        self.waits[_waited_for(event)] += max(0.0, event.at - self._at)
        self._at = max(self._at, event.at)
        if isinstance(event, Sent):
            self._steps += 1
            self._asked = event
        elif isinstance(event, Seen):
            self._answered(event)
        self._note_growth()

    def done(self, path: PathSummary) -> None:
        """Add the summary of the current path at its end."""
        if self._walker is not None:
            self._walker.end()
        self._walker = self._evidence = self._asked = None
        self._at = 0.0
        self.paths.append(path)

    def failed(self, found: ReportedFailure, signature: str = "") -> None:
        """Add a failure of a path, or a shorter trace of one; it counts with `signature`.

        A trace that shows another failure counts, but does not explain this one.
        """
        name = signature or found.signature
        self.requirements.failed(found.failure, found.file)
        known = self.failures.setdefault(name, found)
        if known is found:
            return
        known.count += found.count
        if found.signature == name and found.shorter(known):
            self.failures[name] = replace(found, count=known.count)

    def excuse(self, says: str, found: ReportedFailure) -> None:
        """Add a failure that a known issue with this description excuses, or a shorter trace of one."""
        known = self.excused.setdefault(says, found)
        if found.shorter(known):
            self.excused[says] = replace(found, count=known.count + found.count)
        elif known is not found:
            known.count += found.count

    def _answered(self, event: Seen) -> None:
        self.heard = True
        # only the first output after an input: later ones may have waited for something else
        if self._asked is not None:
            times = self.answers[type(message_of(self._asked.input)).__name__]
            if len(times) < ANSWERS:
                times.append(max(0.0, event.at - self._asked.at))
            self._asked = None

    def _note_growth(self) -> None:
        if len(self.visits.edges) > self.growth[-1][1]:
            self.growth.append((self._steps, len(self.visits.edges)))


def _windows(model: Model) -> dict[str, list[tuple[float, float]]]:
    """Return the windows of all explored moves, by the type of their input."""
    found = defaultdict[str, dict[tuple[float, float], None]](dict)
    for node in model.nodes:
        for inp, moves in node.moves.items():
            if inp is not None:
                found[type(message_of(inp.value)).__name__].update({move.within: None for move in moves if move.within})
    return {name: sorted(windows) for name, windows in found.items()}


def _waited_for(event: Event) -> str:
    match event:
        case Sent():
            return "until the next input"
        case Seen() | Closed():
            return "until an output"
        case Taken():
            return "until an input was known to be taken"
        case Stalled():
            return "while the machine stalled"
        case Guess():
            return "until the system rested after a failure"
        case Quiet(by=by):
            return f"until silence was known ({by})" if by else "until silence was known"
