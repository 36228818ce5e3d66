"""The algorithms of others, to compare with: ddmin, cycle and element elimination, halving, and three phases.

Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2), 2002, has ddmin. Koopman,
Achten and Plasmeijer, "Model-Based Shrinking for State Based Testing", has halving (section 3, their tool before), the
elimination of elements (5.1 and 6.1) and of cycles (5.2 and 6.3). kiri-check, "Stateful testing", section "Shrinking",
has the three phases.

In Koopman's paper a candidate ends where the model does not specify its next input (section 4, `Truncate`), so that
nothing can be left out of a cycle that is needed. By default such an input is skipped here, and with it goes the rest
of the cycle.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Final

from otf.core import Chooser, InputMode, Oracle, Symbol
from otf.shrink.issue import AllowedInputs, Candidate, Issue, ModelStep, NodeSet, Shrinking, inputs, kind
from otf.strategy import Pool, Uniform

TRACES: Final = 100  # random runs of each length: the default of the paper's tool
PARTS = 3


def ddmin(issue: Issue) -> Shrinking:
    """Yield each of n parts of the issue, then each complement; n is 2 at first, and doubles when none fails."""
    parts = 2
    while len(issue) > 1:
        parts = min(parts, len(issue))
        smaller = yield from _first_failing(_pieces(issue.steps, parts))
        rest = None if smaller else (yield from _first_failing(_rests(issue.steps, parts)))
        if smaller is None and rest is None and parts == len(issue):
            return issue
        parts = 2 if smaller else max(parts - 1, 2) if rest else 2 * parts
        issue = smaller or rest or issue
    return issue


def _first_failing(candidates: Iterator[Candidate]) -> Generator[Candidate, Issue | None, Issue | None]:
    for candidate in candidates:
        smaller = yield candidate
        if smaller is not None:
            return smaller
    return None


def _pieces(steps: tuple[ModelStep, ...], parts: int) -> Iterator[Candidate]:
    for begin, end in _bounds(len(steps), parts):
        yield inputs(steps[begin:end])


def _rests(steps: tuple[ModelStep, ...], parts: int) -> Iterator[Candidate]:
    for begin, end in _bounds(len(steps), parts):
        yield inputs(steps[:begin], steps[end:])


def _bounds(length: int, parts: int) -> Iterator[tuple[int, int]]:
    marks = [length * part // parts for part in range(parts + 1)]
    return pairwise(marks)


def cycles(issue: Issue) -> Shrinking:
    """Yield the issue without each of its cycles in turn, the largest first; after a success, those of what is left.

    A cycle leads from a state of the model back to it.
    """
    while True:
        smaller = yield from _first_failing(
            inputs(issue.steps[:begin], issue.steps[end:]) for begin, end in _largest_first(issue.steps)
        )
        if smaller is None:
            return issue
        issue = smaller


def _largest_first(steps: tuple[ModelStep, ...]) -> list[tuple[int, int]]:
    return sorted(_cycles(steps), key=lambda cycle: (cycle[0] - cycle[1], cycle[0]))


def _cycles(steps: tuple[ModelStep, ...]) -> Iterator[tuple[int, int]]:
    at: dict[NodeSet, list[int]] = {}
    for index, step in enumerate(steps):
        for begin in at.setdefault(step.nodes, []):
            yield begin, index
        at[step.nodes].append(index)


def elements(issue: Issue, *, truncates: bool = False) -> Shrinking:
    """Yield the issue without each of its inputs in turn, until none can be left out any more.

    With `truncates` candidates end as those of the paper do. One pass goes from left to right: inputs that become
    superfluous behind it are found by the next.
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


@dataclass(frozen=True, slots=True)
class Wander:
    """A candidate: a random run of at most this length."""

    seed: int
    limit: int
    mode: InputMode

    def chooser(self) -> Chooser:
        """Return what chooses its inputs in one run."""
        return Uniform(Pool(self.mode, Random(self.seed)))


def halving(issue: Issue, random: Random, mode: InputMode) -> Shrinking:
    """Yield random runs half as long as the last that failed, or half-way between that and a length that passed."""
    too_short = 0
    while len(issue) - too_short > 1:
        length = (len(issue) + too_short) // 2
        found = yield from _first_failing(Wander(random.getrandbits(64), length, mode) for _ in range(TRACES))
        if found is None:
            too_short = length
        else:
            issue = found
    return issue


def partial(issue: Issue, oracle: Oracle) -> Shrinking:
    """Yield thirds of the issue as long as one fails; then it without single inputs; then with simpler values."""
    while (smaller := (yield from _failing_third(issue))) is not None:
        issue = smaller
    issue = yield from elements(issue)
    return (yield from _simpler_values(issue, oracle))


def _failing_third(issue: Issue) -> Generator[Candidate, Issue | None, Issue | None]:
    marks = [len(issue) * part // PARTS for part in range(PARTS + 1)]
    for begin, end in pairwise(marks):
        if 0 < end - begin < len(issue):
            smaller = yield inputs(issue.steps[begin:end])
            if smaller is not None:
                return smaller
    return None


def _simpler_values(issue: Issue, oracle: Oracle) -> Shrinking:
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
