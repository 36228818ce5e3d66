"""The result of a campaign: what is claimed of it, wherever it is reported."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otf.trace.result import CampaignResult, FailureResult, InconclusiveResult, KnownIssueResult

FAILED = FailureResult("wrong: int --Button--> expected Coffee, seen Tea", 2, "path-0002.jsonl", 3)
KNOWN = KnownIssueResult("it is out of coffee", 1, "path-0004.jsonl")
UNSURE = InconclusiveResult("the line was lost", 1, "path-0005.jsonl")
PASSED = CampaignResult(paths=5, steps=1200)


@pytest.mark.parametrize(
    ("result", "verdict", "headline", "tally"),
    [
        (PASSED, "pass", "PASS: every answer is one that the model allows", "paths: 5 passed"),
        (
            replace(PASSED, known_issues=(KNOWN,)),
            "pass",
            "PASS, 1 known issue: no other failure",
            "paths: 4 passed, 1 showed a known issue",
        ),
        (
            replace(PASSED, inconclusive=(UNSURE,), known_issues=(KNOWN,)),
            "inconclusive",
            "INCONCLUSIVE: neither passed nor failed",
            "paths: 3 passed, 1 showed a known issue, 1 inconclusive",
        ),
        (
            replace(PASSED, inconclusive=(UNSURE,), failures=(FAILED,)),
            "fail",
            "FAIL: 1 kind of failure",
            "paths: 2 passed, 2 failed, 1 inconclusive",
        ),
        (replace(PASSED, trouble="it is gone"), "inconclusive", "INCONCLUSIVE: lost contact", "paths: 5 passed"),
        (CampaignResult(trouble="it is not there"), "inconclusive", "INCONCLUSIVE: no contact", "paths: none"),
        (replace(PASSED, interrupted=True), "inconclusive", "INTERRUPTED: nothing wrong was seen", "paths: 5 passed"),
        (
            CampaignResult(paths=1, inconclusive=(UNSURE,), interrupted=True),
            "inconclusive",
            "INTERRUPTED: nothing was decided so far",
            "paths: 1 inconclusive",
        ),
    ],
)
def test_the_headline_claims_no_more_than_the_counts(
    result: CampaignResult, verdict: str, headline: str, tally: str
) -> None:
    """Only a campaign in which every path passed claims that every answer was allowed; the counts are beside it."""
    assert result.verdict == verdict
    assert result.headline.startswith(headline)
    assert result.tally == tally


def test_counts_are_shown_where_the_headline_leaves_them_open() -> None:
    """If all paths passed or all failed, the totals are enough."""
    assert not PASSED.mixed
    assert not replace(PASSED, paths=2, failures=(FAILED,)).mixed
    assert replace(PASSED, failures=(FAILED,)).mixed
    assert replace(PASSED, known_issues=(KNOWN,)).mixed
    assert PASSED.totals == "5 paths, 1,200 steps"
    assert CampaignResult(1, 1).totals == "1 path, 1 step"


def test_what_a_verdict_rests_on() -> None:
    """How silences are known, by the number of paths; paths that ended early; outputs that came late."""
    assert list(PASSED.basis()) == []
    assert list(replace(PASSED, silence={"observed": 5}).basis()) == ["silence: observed"]
    assert list(replace(PASSED, silence={"observed": 4, "timed": 1}, truncated=1, short=1, late=2).basis()) == [
        "1 path ended early: an input arrived where the model does not specify it",
        "1 path cut short by the end of the time",
        "2 outputs came after the quiescence time, but before quiescence was concluded",
        "silence: observed (4 paths)",
        "silence: timed (1 path)",
    ]
