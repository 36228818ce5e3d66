"""The algorithms by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

from otf.core import InputMode, Oracle
from otf.errors import UsageError
from otf.shrink.classical import cycles, ddmin, elements, halving, partial
from otf.shrink.goals import fewer_goals, replanned
from otf.shrink.issue import Candidate, Issue, Shrinking
from otf.shrink.ladder import climb
from otf.shrink.parts import bypassed, without_chunks, without_parts
from otf.shrink.search import Attempts, ShrinkSearch
from otf.shrink.values import renamed, simplified, uniform
from otf.shrink.ways import ModelMap
from otf.trace.verdict import Signature


def once(search: Shrinking) -> Shrinking:
    """Yield the candidates of a search, each only once; a repeated one is answered at once.

    A candidate that did fail was adopted, and a search never goes back to a longer one.
    """
    tried: set[Candidate] = set()
    answer: Issue | None = None
    try:
        candidate = next(search)
        while True:
            if candidate in tried:
                answer = None
            else:
                tried.add(candidate)
                answer = yield candidate
            candidate = search.send(answer)
    except StopIteration as done:
        result: Issue = done.value
        return result


def only(search: Shrinking, signature: Signature | None) -> Shrinking:
    """Let a search hear of one failure alone: one bug at a time, or the shorter trace is one of another bug."""
    try:
        candidate = next(search)
        while True:
            answer = yield candidate
            candidate = search.send(answer if answer is not None and answer.signature == signature else None)
    except StopIteration as done:
        result: Issue = done.value
        return result


MEANS: Final[tuple[Callable[[ShrinkSearch], Attempts], ...]] = (
    fewer_goals,
    uniform,
    replanned,
    without_chunks,
    without_parts,
    bypassed,
    renamed,
    simplified,
)


def modelled(issue: Issue, oracle: Oracle) -> Shrinking:
    """Yield a first guess after another, then each means in turn as long as one of them finds less."""
    if not issue.steps:  # it failed before any input
        return issue
    search = ShrinkSearch(issue, ModelMap(oracle))
    yield from climb(search)
    best = None
    while search.best is not best:
        best = search.best
        for means in MEANS:
            yield from means(search)
    return search.best


BEST: Final = "model"


@dataclass(frozen=True, slots=True)
class Setting:
    """What there is besides the issue: the oracle, which inputs may be offered, and a seed."""

    oracle: Oracle
    mode: InputMode = "uioco"
    seed: int = 0


Algorithm = Callable[[Issue, Setting], Shrinking]


def _both(issue: Issue, *, truncates: bool = False) -> Shrinking:
    issue = yield from cycles(issue)
    return (yield from elements(issue, truncates=truncates))


ALGORITHMS: Final[Mapping[str, Algorithm]] = {
    BEST: lambda issue, setting: modelled(issue, setting.oracle),
    "halving": lambda issue, setting: only(halving(issue, Random(setting.seed), setting.mode), issue.signature),
    "elements": lambda issue, _setting: only(elements(issue), issue.signature),
    "elements-truncated": lambda issue, _setting: only(elements(issue, truncates=True), issue.signature),
    "cycles": lambda issue, _setting: only(cycles(issue), issue.signature),
    "cycles+elements": lambda issue, _setting: only(_both(issue), issue.signature),
    "cycles+elements-truncated": lambda issue, _setting: only(_both(issue, truncates=True), issue.signature),
    "partial": lambda issue, setting: only(partial(issue, setting.oracle), issue.signature),
    "ddmin": lambda issue, _setting: only(ddmin(issue), issue.signature),
}


def shrinking(issue: Issue, setting: Setting, algorithm: str = BEST) -> Shrinking:
    """Return the shrinking of an issue by a named algorithm. Raises UsageError for a name that does not exist."""
    if algorithm not in ALGORITHMS:
        message = f"there is no algorithm {algorithm!r}; there are {', '.join(ALGORITHMS)}"
        raise UsageError(message)
    return once(ALGORITHMS[algorithm](issue, setting))
