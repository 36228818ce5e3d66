"""Whether two failures are one defect, told by their shortest runs.

Two checks of one message may be missing, and both show as the same answer where none is expected. The shrinker finds
the shorter of the two runs, whichever failure it starts with. So reduce each other failure of the kind to what it
needs: the shortest way to its state, less what the failing input does not need, and that input. Such runs may have
several forms. If the system then handles the input of one form correctly where the other fails, they are two defects. A
failure that does not show after the shortest way to its state has an earlier cause, which no state reveals: look for it
as a wrong step.

A defect that spoils the outputs of two ports fails at whichever of them comes first. So drive the shorter of two runs
that fail at different ports a few times: if it fails as the other does, they are one defect.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, permutations
from typing import Final, NamedTuple, TypeAlias

from otf.core import Oracle
from otf.shrink.defects import Answer, Asking, Inputs, Replies, asked, what_it_does
from otf.shrink.issue import completed, issue_of
from otf.shrink.shortest_ways import ModelMap
from otf.trace.events import Event
from otf.trace.verdict import Failure, Signature

CHANCES: Final = 10  # runs that may show which of two ports speaks first
PAIRS: Final = 20  # pairs of failures to compare so
LONGEST_WAY: Final = 8  # inputs of a run to a failure
COMPARED: Final = 40  # failures of a kind to look at

RunForm: TypeAlias = tuple[str, ...]
"""What the inputs of a run do."""


class FailingRun(NamedTuple):
    """How a shrunk run fails, and its inputs."""

    failure: Failure
    inputs: Inputs

    def may_show(self, other: FailingRun) -> bool:
        """Return whether this run may fail as a longer one does, at another port."""
        if not self.inputs or len(self.inputs) > len(other.inputs) or self.inputs == other.inputs:
            return False
        ends = what_it_does(self.inputs[-1]) == what_it_does(other.inputs[-1])
        # where both look alike, no run can show which of them it is
        apart = _shown(self.failure.signature) != _shown(other.failure.signature)
        return ends and apart and self.failure.port != other.failure.port


class FailingWay(NamedTuple):
    """The shortest way of the model to a failure, with the input that failed there, and its signature."""

    signature: Signature
    inputs: Inputs


def way_to(ways: ModelMap, oracle: Oracle, events: Sequence[Event]) -> FailingWay | None:
    """Return the shortest way to a run's failure; None if the state is uncertain, or the way is long."""
    issue = issue_of(oracle, events)
    if issue.signature is None or not issue.steps or len(issue.steps[-1].nodes) != 1:
        return None
    way = completed(ways.path(ways.start, issue.steps[-1].nodes))
    if way is None or len(way) >= LONGEST_WAY:
        return None
    return FailingWay(issue.signature, (*(step.input for step in way), issue.steps[-1].input))


def told_apart(kind: FailingWay, others: Sequence[FailingWay]) -> Asking[list[list[FailingWay]]]:
    """Group the failures of a kind that are other defects, each group led by one that needs its whole way."""
    answers, forms, apart = Replies(), dict[RunForm, list[FailingWay]](), set[RunForm]()
    least = yield from _least(kind, answers)
    for other in others:
        needed = (yield from _least(other, answers)) if least else ()
        form = _form(needed)
        if not needed or form == _form(least):
            continue
        forms.setdefault(form, []).insert(0 if needed == other.inputs else COMPARED, other)
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
    return tuple(map(what_it_does, run))


def one_run(runs: Sequence[FailingRun]) -> Asking[dict[int, int]]:
    """Find failures that the run of another one shows by chance, each with that other failure."""
    found = dict[int, int]()
    pairs = permutations(range(len(runs)), 2)
    for first, other in islice((each for each in pairs if runs[each[0]].may_show(runs[each[1]])), PAIRS):
        for _ in range(CHANCES if not found.keys() & {first, other} else 0):
            if _shown((yield runs[first].inputs)) == _shown(runs[other].failure.signature):
                found[other] = first
                break
    return found


def _shown(answer: Answer) -> tuple[Answer, str]:
    # the states are those of other runs
    return answer, answer.exact.seen if answer and answer.exact else ""
