"""The shrinking algorithms of others, to compare with: ddmin, cycle and element elimination, halving, and three phases.

Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2), 2002, has ddmin. Koopman,
Achten and Plasmeijer, "Model-Based Shrinking for State Based Testing", has halving (section 3, their tool before), the
elimination of elements (5.1 and 6.1) and of cycles (5.2 and 6.3). kiri-check, "Stateful testing", section "Shrinking",
has the three phases.

In Koopman's paper a candidate ends where the model does not specify its next input (section 4, `Truncate`), so that
nothing can be left out of a cycle that is needed. By default such an input is skipped here, and with it goes the rest
of the cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Final

from benchmarks.shrink_simulated import Unpaused
from otf.core import Chooser, InputMode, Oracle, Symbol, View
from otf.shrink import Algorithm, AllowedInputs, Candidate, Issue, ModelStep, by_model
from otf.shrink.issue import NodeSet, kind
from otf.strategy import Pool, Script, Uniform
from otf.trace.verdict import Signature

TRACES: Final = 100  # random runs of each length: the default of the paper's tool
PARTS: Final = 3
OWN: Final = "model"
"""The name under which otf's own algorithm is compared with these."""


def algorithms(mode: InputMode = "uioco", seed: int = 0) -> dict[str, Algorithm]:
    """Return otf's algorithm and those of others by name; halving draws inputs that are enabled in a mode."""
    found = {
        "halving": lambda issue, _oracle: halving(issue, Random(seed), mode),
        "elements": lambda issue, _oracle: elements(issue),
        "elements-truncated": lambda issue, _oracle: elements(issue, truncates=True),
        "cycles": lambda issue, _oracle: cycles(issue),
        "cycles+elements": lambda issue, _oracle: _both(issue),
        "cycles+elements-truncated": lambda issue, _oracle: _both(issue, truncates=True),
        "partial": partial,
        "ddmin": lambda issue, _oracle: ddmin(issue),
    }
    return {OWN: by_model} | {name: _of_one_failure(search) for name, search in found.items()}


def _of_one_failure(search: Callable[[Issue, Oracle], Unpaused]) -> Algorithm:
    return lambda issue, setting: only(search(issue, setting.oracle), issue.signature)


def only(search: Unpaused, signature: Signature | None) -> Unpaused:
    """Hide failures with another signature from a search: the shorter trace must be of the same bug."""
    try:
        candidate = next(search)
        while True:
            answer = yield candidate
            candidate = search.send(answer if answer is not None and answer.signature == signature else None)
    except StopIteration as done:
        result: Issue = done.value
        return result


class TruncatedInputs(AllowedInputs):
    """The candidate that sends these inputs, and ends before the first that is not enabled, as in Koopman's paper."""

    def chooser(self) -> Chooser:
        """Return what chooses its inputs in one run."""
        return _Truncating(symbol.value for symbol in self.symbols)


class _Truncating(Script):
    def choose(self, view: View) -> Symbol | None:
        symbol = super().choose(view)
        return None if self.skipped else symbol


def inputs(*parts: Iterable[ModelStep], truncates: bool = False) -> AllowedInputs:
    """Return the candidate that sends the inputs of these steps."""
    symbols = tuple(step.input for part in parts for step in part)
    return TruncatedInputs(symbols) if truncates else AllowedInputs(symbols)


def _both(issue: Issue, *, truncates: bool = False) -> Unpaused:
    issue = yield from cycles(issue)
    return (yield from elements(issue, truncates=truncates))


def ddmin(issue: Issue) -> Unpaused:
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


def cycles(issue: Issue) -> Unpaused:
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


def elements(issue: Issue, *, truncates: bool = False) -> Unpaused:
    """Yield the issue without each of its inputs in turn, until none can be left out any more.

    With `truncates` candidates end as those of the paper do. One pass goes from left to right: inputs that become
    superfluous behind it are found by the next.
    """
    length = len(issue) + 1
    while len(issue) < length:
        length = len(issue)
        issue = yield from _pass(issue, truncates=truncates)
    return issue


def _pass(issue: Issue, *, truncates: bool) -> Unpaused:
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
    least: int = 0

    def chooser(self) -> Chooser:
        """Return what chooses its inputs in one run."""
        return Uniform(Pool(self.mode, Random(self.seed)))


def halving(issue: Issue, random: Random, mode: InputMode) -> Unpaused:
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


def partial(issue: Issue, oracle: Oracle) -> Unpaused:
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


def _simpler_values(issue: Issue, oracle: Oracle) -> Unpaused:
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


ALGORITHMS: Final = algorithms()
