"""Whether one wrong step explains several kinds of failure: after it, the system is in another state than the model.

A system that forgets to remove a member answers wrongly whenever members matter: five kinds of failure, and one defect.
What they have in common is a step before the one that fails, whose answer was right and whose state is wrong. Such a
step of a shrunk run is looked for in the model: is there a state from which everything that came after it is right?

A defect of the output itself often looks like that too. So a state is excluded if an input after that step was answered
as the model's own state demands and as that state does not; and most of the inputs that would tell the two states
apart must fail.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from otf.core import Monitor, Node, Oracle, Symbol
from otf.core.timing import FOREVER, Span
from otf.shrink.issue import Issue, issue_of
from otf.trace.alike import head
from otf.trace.events import Event, Sent
from otf.trace.kinds import PassedStep
from otf.values import show

LONGEST: Final = 50  # steps of a shrunk run that is looked at
STATES: Final = 200  # that are tried for one step
INPUTS: Final = 200  # that are compared in two states
MOST: Final = 0.6  # of the inputs that tell two states apart have to fail


class Deviation(NamedTuple):
    """A step that may have led to a wrong state: what its input does, and what the inputs do that would show it."""

    does: str
    shown_by: frozenset[str]


class ShrunkFailure(NamedTuple):
    """A shrunk failure: what the failing input does, and the steps that may have led there."""

    does: str
    deviations: frozenset[Deviation]


def shrunk_failure(oracle: Oracle, events: Sequence[Event], passed: Iterable[PassedStep]) -> ShrunkFailure:
    """Return the steps of a shrunk run that may have led to the wrong state; `passed` is what was answered rightly."""
    issue = issue_of(oracle, events)
    does = head(show(issue.steps[-1].input.value)) if issue.steps else ""
    # no single state explains what a property says of a whole run
    whole = issue.signature is not None and issue.signature.kind == "property"
    if oracle.model.timed or whole or len(issue) > LONGEST:
        return ShrunkFailure(does, frozenset())
    known = {(*step.after, step.input) for step in passed}
    return ShrunkFailure(does, frozenset(_deviations(oracle, events, issue, known)))


def one_defect(failures: Sequence[ShrunkFailure]) -> dict[int, int]:
    """Return the failures that are explained by the same step as an earlier one, which they are to count with.

    >>> lost = Deviation("Leave", frozenset({"Send", "List"}))
    >>> one_defect([ShrunkFailure("Send", frozenset({lost})), ShrunkFailure("List", frozenset({lost}))])
    {1: 0}
    """
    steps = defaultdict[str, list[int]](list)
    for at, failure in enumerate(failures):
        for does in dict.fromkeys(each.does for each in failure.deviations):
            steps[does].append(at)
    found = dict[int, int]()
    for does, members in sorted(steps.items(), key=lambda each: (-len(each[1]), each[0])):
        left = [at for at in members if at not in found and at not in found.values()]
        fails = {failures[at].does for at in members}
        together = [at for at in left if _is_shown(failures[at], does, fails)]
        found.update(dict.fromkeys(together[1:], together[0]) if together else {})
    return dict(sorted(found.items()))


def _is_shown(failure: ShrunkFailure, does: str, fails: Container[str]) -> bool:
    shown = [each.shown_by for each in failure.deviations if each.does == does]
    return any(sum(name in fails for name in each) >= MOST * len(each) for each in shown)


def _deviations(
    oracle: Oracle, events: Sequence[Event], issue: Issue, passed: Container[tuple[str, str, str]]
) -> Iterator[Deviation]:
    sent = [at for at, event in enumerate(events) if isinstance(event, Sent)]
    seen = list[Node]()
    for number, step in enumerate(issue.steps[:-1]):
        if len(step.nodes) != 1 or len(step.target) != 1:
            return
        (before,), (right,), inp = step.nodes, step.target, show(step.input.value)
        seen.append(before)
        rest = events[sent[number + 1] :]
        for node in _candidates(oracle, before, seen):
            if node is not right and _explains(oracle, node, rest):
                told = [show(each.value) for each in _told_apart(oracle, right, node)]
                if not any((show(before.value), inp, each) in passed for each in told):
                    yield Deviation(head(inp), frozenset(map(head, told)))


def _candidates(oracle: Oracle, before: Node, seen: Sequence[Node]) -> list[Node]:
    """Return the states in which the system may be instead: one of those before, or where another input leads."""
    model, found = oracle.model, dict.fromkeys(reversed(seen))
    for inp in model.offered(before).all[:INPUTS]:
        found.update((move.target, None) for move in model.moves(before, inp) if move.target is not None)
    return [*found][:STATES]


def _explains(oracle: Oracle, node: Node, events: Sequence[Event]) -> bool:
    monitor = Monitor(oracle, oracle.anywhere([node], Span(-FOREVER, 0.0)))
    return all(monitor.tell(event) is None for event in events) and not monitor.end().failed


def _told_apart(oracle: Oracle, right: Node, wrong: Node) -> Iterator[Symbol]:
    model = oracle.model
    for inp in model.offered(right).all[:INPUTS]:
        one, other = ({move.texts for move in model.moves(node, inp)} for node in (right, wrong))
        if one != other and one and other:
            yield inp
