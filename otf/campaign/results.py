"""The results of a campaign, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from otf.errors import FAIL, INCONCLUSIVE, PASS
from otf.trace.events import Event
from otf.trace.verdict import Outcome, Signature, Verdict


@dataclass(frozen=True, slots=True)
class PathResult:
    """One path: its number, verdict, steps and trace; a failing path keeps its events for the shrinker.

    `faults` are the injected faults, as the trace records them; `unwritten` is the reason why part of the trace of a
    failure is missing.
    """

    number: int
    verdict: Verdict
    steps: int
    trace: Path
    events: Sequence[Event] = ()
    faults: tuple[str, ...] = ()
    unwritten: str = ""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A shrunk failure: its trace, its length, and its cost in transitions and resets of the system.

    `rate` is the share of `runs` runs of the result that showed the failure, `before` that of `tried` runs of the
    original. Both are 0 if the failure never showed again, and `trace` is then the original one. `minimal` is false if
    a budget or an interruption ended the search. `events` are those of the trace. `others` are failures with other
    signatures that the search met, each with its own trace; `program` is a pytest test that shows the failure.
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


@dataclass(frozen=True, slots=True)
class Retried:
    """A failure that an earlier campaign saved, driven again: `result` is the run that showed it, None if none did.

    `why` is the reason why it could not be driven: its trace no longer fits the bench.
    """

    trace: Path
    signature: Signature | None = None
    result: PathResult | None = None
    why: str = ""

    def __str__(self) -> str:
        """Return the outcome in a few words."""
        return "still there" if self.result else f"it fits no more: {self.why}" if self.why else "fixed"


@dataclass(slots=True)
class FailureGroup:
    """All failures of one signature: the first path that showed it, the number of such paths, and the shrunk trace.

    `count` is 0 if only the run of a saved failure showed it. `tries` is the number of strict re-runs until a failure
    of eager mode showed again (0: none was needed).
    """

    signature: Signature
    first: PathResult
    count: int = 1
    tries: int = 0
    shrunk: Shrunk | None = None


@dataclass(slots=True)
class KnownIssueCount:
    """A known issue of the bench: its description, the number of paths that showed it, and the first of them."""

    says: str
    count: int = 0
    first: PathResult | None = None


@dataclass(slots=True)
class Summary:
    """The result of a campaign so far; `trouble` is the error that ended contact with the system.

    `saved` are the failures of earlier campaigns; their runs count neither as paths nor as steps. A path that shows one
    of the `known_issues` of the bench is no failure. `cut`: a state enabled more inputs than were drawn from.
    """

    paths: int = 0
    steps: int = 0
    truncated: int = 0
    late: int = 0
    inconclusive: list[PathResult] = field(default_factory=list[PathResult])
    failures: dict[Signature, FailureGroup] = field(default_factory=dict[Signature, FailureGroup])
    saved: list[Retried] = field(default_factory=list[Retried])
    known_issues: list[KnownIssueCount] = field(default_factory=list[KnownIssueCount])
    trouble: str = ""
    interrupted: bool = False
    unwritten: list[str] = field(default_factory=list[str])
    cut: bool = False

    @property
    def verdict(self) -> Outcome:
        """Return the verdict of the campaign: fail before inconclusive before pass."""
        if self.failures or any(each.result for each in self.saved):
            return "fail"
        return "inconclusive" if self.inconclusive or self.trouble or self.interrupted else "pass"

    @property
    def exit_status(self) -> int:
        """Return the exit status of the command line for the verdict."""
        return {"pass": PASS, "fail": FAIL, "inconclusive": INCONCLUSIVE}[self.verdict]

    def add(
        self,
        result: PathResult,
        tries: int = 0,
        known: Signature | None = None,
        known_issue: KnownIssueCount | None = None,
    ) -> None:
        """Count a path; `tries` strict re-runs confirmed its failure.

        `known` is the signature of the same failure in strict mode; `known_issue` is the issue that its failure shows.
        """
        self.paths += 1
        self.unwritten += [result.unwritten] * bool(result.unwritten)
        self.steps += result.steps
        self.truncated += result.verdict.truncated
        self.late += len(result.verdict.late)
        if result.verdict.outcome == "inconclusive":
            self.inconclusive.append(result)
        elif known_issue is not None:
            known_issue.count += 1
            known_issue.first = known_issue.first or result
        elif result.verdict.failure is not None:
            signature = known or result.verdict.failure.signature
            if signature in self.failures:
                self.failures[signature].count += 1
            else:
                self.failures[signature] = FailureGroup(signature, result, tries=tries)

    def admit(self) -> None:
        """Count saved failures that are still there and that no path showed."""
        for result in [each.result for each in self.saved if each.result is not None]:
            failure = result.verdict.failure
            self.unwritten += [result.unwritten] * bool(result.unwritten)
            if failure is not None and failure.signature not in self.failures:
                self.failures[failure.signature] = FailureGroup(failure.signature, result, count=0)
