"""Delta debugging: ever smaller parts, and what is left without them.

Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2), 2002, the algorithm ddmin.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Final

from otf.core import Chooser, InputMode, Oracle, Symbol
from otf.shrink.issue import AllowedInputs, Candidate, Issue, ModelStep, NodeSet, Shrinking, inputs
from otf.shrink.traits import kind
from otf.strategy import Pool, Uniform


def ddmin(issue: Issue) -> Shrinking:
    """Yield each of n parts of the issue, then each complement; n is 2 at first and doubled when none of them fails."""
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
    """Yield the issue without each of its cycles in turn; after each success the cycles of what is left."""
    while True:
        smaller = yield from _first_cycle(issue)
        if smaller is None:
            return issue
        issue = smaller


def _first_cycle(issue: Issue) -> Generator[Candidate, Issue | None, Issue | None]:
    for begin, end in _largest_first(issue.steps):
        smaller = yield inputs(issue.steps[:begin], issue.steps[end:])
        if smaller is not None:
            return smaller
    return None


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


TRACES: Final = 100  # for each length, as the paper's tool does by default


@dataclass(frozen=True, slots=True)
class Wander:
    """A random run of at most this length."""

    seed: int
    limit: int
    mode: InputMode

    def chooser(self) -> Chooser:
        """Return what chooses its inputs in one run."""
        return Uniform(Pool(self.mode, Random(self.seed)))


def halving(issue: Issue, random: Random, mode: InputMode) -> Shrinking:
    """Yield random runs: half as long as the last that failed, or half-way between that and what is too short."""
    too_short = 0
    while len(issue) - too_short > 1:
        length = (len(issue) + too_short) // 2
        found = yield from _random_runs(length, random, mode)
        if found is None:
            too_short = length
        else:
            issue = found
    return issue


def _random_runs(length: int, random: Random, mode: InputMode) -> Generator[Candidate, Issue | None, Issue | None]:
    for _ in range(TRACES):
        found = yield Wander(random.getrandbits(64), length, mode)
        if found is not None:
            return found
    return None


PARTS = 3


def partial(issue: Issue, oracle: Oracle) -> Shrinking:
    """Yield parts of the issue, of what fails of them again parts, and so on; then its elements; then its values."""
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
    for inp in dict.fromkeys(inp for node in step.nodes for inp in oracle.model.offers(node)):
        if inp == step.input:
            return
        if kind(inp) == kind(step.input):
            yield inp
