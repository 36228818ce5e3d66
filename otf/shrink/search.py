"""The search that is guided by the model: the best so far, what is known, and when to give up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable
from enum import Enum, auto
from typing import Final, TypeAlias

from otf.shrink.evidence import Evidence
from otf.shrink.issue import Candidate, Issue, Node, Step
from otf.shrink.plan import Plan
from otf.shrink.traits import Trait, Traits, kind
from otf.shrink.ways import Ways

FEW: Final = 3
MANY: Final = 12
COST: Final = 80


class Came(Enum):
    """What came of a candidate."""

    FAILED = auto()  # as the issue does: it is the best now
    OTHERWISE = auto()  # it failed, but with another signature
    PASSED = auto()
    SPARED = auto()  # it was not run: it is no improvement, or known to pass


Attempt: TypeAlias = Generator[Candidate, Issue | None, Came]
Attempts: TypeAlias = Generator[Candidate, Issue | None, bool]


class Search:
    """What all means of the search share."""

    def __init__(self, issue: Issue, ways: Ways) -> None:
        self.best: Issue = issue
        self.ways = ways
        self.traits: Traits = Traits(ways.model)
        self.evidence: Evidence = Evidence()
        self.spent: Counter[str] = Counter()
        self._means = ""
        self._learn(issue)
        self._row = 0
        self._cost = 0

    @property
    def last(self) -> Step:
        """Return the step that fails."""
        return self.best.steps[-1]

    @property
    def tired(self) -> bool:
        """Tell whether so much passed in a row that another means shall be tried.

        Without such a cap the polish costs most of all, and for nothing: the last candidates of a search pass.
        """
        return self._row >= MANY or (self._row >= FEW and self._cost > COST + 2 * len(self.best))

    def begin(self, means: str) -> None:
        """Count anew: another means is tried. `spent` tells what each of them took altogether."""
        self._means = means
        self._row = self._cost = 0

    def attempt(self, steps: Iterable[Step], *, simpler: bool = False) -> Attempt:
        """Try a candidate if it is worth a run: shorter, or (if asked) as long and simpler, and not known to pass."""
        walk = self._cut(self.ways.along(steps))
        if not walk or not self._better(walk, simpler=simpler) or self.evidence.passes(walk):
            return Came.SPARED
        self.spent[self._means] += len(walk)
        answer = yield Plan(walk, self.ways)
        return self._note(walk, answer)

    def fails(self, steps: Iterable[Step], *, simpler: bool = False) -> Attempts:
        """Try a candidate; tell whether it is the best now."""
        return (yield from self.attempt(steps, simpler=simpler)) is Came.FAILED

    def rank(self, steps: Iterable[Step]) -> int:
        """Return how simple inputs are: their places in the order in which the model offers them, summed up."""
        return sum(self.place(step) for step in steps)

    def bears(self, step: Step) -> bool:
        """Tell whether a step can fail as the issue does; its signature holds the same types."""
        return self.traits.label(step) == self.traits.label(self.last) if step.node else kind(step.input) in self.wanted

    @property
    def wanted(self) -> frozenset[Trait]:
        """Return what a step has that does the same kind of thing as the one that fails."""
        return self.traits.coarse(self.last)

    def _cut(self, walk: tuple[Step, ...]) -> tuple[Step, ...]:
        end = len(walk)
        while end and not self.bears(walk[end - 1]):
            end -= 1
        return walk[:end]

    def _better(self, walk: tuple[Step, ...], *, simpler: bool) -> bool:
        if len(walk) != len(self.best):
            return len(walk) < len(self.best)
        return simpler and self.rank(walk) < self.rank(self.best.steps)

    def _note(self, walk: tuple[Step, ...], answer: Issue | None) -> Came:
        same = answer is not None and answer.signature == self.best.signature
        if answer is not None:
            self._learn(answer)
            run = self.ways.clean(answer.steps)
            # a run with detours may fail because of them: then it counts for what it was, not for what was planned
            if same and (len(run) <= len(walk) or len(run) < len(self.best)):
                self.best = Issue(run, answer.signature)
                self._row = self._cost = 0
                return Came.FAILED
        self._row += 1
        self._cost += len(walk)
        if answer is None:
            self.evidence.learn(walk)
        return Came.PASSED if answer is None or same else Came.OTHERWISE

    def _learn(self, issue: Issue) -> None:
        self.ways.learn(issue.steps)
        self.evidence.learn(issue.steps[:-1])

    def place(self, step: Step) -> int:
        """Return how simple an input is: its place in the order in which the model offers them there."""
        offered: tuple[object, ...] = self.ways.offers(step.node)
        return offered.index(step.input) if step.input in offered else len(offered)


def joined(ways: Ways, goals: Iterable[Step], node: Node | None = None) -> tuple[Step, ...]:
    """Return the goals with the shortest ways between them, from the start if no node is given; empty where none is."""
    here, walk = ways.start if node is None else node, list[Step]()
    for goal in goals:
        way = ways.path(here, goal.node) if goal.node else ()
        if way is None:
            return ()
        walk += [*way, goal]
        here = goal.target
    return tuple(walk)
