"""What came of a campaign, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from otf.errors import FAIL, INCONCLUSIVE, PASS
from otf.trace.events import Event
from otf.trace.verdict import Outcome, Signature, Verdict


@dataclass(frozen=True, slots=True)
class PathResult:
    """One path: its number, verdict, steps and trace; a failing one keeps its events for the shrinker.

    `faults` are those that a layer of faults injected, as the trace tells them; `unwritten` says why a part of the
    trace of a failure is missing.
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
    """A shrunk failure: its trace, its length, and what it took: transitions and resets of the system.

    `rate` is the share of `runs` runs of the result that showed the failure, `before` that of `tried` runs of the
    original, both 0 where it never showed again: `trace` is the original one then. `minimal` is false where a budget or
    an interruption ended the search. `events` are those of the trace. `others` are failures with other signatures that
    were met on the way, each with a trace of its own; `program` is a pytest test that shows the failure.
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
    """A failure that was kept from an earlier campaign, driven again: `result` is the run that showed it, if any did.

    `why` it could not be driven, where its trace does not fit the bench any more.
    """

    trace: Path
    signature: Signature | None = None
    result: PathResult | None = None
    why: str = ""

    def __str__(self) -> str:
        """Return what came of it."""
        return "still there" if self.result else f"it fits no more: {self.why}" if self.why else "fixed"


@dataclass(slots=True)
class FailureGroup:
    """All failures of one signature: the first path that showed it, how many did, and the shrunk trace.

    `count` is 0 where only a run of a kept failure showed it.
    `tries`: how many strict re-runs it took to see a failure of eager mode again (0: none was needed).
    """

    signature: Signature
    first: PathResult
    count: int = 1
    tries: int = 0
    shrunk: Shrunk | None = None


@dataclass(slots=True)
class Departed:
    """A known departure of the bench: how many paths showed it, and the first of them."""

    says: str
    count: int = 0
    first: PathResult | None = None


@dataclass(slots=True)
class Summary:
    """The result of a campaign so far; `trouble` is what kept it from contact with the system.

    `saved` are the failures of earlier campaigns; what they took counts neither as paths nor as steps. `known_issues`
    are those that the bench knows; paths that showed one of them are no failures.
    """

    paths: int = 0
    steps: int = 0
    truncated: int = 0
    late: int = 0
    inconclusive: list[PathResult] = field(default_factory=list[PathResult])
    failures: dict[Signature, FailureGroup] = field(default_factory=dict[Signature, FailureGroup])
    saved: list[Retried] = field(default_factory=list[Retried])
    known_issues: list[Departed] = field(default_factory=list[Departed])
    trouble: str = ""
    interrupted: bool = False
    unwritten: list[str] = field(default_factory=list[str])

    @property
    def verdict(self) -> Outcome:
        """Return the verdict of the whole: a failure outweighs all, then what could not be decided."""
        if self.failures or any(each.result for each in self.saved):
            return "fail"
        return "inconclusive" if self.inconclusive or self.trouble or self.interrupted else "pass"

    @property
    def exit_status(self) -> int:
        """Return the exit status that the verdict has on the command line."""
        return {"pass": PASS, "fail": FAIL, "inconclusive": INCONCLUSIVE}[self.verdict]

    def add(
        self, result: PathResult, tries: int = 0, known: Signature | None = None, departed: Departed | None = None
    ) -> None:
        """Count a path in; `tries` strict re-runs confirmed its failure, which is known under that signature.

        `departed` is the departure that its failure shows.
        """
        self.paths += 1
        self.unwritten += [result.unwritten] * bool(result.unwritten)
        self.steps += result.steps
        self.truncated += result.verdict.truncated
        self.late += len(result.verdict.late)
        if result.verdict.outcome == "inconclusive":
            self.inconclusive.append(result)
        elif departed is not None:
            departed.count += 1
            departed.first = departed.first or result
        elif result.verdict.failure is not None:
            signature = known or result.verdict.failure.signature
            if signature in self.failures:
                self.failures[signature].count += 1
            else:
                self.failures[signature] = FailureGroup(signature, result, tries=tries)

    def admit(self) -> None:
        """Count the kept failures that are still there as failures, where no path showed them."""
        for result in [each.result for each in self.saved if each.result is not None]:
            failure = result.verdict.failure
            self.unwritten += [result.unwritten] * bool(result.unwritten)
            if failure is not None and failure.signature not in self.failures:
                self.failures[failure.signature] = FailureGroup(failure.signature, result, count=0)
