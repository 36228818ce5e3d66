"""Simulated shrinking: candidates run against a system in this process, and are judged as a live run is."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TypeAlias

from otf.core import Chooser, Oracle
from otf.core.walk import Act, Walk
from otf.shrink import Algorithm, Setting, by_model, shrinking
from otf.shrink.issue import Candidate, Issue, issue_of


@dataclass(slots=True)
class Simulated:
    """A system of which `make` returns fresh copies; `lengths` has the number of inputs of each run so far."""

    oracle: Oracle
    make: Callable[[], Act]
    lengths: list[int] = field(default_factory=list[int])

    def shows(self, candidate: Candidate) -> Issue | None:
        """Return the issue that a candidate shows, None if it passes."""
        return self.run(candidate.chooser(), candidate.limit)

    def run(self, chooser: Chooser, steps: int) -> Issue | None:
        """Return the issue of a run of at most `steps` inputs, None if it passes."""
        walk = Walk(self.oracle, self.make())
        verdict = walk.chosen(chooser, steps) or walk.end()
        self.lengths.append(walk.steps)
        return issue_of(self.oracle, walk.events()) if verdict.failed else None


Unpaused: TypeAlias = Generator[Candidate, Issue | None, Issue]
"""A search without pauses."""


def unpaused(issue: Issue, setting: Setting, algorithm: Algorithm = by_model) -> Unpaused:
    """Yield the candidates of a search without its pauses."""
    search = shrinking(issue, setting, algorithm)
    answer: Issue | None = None
    try:
        while True:
            candidate = search.send(answer)
            answer = None if candidate is None else (yield candidate)
    except StopIteration as done:
        result: Issue = done.value
        return result


def drive(search: Unpaused, shows: Callable[[Candidate], Issue | None]) -> Issue:
    """Return the result of a search whose candidates are judged by `shows`."""
    try:
        candidate = next(search)
        while True:
            candidate = search.send(shows(candidate))
    except StopIteration as done:
        result: Issue = done.value
        return result
