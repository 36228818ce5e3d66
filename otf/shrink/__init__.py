"""Shrinking: from a failing run of thousands of steps to the few that matter, by one of the `ALGORITHMS`.

A search is a generator: it yields candidates, and is sent the issue that each candidate showed, or None if it passed.
It does no I/O, so that live and simulated shrinking share all code. Whichever is chosen, no candidate is tried twice.

The default knows the model: it makes a first guess, and then ever less of it. The order of its means is what
measurements favoured; docs/topics-shrinking.md has the tables.

- `issue`: failing runs, candidates, and which transitions are alike; `plan`: candidates that replan while they run,
  several at a time, and how often to run each
- `classical`: the algorithms of others
- our own: `ladder` makes the first guess; `goals` and `values` make less of it. They share `search` (the best so far,
  what passed already, when to give up) and `ways` (the model as a map)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

from otf.core import InputMode, Oracle
from otf.errors import UsageError
from otf.shrink.classical import cycles, ddmin, elements, halving, partial
from otf.shrink.goals import bypassed, fewer_goals, replanned, without_chunks, without_parts
from otf.shrink.issue import AllowedInputs, Candidate, Issue, ModelStep, PausingSearch, Shrinking, issue_of, unpaused
from otf.shrink.ladder import climb
from otf.shrink.plan import Ahead, StepPlan, again, repeats
from otf.shrink.search import Attempts, ShrinkSearch
from otf.shrink.values import fewer_bytes, renamed, simplified, uniform
from otf.shrink.ways import ModelMap
from otf.strategy.pool import PlanPatience, endless
from otf.trace.verdict import Signature

BEST: Final = "model"
"""The name of the default algorithm, which knows the model."""


def once(search: PausingSearch) -> PausingSearch:
    """Yield the candidates of a search, each only once; a repeated one counts as passed.

    A candidate that failed was adopted, and a search never goes back to a longer one.
    """
    tried: set[Candidate] = set()
    answer: Issue | None = None
    try:
        candidate = next(search)
        while True:
            if candidate is not None and candidate in tried:
                answer = None
            else:
                if candidate is not None:
                    tried.add(candidate)
                answer = yield candidate
            candidate = search.send(answer)
    except StopIteration as done:
        result: Issue = done.value
        return result


def only(search: Shrinking, signature: Signature | None) -> Shrinking:
    """Hide failures with another signature from a search: the shorter trace must be of the same bug."""
    try:
        candidate = next(search)
        while True:
            answer = yield candidate
            candidate = search.send(answer if answer is not None and answer.signature == signature else None)
    except StopIteration as done:
        result: Issue = done.value
        return result


@dataclass(frozen=True, slots=True)
class Setting:
    """What an algorithm needs besides the issue: the oracle, which inputs are enabled (`mode`), and a seed.

    `patience` bounds the time in which a run plans while its system waits for the next input.

    >>> from otf.core import Model
    >>> from otf.spec import Spec, goto
    >>> Setting(Oracle(Model(Spec(lambda state, inp: [goto(state)], 0, ["press"])))).mode
    'uioco'
    """

    oracle: Oracle
    mode: InputMode = "uioco"
    seed: int = 0
    patience: PlanPatience = endless


MEANS: Final[tuple[Callable[[ShrinkSearch], Attempts], ...]] = (
    fewer_goals,
    uniform,
    replanned,
    without_chunks,
    without_parts,
    bypassed,
    renamed,
    simplified,
    fewer_bytes,
)


def modelled(issue: Issue, setting: Setting) -> PausingSearch:
    """Yield guesses until one fails; then use each means in turn, as long as one of them finds less."""
    if not issue.steps:  # it failed before any input
        return issue
    search = ShrinkSearch(issue, ModelMap(setting.oracle, setting.patience))
    yield from climb(search)
    best = None
    while search.best is not best:
        best = search.best
        for means in MEANS:
            yield from means(search)
    return search.best


Algorithm = Callable[[Issue, Setting], PausingSearch]


def _both(issue: Issue, *, truncates: bool = False) -> Shrinking:
    issue = yield from cycles(issue)
    return (yield from elements(issue, truncates=truncates))


ALGORITHMS: Final[Mapping[str, Algorithm]] = {
    BEST: modelled,
    "halving": lambda issue, setting: only(halving(issue, Random(setting.seed), setting.mode), issue.signature),
    "elements": lambda issue, _setting: only(elements(issue), issue.signature),
    "elements-truncated": lambda issue, _setting: only(elements(issue, truncates=True), issue.signature),
    "cycles": lambda issue, _setting: only(cycles(issue), issue.signature),
    "cycles+elements": lambda issue, _setting: only(_both(issue), issue.signature),
    "cycles+elements-truncated": lambda issue, _setting: only(_both(issue, truncates=True), issue.signature),
    "partial": lambda issue, setting: only(partial(issue, setting.oracle), issue.signature),
    "ddmin": lambda issue, _setting: only(ddmin(issue), issue.signature),
}
"""The algorithms by name, each a function from an issue and a `Setting` to a search."""


def shrinking(issue: Issue, setting: Setting, algorithm: str = BEST) -> Shrinking:
    """Return the search for a shorter issue by one of `ALGORITHMS`. Raises UsageError for another name.

    The search yields candidates: run each, and send the issue that it showed, None if it passed. A system that fails
    whenever "press" was sent needs one input:

    >>> from otf.core import Model, Oracle
    >>> from otf.shrink import Issue, issue_of
    >>> from otf.simulate import Walk
    >>> from otf.spec import Spec, goto
    >>> from otf.strategy import Script
    >>> spec = Spec(lambda state, inp: [goto(state)], 0, ["wait", "press"])
    >>> oracle = Oracle(Model(spec))
    >>> def run(chooser, limit):
    ...     walk = Walk(oracle, lambda inp: ("bang",) if inp == "press" else ())
    ...     walk.chosen(chooser, limit) or walk.end()
    ...     found = issue_of(oracle, walk.events())
    ...     return found if found.signature else None
    >>> issue = run(Script(["wait", "wait", "press"]), 3)
    >>> search = shrinking(issue, Setting(oracle), "elements")
    >>> try:
    ...     candidate = next(search)
    ...     while True: candidate = search.send(run(candidate.chooser(), candidate.limit))
    ... except StopIteration as done:
    ...     [symbol.value for symbol in done.value.inputs]
    ['press']
    """
    return unpaused(pausing(issue, setting, algorithm))


def pausing(issue: Issue, setting: Setting, algorithm: str = BEST) -> PausingSearch:
    """Return the same search with pauses, in which other work may be done. Raises UsageError for another name.

    >>> from otf.core import Model, Oracle
    >>> from otf.shrink import Issue
    >>> from otf.spec import Spec, goto
    >>> oracle = Oracle(Model(Spec(lambda state, inp: [goto(state)], 0, ["press"])))
    >>> list(pausing(Issue(()), Setting(oracle)))
    []
    """
    if algorithm not in ALGORITHMS:
        message = f"there is no algorithm {algorithm!r}; there are {', '.join(ALGORITHMS)}"
        raise UsageError(message)
    return once(ALGORITHMS[algorithm](issue, setting))


__all__ = [
    "ALGORITHMS",
    "BEST",
    "Ahead",
    "AllowedInputs",
    "Candidate",
    "Issue",
    "ModelStep",
    "PausingSearch",
    "Setting",
    "Shrinking",
    "StepPlan",
    "again",
    "issue_of",
    "pausing",
    "repeats",
    "shrinking",
]
