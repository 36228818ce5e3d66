"""A candidate that follows steps of the model: when the system chooses another way, it plans its inputs anew."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from otf.core import Chooser, Oracle, Symbol, View
from otf.shrink.issue import AllowedInputs, Candidate, Issue, ModelStep, NodeSet
from otf.shrink.traits import kind
from otf.shrink.ways import ModelMap, ModelSteps
from otf.strategy.pool import PlanPatience, endless

SPARE: Final = 20  # inputs for detours, in addition to two for each step


@dataclass(frozen=True, slots=True)
class StepPlan:
    """The candidate that takes these steps, each in its nodes, and goes between them by the shortest ways.

    When the system chooses another way, the inputs are planned anew; `limit` has room for such detours.

    >>> from otf.core import Model, Oracle
    >>> from otf.shrink.ways import ModelMap
    >>> from otf.spec import Spec, goto
    >>> ways = ModelMap(Oracle(Model(Spec(lambda lit, inp: [goto(not lit)], False, ["press"]))))
    >>> StepPlan(ways.steps(ways.start), ways).limit
    23
    """

    steps: ModelSteps
    ways: ModelMap = field(compare=False)

    @property
    def limit(self) -> int:
        """Return the largest number of inputs that a run sends."""
        return 3 * len(self.steps) + SPARE

    def chooser(self) -> Chooser:
        """Return what chooses its inputs in one run."""
        return _Following(self)


def again(issue: Issue, oracle: Oracle, patience: PlanPatience = endless) -> Candidate:
    """Return the candidate that should show an issue again.

    It sends the same inputs; if the model leaves the system a choice on the way, it plans them as `StepPlan` does. The
    system waits for a plan no longer than its `patience`.

    >>> from otf.core import Model, Oracle, Symbol
    >>> from otf.shrink import Issue, ModelStep
    >>> from otf.spec import Spec, goto
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit)], False, ["press"])))
    >>> node, press = oracle.model.initial, oracle.model.symbol("press")
    >>> again(Issue((ModelStep(frozenset([node]), press),)), oracle).limit
    1
    """
    ways = ModelMap(oracle, patience)
    if not any(ways.open(step) for step in issue.steps):
        return AllowedInputs(issue.inputs)
    ways.learn(issue.steps)
    return StepPlan(ways.clean(issue.steps), ways)


class _Following:
    """The chooser of a plan. A step that led elsewhere is taken once more: it may be the one that matters."""

    def __init__(self, plan: StepPlan) -> None:
        self._steps = plan.steps
        self._ways = plan.ways.for_runs()
        self._over = plan.ways.patience()
        self._spare = plan.limit - len(plan.steps)
        self._at = 0
        self._given: ModelStep | None = None

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None at the end of the plan."""
        here = frozenset(view.nodes)
        self._over = self._ways.patience()
        self._look_back(here)
        while self._at < len(self._steps):
            step = self._steps[self._at]
            inp = self._detour(here, step.nodes)
            if inp is None:
                inp, self._given = step.input, step
                self._at += 1
            fitting = inp if view.allows(inp) else self._alike(view, step)
            if fitting is not None:
                return fitting
            self._given = None
        return None

    def _alike(self, view: View, step: ModelStep) -> Symbol | None:
        """Return the n-th enabled input of its kind: what the step's input is if the system chose other names."""
        now = [inp for inp in view.specified if kind(inp) == kind(step.input)]
        if not now:
            return None
        then = [inp for inp in self._ways.enabled_inputs(step.nodes) if kind(inp) == kind(step.input)]
        at = then.index(step.input) if step.input in then else 0
        return now[min(at, len(now) - 1)]

    def _look_back(self, here: NodeSet) -> None:
        given, self._given = self._given, None
        if given is not None and self._spare and not _meet(here, given.target) and self._reach(here, given.nodes):
            self._spare -= 1
            self._at -= 1

    def _detour(self, here: NodeSet, nodes: NodeSet) -> Symbol | None:
        """Return the first input of the way to the nodes, None if there is no way or they are reached."""
        if self._spare <= 0 or _meet(here, nodes):
            return None
        way = self._path(here, nodes)
        if not way:
            return None
        self._spare -= 1
        return way[0].input

    def _path(self, here: NodeSet, nodes: NodeSet) -> ModelSteps | None:
        thinking = self._ways.path(here, nodes)
        try:
            while not self._over():
                next(thinking)
        except StopIteration as done:
            way: ModelSteps | None = done.value
            return way
        return None

    def _reach(self, here: NodeSet, nodes: NodeSet) -> bool:
        return _meet(here, nodes) or self._path(here, nodes) is not None


def _meet(here: NodeSet, there: NodeSet) -> bool:
    return not there or not here.isdisjoint(there)
