"""Shrinking: from a failing path with thousands of inputs to a path with the few inputs that matter.

A search for a shorter path is a generator. The generator yields candidates, and its caller runs each candidate on the
system. The caller sends back the `Issue` that the candidate showed, or None if the candidate passed. A search does no
I/O itself, so it works with real and simulated systems. A search never yields a candidate twice.

A search makes a first guess from the model, and then makes the guess shorter step by step. docs/topics-shrinking.md
compares the search with other algorithms.

The module `issue` has failing paths and candidates, and `plan` has candidates that change their plan while they run.
The module `first_guesses` makes the first guess, and `goals` and `values` make it shorter. The module `search` keeps
the best path so far, and `shortest_ways` finds short paths in the model. The module `defects` counts the defects behind
the shrunk failures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from otf.core import Oracle
from otf.shrink.first_guesses import climb, counted, last_bursts, one_by_one
from otf.shrink.goals import bypassed, fewer_goals, replanned, without_chunks, without_kinds, without_parts
from otf.shrink.issue import AllowedInputs, Candidate, Issue, ModelStep, Shrinking, issue_of
from otf.shrink.plan import Ahead, StepPlan, again, joins, repeats
from otf.shrink.search import Attempts, ShrinkSearch
from otf.shrink.shortest_ways import ModelMap, TimeOverError
from otf.shrink.values import fewer_bytes, renamed, shrunk_by_hypothesis, simplified, uniform
from otf.strategy.pool import PlanPatience, endless


def once(search: Shrinking) -> Shrinking:
    """Yield the candidates of a search, each only once.

    If the search repeats a candidate, the search learns that the candidate passed. Nothing is lost, because the search
    adopts each candidate that fails, and never returns to a longer path.
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


@dataclass(frozen=True, slots=True)
class Setting:
    """What a search for a shorter path needs in addition to the failing path.

    The `oracle` judges outputs by the model. The `patience` limits how long a candidate plans while the system waits
    for an input. The `seed` is that of the failing path; Hypothesis uses the seed to generate and shrink values of
    inputs again. `waited` is true if a path without inputs, as long as the failing path, did not fail. When `over`
    returns true, the search raises TimeOverError.

    >>> from otf.core import Model
    >>> from otf.spec import Spec, goto
    >>> Setting(Oracle(Model(Spec(lambda state, inp: [goto(state)], 0, ["press"])))).patience is endless
    True
    """

    oracle: Oracle
    patience: PlanPatience = endless
    seed: str = ""
    waited: bool = False
    over: Callable[[], bool] = lambda: False


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
RACES: Final = (without_chunks, without_parts, one_by_one, renamed, simplified)


def by_model(issue: Issue, setting: Setting) -> Shrinking:
    """Shrink a path with the model: try first guesses, and then use each method of shortening until none helps."""
    if not issue.steps:  # it failed before any input
        return issue
    search = ShrinkSearch(issue, ModelMap(setting.oracle, setting.patience, over=setting.over))
    if not search.races:  # `otf.shrink.first_guesses` has already guessed those of a race
        yield from climb(search, waited=setting.waited)
    best = None
    # ways through timers take long to find and to run, so leave out inputs first
    means_first = (counted, without_kinds, without_chunks, without_parts) if setting.oracle.model.timed else ()
    all_means = (*means_first, *(RACES if search.races else MEANS), shrunk_by_hypothesis(setting.seed))
    while search.best is not best:
        best = search.best
        for means in all_means:
            yield from means(search)
    return search.best


Algorithm = Callable[[Issue, Setting], Shrinking]
"""A function from an issue to a search; `benchmarks.shrink_classical` has some for comparison."""


def shrinking(issue: Issue, setting: Setting, algorithm: Algorithm = by_model) -> Shrinking:
    """Return the search for a shorter path with the same failure, as a generator of candidates.

    The caller runs each candidate, and sends back the issue that the candidate showed, or None if the candidate passed.
    If the generator yields None, the caller may do other work before it goes on. In this example, the system fails
    whenever "press" is sent, so the shortest failing path has one input:

    >>> from otf.core import Model, Oracle
    >>> from otf.shrink import Issue, issue_of
    >>> from otf.core.walk import Walk
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
    >>> search = shrinking(issue, Setting(oracle))
    >>> try:
    ...     candidate = next(search)
    ...     while True: candidate = search.send(candidate and run(candidate.chooser(), candidate.limit))
    ... except StopIteration as done:
    ...     [symbol.value for symbol in done.value.inputs]
    ['press']
    """
    return once(algorithm(issue, setting))


__all__ = [
    "Ahead",
    "AllowedInputs",
    "Candidate",
    "Issue",
    "ModelStep",
    "Setting",
    "Shrinking",
    "StepPlan",
    "TimeOverError",
    "again",
    "issue_of",
    "joins",
    "last_bursts",
    "repeats",
    "shrinking",
]
