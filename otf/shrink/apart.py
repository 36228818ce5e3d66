"""Whether the failures of one kind are two defects: the shortest runs that show them differ.

Two checks of one message may be missing, and both show as the same answer where none is expected. The shrinker finds
the shorter run of the two, whichever failure it begins with. So each other failure of the kind is led back to what it
needs itself: the shortest way to the state in which it failed, the input that failed, and of the way only what that
input needs to fail. If such runs are of several forms, and the system takes the input of one of them rightly where the
other fails, they are two defects.

What does not fail by the shortest way to its state fails because of what was before, of which a state says nothing:
`otf.shrink.deviations` looks at that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from otf.core import Oracle
from otf.shrink.deviations import Asking, Inputs, Replies, asked
from otf.shrink.issue import completed, issue_of
from otf.shrink.shortest_ways import ModelMap
from otf.trace.alike import head
from otf.trace.events import Event
from otf.trace.verdict import Signature
from otf.values import show

LONGEST: Final = 8  # inputs of a run to a failure
MOST: Final = 40  # failures of a kind that are looked at

RunForm: TypeAlias = tuple[str, ...]
"""What the inputs of a run do."""


class FailingWay(NamedTuple):
    """The shortest way of the model to where a failure was, with the input that failed there; and its signature."""

    signature: Signature
    inputs: Inputs


def way_to(ways: ModelMap, oracle: Oracle, events: Sequence[Event]) -> FailingWay | None:
    """Return the shortest way to what failed in a run; None if the state is not certain, or the way is long."""
    issue = issue_of(oracle, events)
    if issue.signature is None or not issue.steps or len(issue.steps[-1].nodes) != 1:
        return None
    way = completed(ways.path(ways.start, issue.steps[-1].nodes))
    if way is None or len(way) >= LONGEST:
        return None
    return FailingWay(issue.signature, (*(step.input for step in way), issue.steps[-1].input))


def told_apart(kind: FailingWay, others: Sequence[FailingWay]) -> Asking[list[list[FailingWay]]]:
    """Find the failures of a kind that are other defects, of each first one that needs its whole way."""
    answers, forms, apart = Replies(), dict[RunForm, list[FailingWay]](), set[RunForm]()
    least = yield from _least(kind, answers)
    for other in others:
        needed = (yield from _least(other, answers)) if least else ()
        form = _form(needed)
        if not needed or form == _form(least):
            continue
        forms.setdefault(form, []).insert(0 if needed == other.inputs else MOST, other)
        if (yield from asked((*least[:-1], other.inputs[-1]), answers)) is False:
            apart.add(form)
    return [forms[form] for form in forms if form in apart]


def _least(way: FailingWay, answers: Replies) -> Asking[Inputs]:
    """Return the inputs of a way that its last one needs to fail; none if it does not fail there."""
    run = way.inputs
    if (yield from asked(run, answers)) != way.signature:
        return ()
    at = 0
    while at < len(run) - 1:
        shorter = run[:at] + run[at + 1 :]
        if (yield from asked(shorter, answers)) == way.signature:
            run, at = shorter, 0
        else:
            at += 1
    return run


def _form(run: Inputs) -> RunForm:
    return tuple(head(show(inp.value)) for inp in run)
