"""The result of a campaign: failures, known issues, inconclusive paths, what all this rests on, and the counts.

The terminal, the page, JUnit XML, annotations and Markdown are made from one `CampaignResult`, so that no output claims
what another does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from otf.trace.requirements import RequirementResult
from otf.trace.requirements import tally as requirements_tally
from otf.trace.verdict import Outcome


def counted(number: int, what: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "step"), counted(1200, "path")
    ('1 step', '1,200 paths')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class FailureResult:
    """One kind of failure: the number of paths that showed it, and the shortest trace of it, with its steps.

    `paths` is 0 if only the run of a saved failure showed it.

    >>> FailureResult("missing: int --Button--> expected Coffee, seen silence", 3, "path-0001.jsonl", steps=2).paths
    3
    """

    signature: str
    paths: int
    trace: str
    steps: int = 0


@dataclass(frozen=True, slots=True)
class KnownIssueResult:
    """A known issue of the bench: its description, the number of paths that showed it, and the first trace of it.

    >>> KnownIssueResult("it answers late after a reset", 0).trace
    ''
    """

    says: str
    paths: int
    trace: str = ""


@dataclass(frozen=True, slots=True)
class InconclusiveResult:
    """The paths that are inconclusive for one reason: how many they are, and the trace of the first.

    >>> InconclusiveResult("the line was lost", 2, "path-0003.jsonl").why
    'the line was lost'
    """

    why: str
    paths: int
    trace: str = ""


@dataclass(frozen=True, slots=True)
class CampaignResult:
    """What is to be reported of a campaign, wherever it is reported.

    `silence` counts the paths by how their silences are known, `truncated` those that ended at an unspecified input,
    `late` the outputs that came after the quiescence time. `failed_starts` of the
    system were tried again after a pause. `requirements` are those of the bench. `trouble` is the error that ended
    contact with the system, `untested` the reason why nothing was tested. `full`: there were
    more different failures than are told apart.

    >>> known = KnownIssueResult("it answers late after a reset", 2, "path-0001.jsonl")
    >>> result = CampaignResult(paths=2, steps=9, known_issues=(known,))
    >>> result.headline
    'PASS: every failure is a known issue'
    >>> result.tally
    'paths: 2 showed a known issue'
    """

    paths: int = 0
    steps: int = 0
    failures: tuple[FailureResult, ...] = ()
    known_issues: tuple[KnownIssueResult, ...] = ()
    inconclusive: tuple[InconclusiveResult, ...] = ()
    silence: Mapping[str, int] = field(default_factory=dict[str, int])
    truncated: int = 0
    late: int = 0
    failed_starts: int = 0
    trouble: str = ""
    interrupted: bool = False
    requirements: tuple[RequirementResult, ...] = ()
    untested: str = ""
    full: bool = False

    @property
    def failed(self) -> int:
        """Return the number of paths that failed; one that showed a known issue did not."""
        return sum(each.paths for each in self.failures)

    @property
    def known(self) -> int:
        """Return the number of paths that showed a known issue."""
        return sum(each.paths for each in self.known_issues)

    @property
    def undecided(self) -> int:
        """Return the number of inconclusive paths."""
        return sum(each.paths for each in self.inconclusive)

    @property
    def passed(self) -> int:
        """Return the number of paths on which the model allowed every answer."""
        return self.paths - self.failed - self.known - self.undecided

    @property
    def verdict(self) -> Outcome:
        """Return the verdict: fail before inconclusive before pass."""
        if self.failures:
            return "fail"
        return "inconclusive" if self.inconclusive or self.trouble or self.interrupted or self.untested else "pass"

    @property
    def headline(self) -> str:
        """Return the verdict in words."""
        if self.failures:
            return f"FAIL: {counted(len(self.failures), 'kind')} of failure"
        if self.interrupted:
            decided = self.paths > self.undecided or not self.paths
            return f"INTERRUPTED: {'nothing wrong was seen' if decided else 'nothing was decided'} so far"
        if self.trouble:
            return f"INCONCLUSIVE: {'lost' if self.steps else 'no'} contact with the system under test"
        if self.inconclusive:
            return "INCONCLUSIVE: neither passed nor failed"
        if self.untested:
            return "INCONCLUSIVE: nothing was tested"
        return (
            f"PASS: {'every failure is a known issue' if self.known else 'every answer is one that the model allows'}"
        )

    @property
    def totals(self) -> str:
        """Return the size of the campaign: `2 paths, 9 steps`."""
        return f"{counted(self.paths, 'path')}, {counted(self.steps, 'step')}"

    @property
    def tally(self) -> str:
        """Return how many paths passed, failed, showed a known issue, and were inconclusive."""
        parts = {"passed": self.passed, "failed": self.failed, "showed a known issue": self.known}
        shown = [f"{number:,} {what}" for what, number in (parts | {"inconclusive": self.undecided}).items() if number]
        return f"paths: {', '.join(shown) or 'none'}"

    @property
    def mixed(self) -> bool:
        """Return whether the headline and the totals leave open what the paths were: then the tally is needed."""
        return bool(self.known or self.undecided or (self.failed and self.passed))

    def away(self) -> Iterator[str]:
        """Yield how often the system could not be started for a time."""
        if self.failed_starts:
            starts = counted(self.failed_starts, "start")
            yield f"{starts} of the system failed, each tried again after a pause: campaign.jsonl has the reasons"

    def basis(self) -> Iterator[str]:
        """Yield what the verdict rests on: how silences are known, paths that ended early, outputs that came late."""
        if self.truncated:
            paths = counted(self.truncated, "path")
            yield f"{paths} ended early: an input arrived where the model does not specify it"
        for how, number in self.silence.items():
            several = f" ({counted(number, 'path')})" if len(self.silence) > 1 else ""
            yield f"silence: {how}{several}"
        if self.late:
            outputs = counted(self.late, "output")
            yield f"{outputs} came after the quiescence time, but before quiescence was concluded"
        if self.full:
            yield "more than 1,000 different failures: those after them are told apart by their types alone"
        yield from self.away()
        yield from requirements_tally(self.requirements)
