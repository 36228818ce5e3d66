"""The content of a campaign's traces: verdicts, failures, visited states and transitions, response times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from otf.core import Model, Monitor
from otf.report.space import Space, VisitedSpace, Walker, space
from otf.trace.events import Event, Seen, Sent
from otf.trace.record import Header
from otf.trace.result import CampaignResult, FailureResult, InconclusiveResult, KnownIssueResult
from otf.trace.verdict import Failure, Outcome

ANSWERS: Final = 20_000  # response times that are kept for each type of input


@dataclass(frozen=True, slots=True)
class PathSummary:
    """One path of a campaign, from its trace.

    A path that showed the `known_issue` of that description passed. `silence` is how its silences are known, `late` the
    number of outputs after the quiescence time.

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
    known_issue: str = ""
    silence: str = ""
    late: int = 0

    @property
    def undecided(self) -> str:
        """Return why the path is inconclusive; "" if it is not."""
        return (self.why or "the trace does not say why") if self.verdict == "inconclusive" else ""


@dataclass(slots=True)
class ReportedFailure:
    """All failures of one signature: how many paths showed it, and the shortest trace, with its events.

    `ended` is the reason why the search for a shorter trace ended early.

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

    @property
    def signature(self) -> str:
        """Return the signature of the failure that the trace shows."""
        return str(self.failure.signature)


@dataclass
class Gathered:
    """The results of a campaign; `follow` takes the events of each path, `done` its end.

    `source` is the file and line of the model, `known_issues` are those of the bench. `trouble` is the error that ended
    contact with the system.

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
    source: tuple[str, int] | None = None
    known_issues: tuple[str, ...] = ()
    started: str = ""
    trouble: str = ""
    interrupted: bool = False
    paths: list[PathSummary] = field(default_factory=list[PathSummary])
    failures: dict[str, ReportedFailure] = field(default_factory=dict[str, ReportedFailure])
    notes: dict[str, None] = field(default_factory=dict[str, None])
    answers: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict[str, list[float]](list))
    growth: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])
    _walker: Walker | None = None
    _asked: Sent | None = None
    _steps: int = 0

    @classmethod
    def of(cls, header: Header, model: Model) -> Gathered:
        """Return the results before any trace was read; `model` is that of the bench, not completed."""
        found = space(model)
        return cls(header, found, VisitedSpace(found))

    @property
    def result(self) -> CampaignResult:
        """Return what is to be reported of the campaign, wherever it is reported."""
        known = dict(self._paths_by("known_issue"))
        return CampaignResult(
            paths=len(self.paths),
            steps=self.steps,
            failures=tuple(
                FailureResult(name, found.count, found.file, found.steps) for name, found in self.failures.items()
            ),
            known_issues=tuple(
                KnownIssueResult(says, len(paths), paths[0].file if paths else "")
                for says, paths in {**{says: [] for says in self.known_issues}, **known}.items()
            ),
            inconclusive=tuple(
                InconclusiveResult(why, len(paths), paths[0].file) for why, paths in self._paths_by("undecided")
            ),
            silence={how: len(paths) for how, paths in self._paths_by("silence")},
            truncated=sum(path.truncated for path in self.paths),
            late=sum(path.late for path in self.paths),
            trouble=self.trouble,
            interrupted=self.interrupted,
        )

    @property
    def verdict(self) -> Outcome:
        """Return the verdict of the campaign."""
        return self.result.verdict

    @property
    def steps(self) -> int:
        """Return the number of inputs sent on all paths."""
        return sum(path.steps for path in self.paths)

    def _paths_by(
        self, name: Literal["known_issue", "undecided", "silence"]
    ) -> Iterable[tuple[str, list[PathSummary]]]:
        """Return the paths that have such a text, by that text."""
        found = defaultdict[str, list[PathSummary]](list)
        for path in self.paths:
            if text := getattr(path, name):
                found[text].append(path)
        return found.items()

    def follow(self, event: Event, monitor: Monitor) -> None:
        """Add an event of the current path, with the monitor after that event."""
        if self._walker is None:
            self._walker = Walker(self.visits, monitor.oracle.model)
        self._walker.event(event, monitor)
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
        self._walker = self._asked = None
        self.paths.append(path)

    def failed(self, found: ReportedFailure, signature: str = "") -> None:
        """Add a failure of a path, or a shorter trace of one; `signature` is the one that it counts with.

        A trace that shows another failure is counted, but does not explain this one.
        """
        name = signature or found.signature
        known = self.failures.setdefault(name, found)
        if known is found:
            return
        known.count += found.count
        if found.signature == name and (found.steps, not found.shrunk) < (known.steps, not known.shrunk):
            self.failures[name] = replace(found, count=known.count)

    def _answered(self, event: Seen) -> None:
        # only the first output after an input: later ones may have waited for something else
        if self._asked is not None:
            times = self.answers[type(self._asked.input).__name__]
            if len(times) < ANSWERS:
                times.append(max(0.0, event.at - self._asked.at))
            self._asked = None

    def _note_growth(self) -> None:
        if len(self.visits.edges) > self.growth[-1][1]:
            self.growth.append((self._steps, len(self.visits.edges)))
