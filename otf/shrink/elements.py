"""Element elimination: leave out one input after another.

Koopman, Achten and Plasmeijer, "Model-Based Shrinking for State Based Testing", sections 5.1 and 6.1. There a candidate
ends where the model does not specify its next input (section 4, `Truncate`), so that nothing can be left out of a cycle
that is needed; here that input is skipped, and with it goes the rest of the cycle.
"""

from __future__ import annotations

from otf.shrink.inputs import inputs
from otf.shrink.issue import Issue, Shrinking


def elements(issue: Issue, *, truncates: bool = False) -> Shrinking:
    """Yield the issue without each of its inputs in turn, until none can be left out any more.

    With `truncates` candidates end as those of the paper do.

    One pass has a bias from left to right: what became superfluous behind it is found by the next.
    """
    length = len(issue) + 1
    while len(issue) < length:
        length = len(issue)
        issue = yield from _pass(issue, truncates=truncates)
    return issue


def _pass(issue: Issue, *, truncates: bool) -> Shrinking:
    at = 0
    while at < len(issue):
        smaller = yield inputs(issue.steps[:at], issue.steps[at + 1 :], truncates=truncates)
        if smaller is None:
            at += 1
        else:
            issue = smaller
    return issue
