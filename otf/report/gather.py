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
from otf.report.reported import PathSummary, ReportedFailure
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
from otf.trace.verdict import Outcome
from otf.values import message_of

ANSWERS: Final = 20_000  # response times to keep for each type of input


@dataclass
class Gathered:
    """The results of a campaign, from which otf writes every kind of report.

    To fill a `Gathered`, pass it each event of a path with `follow`, and a summary at the end of each path with `done`.
    The `header` is that of the campaign's traces. The `bench` judges the traces, which lie in the `folder`. The
    `source` is the file and line of the bench's model. The `known_issues` are those of the bench. The `paths` are the
    results of the single paths, and the `failures` are grouped by signature. Failures that a known issue excuses are
    `excused`, by the description of the issue. Failures that otf saw only after another failure of their path are
    `guessed`. `full` is true if the campaign had more different failures than otf can keep. The `notes` are remarks for
    the user.

    The `space` has the states and transitions of the model, and `visits` those that the paths visited. The `growth`
    says how many transitions were visited after how many inputs. The `requirements` are those that the paths decided.
    The `mutation` is the result of `otf mutants`, if the folder has one. If no path failed, `worth` says what the
    passed paths prove. The `answers` hold the response times of each type of input, in seconds, and the `windows` hold
    the response times that the model allows. The `waits` are the seconds that otf waited for each kind of event.
    `heard` is true if the system sent an output.

    The campaign began at the day and time `started`. `interrupted` is true if a signal ended the campaign. The
    `unfinished` list has the number of inputs of each interrupted path; otf does not use an interrupted path for the
    verdict. The system failed to start `failed_starts` times, and otf tried again. The error that ended the contact
    with the system is `trouble`. The `parts` say how many seconds each part of the campaign took, for example the
    starts of the system. The text `time` says on what the paths spent their time.

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
        """Return the results of a campaign before any trace has been read.

        `model` is the bench's model without any completion. `of` explores at most `most` states of the model.
        """
        found = space(model, most)
        return cls(header, found, VisitedSpace(found), windows=_windows(model))

    @property
    def result(self) -> CampaignResult:
        """Return the result of the campaign, which is equal in every kind of report."""
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
        """Return the title of a kind of failure, made from the values of the trace that reports show for it."""
        found = self.failures.get(signature)
        return signature if found is None else title(found.failure)

    @property
    def verdict(self) -> Outcome:
        """Return the verdict of the campaign."""
        return self.result.verdict

    @property
    def mutants(self) -> tuple[str, ...]:
        """Return the result of `otf mutants` in words, or () if the folder has no such result."""
        return () if self.mutation is None else tuple(self.mutation.lines())

    @property
    def steps(self) -> int:
        """Return the number of inputs sent on all paths."""
        return sum(path.steps for path in self.paths)

    @property
    def coverage(self) -> VisitedParts:
        """Return which parts of the model the paths visited."""
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
            return "no path ended, so nothing was judged" if self.unfinished else "nothing was sent"
        return untested(
            self.steps,
            *(sum(getattr(each, name) for each in self.paths) for name in ("malformed", "truncated", "excused")),
        )

    def follow(self, event: Event, monitor: Monitor) -> None:
        """Add an event of the current path; `monitor` is the monitor after that event."""
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
        """End the current path, and add its summary."""
        if self._walker is not None:
            self._walker.end()
        self._walker = self._evidence = self._asked = None
        self._at = 0.0
        self.paths.append(path)

    def failed(self, found: ReportedFailure, signature: str = "") -> None:
        """Add a failure of a path, or a shorter trace of a failure.

        otf groups the failure under `signature`. If the trace shows another signature, otf adds its paths to the count,
        but reports do not show the trace.
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
        """Add a failure that the known issue described by `says` excuses, or a shorter trace of such a failure."""
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
