"""What passed before a failure: evidence for telling failures apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from otf.core import Oracle
from otf.shrink import issue_of
from otf.trace.events import Event, Seen, Sent
from otf.trace.kinds import PassedStep
from otf.values import show

LONGEST: Final = 2_000  # inputs of a path whose steps are evidence: following a longer one again takes a second
LAST: Final = 200  # of its steps


def passed_steps(oracle: Oracle, events: Sequence[Event]) -> Iterator[PassedStep]:
    """Yield the last steps of a failing path that passed, where the state before was certain."""
    answers = list[list[str]]()
    for event in events:
        if isinstance(event, Sent):
            answers.append([])
        elif isinstance(event, Seen) and answers:
            answers[-1].append(show(event.output))
    if len(answers) > LONGEST:
        return
    for step, outputs in list(zip(issue_of(oracle, events).steps[:-1], answers, strict=False))[-LAST:]:
        if len(step.nodes) == 1:
            (node,) = step.nodes
            yield PassedStep(show(node.value), show(step.input.value), ", ".join(outputs))
