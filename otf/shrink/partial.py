"""Three phases: a part of the sequence that still fails, then single inputs left out, then simpler values.

kiri-check, "Stateful testing", section "Shrinking".
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import pairwise

from otf.core import Oracle, Symbol
from otf.shrink.elements import elements
from otf.shrink.inputs import AllowedInputs, inputs
from otf.shrink.issue import Candidate, Issue, ModelStep, Shrinking
from otf.shrink.traits import kind

PARTS = 3


def partial(issue: Issue, oracle: Oracle) -> Shrinking:
    """Yield parts of the issue, of what fails of them again parts, and so on; then its elements; then its values."""
    while (smaller := (yield from _part(issue))) is not None:
        issue = smaller
    issue = yield from elements(issue)
    return (yield from _values(issue, oracle))


def _part(issue: Issue) -> Generator[Candidate, Issue | None, Issue | None]:
    marks = [len(issue) * part // PARTS for part in range(PARTS + 1)]
    for begin, end in pairwise(marks):
        if 0 < end - begin < len(issue):
            smaller = yield inputs(issue.steps[begin:end])
            if smaller is not None:
                return smaller
    return None


def _values(issue: Issue, oracle: Oracle) -> Shrinking:
    at = 0
    while at < len(issue):
        for inp in _simpler(issue.steps[at], oracle):
            smaller = yield AllowedInputs((*issue.inputs[:at], inp, *issue.inputs[at + 1 :]))
            if smaller is not None:
                issue = smaller
                break
        at += 1
    return issue


def _simpler(step: ModelStep, oracle: Oracle) -> Iterator[Symbol]:
    for inp in dict.fromkeys(inp for node in step.nodes for inp in oracle.model.enabled_inputs(node)):
        if inp == step.input:
            return
        if kind(inp) == kind(step.input):
            yield inp
