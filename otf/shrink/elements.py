"""Element elimination: leave out one input after another.

Koopman, Achten and Plasmeijer, "Model-Based Shrinking for State Based Testing", sections 5.1 and 6.1.
"""

from __future__ import annotations

from otf.shrink.inputs import inputs
from otf.shrink.issue import Issue, Shrinking


def elements(issue: Issue) -> Shrinking:
    """Yield the issue without each of its inputs in turn, until none can be left out any more.

    One pass has a bias from left to right: what became superfluous behind it is found by the next.
    """
    length = len(issue) + 1
    while len(issue) < length:
        length = len(issue)
        issue = yield from _pass(issue)
    return issue


def _pass(issue: Issue) -> Shrinking:
    at = 0
    while at < len(issue):
        smaller = yield inputs(issue.steps[:at], issue.steps[at + 1 :])
        if smaller is None:
            at += 1
        else:
            issue = smaller
    return issue
