"""The result of a campaign as its report has it: the four lists and their counts, from the paths."""

from __future__ import annotations

from otf.explore.space import CoveredPart, VisitedParts
from otf.report import PathSummary, ReportedFailure
from otf.trace.result import CampaignResult, FailureResult, InconclusiveResult, KnownIssueResult
from tests.report.runs import EVENTS, failure, gathered

FOUND = ReportedFailure(failure(), "out/path-0002.jsonl", 2, EVENTS)
SIGNATURE = str(FOUND.failure.signature)


def test_paths_are_listed_by_what_they_are() -> None:
    """Failures, known issues and inconclusive paths are apart; the silences are counted over all paths."""
    made = gathered(
        PathSummary(1, "path-0001.jsonl", "pass", 5, 0.5, silence="observed"),
        PathSummary(2, "path-0002.jsonl", "fail", 2, 0.2, signature=SIGNATURE, silence="observed"),
        PathSummary(3, "path-0003.jsonl", "inconclusive", 1, 0.1, why="it was lost", silence="timed: by an option"),
        PathSummary(4, "path-0004.jsonl", "pass", 1, 0.1, known_issue="it is slow", late=2),
        PathSummary(5, "path-0005.jsonl", "inconclusive", 1, 0.1, why="it was lost", truncated=True),
        PathSummary(6, "path-0006.jsonl", "pass", 1, 0.1, known_issue="it is slow"),
        found=FOUND,
    )
    assert made.result == CampaignResult(
        paths=6,
        steps=11,
        failures=(FailureResult(SIGNATURE, 1, "out/path-0002.jsonl", 2, "wrong: button -> expected coffee, seen tea"),),
        known_issues=(KnownIssueResult("it is slow", 2, "path-0004.jsonl"),),
        inconclusive=(InconclusiveResult("it was lost", 2, "path-0003.jsonl"),),
        silence={"observed": 2, "timed: by an option": 1},
        truncated=1,
        late=2,
    )
    assert (made.verdict, made.result.tally) == (
        "fail",
        "paths: 1 passed, 1 failed, 2 showed a known issue, 2 inconclusive",
    )


def test_an_inconclusive_path_without_a_reason_is_counted() -> None:
    """A trace of an earlier version may lack the reason."""
    (only,) = gathered(PathSummary(1, "path-0001.jsonl", "inconclusive", 1, 0.1)).result.inconclusive
    assert only == InconclusiveResult("the trace does not say why", 1, "path-0001.jsonl")


def test_states_outside_the_known_whole_are_counted() -> None:
    """Other inputs than those that exploring tries lead there: "4 of 512" would hide 17 states."""
    inside, outside = CoveredPart(4, 4, 512, whole=True), CoveredPart(21, 4, 512, whole=True)
    assert (str(inside), str(outside)) == ("4 of 512", "4 of 512, and 17 outside of these")
    assert str(VisitedParts(outside, inside, outside)) == "visited: 21 states, 21 transitions"


def test_of_equal_traces_the_earlier_path_is_shown() -> None:
    """As in the result of the run; what confirmed a failure behind a guess is read after later paths."""
    found = gathered()
    for name in ("out/path-0006.jsonl", "out/path-0005.behind-1.jsonl", "out/path-10000.jsonl"):
        found.failed(ReportedFailure(failure(), name, 2, EVENTS))
    (shown,) = found.failures.values()
    assert (shown.file, shown.count) == ("out/path-0005.behind-1.jsonl", 3)
