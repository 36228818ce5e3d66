"""The search that is guided by the model: the best so far, what is known, and when to give up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable
from enum import Enum, auto
from typing import Final, TypeAlias

from otf.shrink.evidence import Evidence
from otf.shrink.issue import Candidate, Issue, ModelStep, NodeSet
from otf.shrink.plan import StepPlan
from otf.shrink.traits import Trait, Traits, kind
from otf.shrink.ways import ModelMap

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


class ShrinkSearch:
    """What all means of the search share."""

    def __init__(self, issue: Issue, ways: ModelMap) -> None:
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
    def last(self) -> ModelStep:
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

    def attempt(self, steps: Iterable[ModelStep], *, simpler: bool = False) -> Attempt:
        """Try a candidate if it is worth a run: shorter, or (if asked) as long and simpler, and not known to pass."""
        walk = self._cut(self.ways.along(steps))
        if not walk or not self._better(walk, simpler=simpler) or self.evidence.passes(walk):
            return Came.SPARED
        self.spent[self._means] += len(walk)
        answer = yield StepPlan(walk, self.ways)
        return self._note(walk, answer)

    def fails(self, steps: Iterable[ModelStep], *, simpler: bool = False) -> Attempts:
        """Try a candidate; tell whether it is the best now."""
        return (yield from self.attempt(steps, simpler=simpler)) is Came.FAILED

    def rank(self, steps: Iterable[ModelStep]) -> int:
        """Return how simple inputs are: their places in the order in which the model offers them, summed up."""
        return sum(self.node(step) for step in steps)

    def bears(self, step: ModelStep) -> bool:
        """Tell whether a step can fail as the issue does; its signature holds the same types."""
        return (
            self.traits.label(step) == self.traits.label(self.last) if step.nodes else kind(step.input) in self.wanted
        )

    @property
    def wanted(self) -> frozenset[Trait]:
        """Return what a step has that does the same kind of thing as the one that fails."""
        return self.traits.coarse(self.last)

    def _cut(self, walk: tuple[ModelStep, ...]) -> tuple[ModelStep, ...]:
        end = len(walk)
        while end and not self.bears(walk[end - 1]):
            end -= 1
        return walk[:end]

    def _better(self, walk: tuple[ModelStep, ...], *, simpler: bool) -> bool:
        if len(walk) != len(self.best):
            return len(walk) < len(self.best)
        return simpler and self.rank(walk) < self.rank(self.best.steps)

    def _note(self, walk: tuple[ModelStep, ...], answer: Issue | None) -> Came:
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

    def node(self, step: ModelStep) -> int:
        """Return how simple an input is: its place in the order in which the model offers them there."""
        offered: tuple[object, ...] = self.ways.enabled_inputs(step.nodes)
        return offered.index(step.input) if step.input in offered else len(offered)


def joined(ways: ModelMap, goals: Iterable[ModelStep], nodes: NodeSet | None = None) -> tuple[ModelStep, ...]:
    """Return the goals with the shortest ways between them, from the start if no node is given; empty where none is."""
    here, walk = ways.start if nodes is None else nodes, list[ModelStep]()
    for goal in goals:
        way = ways.path(here, goal.nodes) if goal.nodes else ()
        if way is None:
            return ()
        walk += [*way, goal]
        here = goal.target
    return tuple(walk)
