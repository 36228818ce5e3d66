"""The results of paths, of searches for a shorter run, and of the failures of one kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from otf.trace.events import Event, Guess, Sent
from otf.trace.kinds import PassedStep
from otf.trace.result import FailureResult, GuessedResult, KnownIssueResult
from otf.trace.title import title
from otf.trace.verdict import Failure, Signature, Verdict

STRICT: Final = ".strict.jsonl"
"""The ending of the trace of a strict re-run, in place of the original's."""


@dataclass(frozen=True, slots=True)
class PathResult:
    """The result of one path: the `number`, the `verdict`, the `trace`, and the number of `steps`.

    If the path failed, `events` lists its events for shrinking. `faults` are the injected faults, as the trace records
    them. `unwritten` is the reason why a part of the trace is missing. `silence` describes how otf detected silence.
    `seconds` is how long the path took. `short` is true if the path ended because the campaign's time was over.
    `passed` lists the steps before the failure. `malformed` is the number of malformed inputs. `together` is the
    largest number of inputs that were in flight at once. `digest` is a hash of the trace. `heard` is true if otf saw an
    output.

    >>> from pathlib import Path
    >>> from otf.trace import Verdict
    >>> PathResult(1, Verdict("pass"), 20, Path("out/path-0001.jsonl")).verdict.outcome
    'pass'
    """

    number: int
    verdict: Verdict
    steps: int
    trace: Path
    events: Sequence[Event] = ()
    faults: tuple[str, ...] = ()
    unwritten: str = ""
    silence: str = ""
    seconds: float = 0.0
    short: bool = False
    passed: Sequence[PassedStep] = ()
    malformed: int = 0
    together: int = 0
    digest: str = ""
    heard: bool = True

    def upto(self, failure: Failure | None) -> PathResult:
        """Return the part of the path up to one of its failures; a path can show several failures."""
        if failure is None:
            return self
        after = self.events[failure.event :]
        if not (self.guesses or any(isinstance(event, Sent) for event in after)):
            return self
        verdict = replace(self.verdict, failure=failure, behind=())
        return replace(self, verdict=verdict, events=self.events[: failure.event], steps=failure.step)

    @property
    def excused(self) -> int:
        """Return the number of inputs from the step that showed the failure to the end of the path."""
        failure = self.verdict.failure
        return 0 if failure is None else self.steps - max(1, failure.step) + 1

    @property
    def guesses(self) -> bool:
        """Return whether otf had guessed the state before the failure, so that a wrong guess may have caused it."""
        return any(isinstance(event, Guess) for event in self.events)

    def is_longer(self, other: PathResult) -> bool:
        """Return whether another path is better evidence of the failure: shorter, or as long but earlier."""
        return (self.steps, self.place) > (other.steps, other.place)

    @property
    def place(self) -> tuple[bool, int]:
        """Return the position of the path in the campaign; the paths of saved failures come last."""
        return self.trace.name.startswith("saved"), self.number


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A shrunk failure: its `trace`, `steps` and `verdict`, and the cost of shrinking in `transitions` and `resets`.

    otf drives the shrunk path `runs` times; `rate` is the share of times that it failed. otf drives the original path
    `tried` times; `before` is the share of times that it failed. `rate` and `before` are 0 if the failure never showed
    again; `trace` is then the original trace. `tried` is 0 if there was no time to drive the original inputs even once.
    `minimal` is false if a budget or an interruption ended the search; `ended` contains the reason. `events` are the
    events of the trace. `others` lists failures with other signatures that occurred during the search, each with a
    trace. `program` is a pytest test that shows the failure.

    >>> from pathlib import Path
    >>> from otf.trace import Verdict
    >>> shrunk = Shrunk(Path("out/a.jsonl"), steps=2, transitions=40, resets=12, rate=1.0, verdict=Verdict("fail"))
    >>> shrunk.minimal, shrunk.runs
    (True, 1)
    """

    trace: Path
    steps: int
    transitions: int
    resets: int
    rate: float
    verdict: Verdict
    minimal: bool = True
    events: Sequence[Event] = ()
    runs: int = 1
    before: float = 1.0
    tried: int = 1
    others: Sequence[PathResult] = ()
    program: Path | None = None
    ended: str = ""

    @property
    def traces(self) -> list[Path]:
        """Return the shrunk trace, and the traces of other failures that the search found."""
        return [self.trace, *(each.trace for each in self.others)]


@dataclass(frozen=True, slots=True)
class Retried:
    """A failure that an earlier campaign saved as a `trace`, and that otf drove again; `result` is the new path.

    `result` is None if no path showed the failure. `signature` is the signature of the failure that the new path
    showed. `known_issue` describes the known issue that excuses the failure. `why` explains why otf could not drive the
    trace again, for instance because the trace no longer fits the bench. If there is a `signature`, `why` explains why
    the result is undecided, for instance because the machine stalled.

    >>> from pathlib import Path
    >>> Retried(Path("saved/a.jsonl"), why="the bench has no input 'tea'").result is None
    True
    """

    trace: Path
    signature: Signature | None = None
    result: PathResult | None = None
    why: str = ""
    known_issue: str = ""

    def __str__(self) -> str:
        """Return the outcome in a few words."""
        if self.known_issue:
            return f"now a known issue ({self.known_issue})"
        if self.result or not self.why:
            return "still there" if self.result else "fixed"
        return f"not decided: {self.why}" if self.signature else f"obsolete: {self.why}"


def tried_first(saved: Sequence[Retried]) -> str:
    """Return what became of the failures of earlier runs, which come before all paths.

    >>> tried_first([Retried(Path("a"), why="why"), Retried(Path("b"), why="why"), Retried(Path("c"))])
    '3 failures saved in . by earlier runs were tried first (--no-saved leaves them out): 2 obsolete, 1 fixed'
    """
    came = Counter(str(each).partition(":")[0] for each in saved)
    folder = saved[0].trace.parent
    if len(saved) == 1:
        one = f"1 failure saved in {folder} by an earlier run was tried first"
        return f"{one} (--no-saved leaves it out): {next(iter(came))}"
    told = ", ".join(f"{number:,} {what}" for what, number in came.items())
    many = f"{len(saved):,} failures saved in {folder} by earlier runs were tried first"
    return f"{many} (--no-saved leaves them out): {told}"


@dataclass(slots=True)
class FailureGroup:
    """All failures of one kind: their `signature`, the `first` path that showed one, and the `shrunk` trace.

    `count` is the number of paths that showed the failure. `count` is 0 if only a saved trace showed the failure, or if
    otf saw the failure only after a guess of the state and then confirmed it (`behind` is true). `tries` is how many
    times otf drove the path in strict mode until the failure of eager mode occurred again. `shorter` is a later path
    that shows the failure in fewer steps. `unshrunk` explains why there is no shrunk trace; `unshrunk` is "" if the
    settings ask for no shrinking.

    >>> from pathlib import Path
    >>> from otf.trace import Signature, Verdict
    >>> signature = Signature("missing", "int", "Button", "Coffee", "nothing")
    >>> group = FailureGroup(signature, PathResult(1, Verdict("fail"), 20, Path("out/path-0001.jsonl")))
    >>> group.count, group.shrunk
    (1, None)
    """

    signature: Signature
    first: PathResult
    count: int = 1
    tries: int = 0
    shrunk: Shrunk | None = None
    unshrunk: str = ""
    shorter: PathResult | None = None
    behind: bool = False

    def meet(self, result: PathResult | None) -> None:
        """Add another path that shows the failure; the added path may be shorter, or may have begun earlier."""
        if result is None or result.verdict.failure is None:
            return
        if self._shortest.is_longer(result):
            self.shorter = replace(result, events=())
        if not self.tries and result.events and result.place < self.first.place:
            self.first = result

    @property
    def _shortest(self) -> PathResult:
        return self.shorter or self.first

    @property
    def result(self) -> FailureResult:
        """Return the result of this kind of failure, from which otf makes every kind of report."""
        shortest: PathResult | Shrunk = self._shortest
        if self.shrunk is not None and self.shrunk.steps <= shortest.steps:
            shortest = self.shrunk
        failure = shortest.verdict.failure
        named = "" if failure is None else title(failure)
        return FailureResult(str(self.signature), self.count, str(shortest.trace), shortest.steps, named)


@dataclass(slots=True)
class GuessedFailure:
    """A failure that `count` paths showed only behind the failure `after`: `first` is the first of them.

    `behind` is that failure's kind, `title` its shortest run by values. `tried`: a run without the guess was sought.
    `confirmed`: there is one, so this is a kind like any other.
    """

    signature: Signature
    after: Signature
    first: PathResult
    behind: str = ""
    title: str = ""
    count: int = 1
    tried: bool = False
    confirmed: bool = False

    @property
    def result(self) -> GuessedResult:
        """Return the result of the failure."""
        failure = self.first.verdict.failure
        named = "" if failure is None else title(failure)
        return GuessedResult(str(self.signature), self.behind, self.count, str(self.first.trace), named, self.title)


@dataclass(slots=True)
class KnownIssueCount:
    """A known issue of the bench: its description, the number of paths that showed it, and the shortest of these.

    `kinds` holds the signatures of the failures that counted as this issue; if there are several, it may excuse too
    much.
    """

    says: str
    count: int = 0
    group: FailureGroup | None = None
    kinds: set[str] = field(default_factory=set[str])

    def add(self, result: PathResult, signature: str = "") -> None:
        """Count a path that showed it, through a failure of this signature."""
        self.count += 1
        self.kinds.add(signature or str(result.verdict.failure and result.verdict.failure.signature))
        failure, group = result.verdict.failure, self.group
        if failure is None:
            return
        if group is None or not (group.shrunk or result.is_longer(group.first)):
            self.group = FailureGroup(failure.signature, result)
        else:
            group.meet(result)

    @property
    def result(self) -> KnownIssueResult:
        """Return the result of the issue, the same for every kind of report."""
        if self.group is None:
            return KnownIssueResult(self.says, self.count)
        shortest = self.group.result
        return KnownIssueResult(self.says, self.count, shortest.trace, shortest.steps)
