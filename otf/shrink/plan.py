"""How candidates run: replanning where the system leaves their steps, several at a time, and each often enough.

With several at a time, the search goes on as if the candidates not judged yet had passed. Most candidates pass, so it
wins most of these bets. After failures in a row, it bets that the next one fails as expected. A search cannot go back:
after a lost bet, a new search replays the answers so far. That takes the tester's time, but none of the system's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil, log
from typing import Final

from otf.core import Chooser, Oracle, Symbol, View
from otf.core.burst import Joins
from otf.shrink.issue import (
    AllowedInputs,
    Candidate,
    Issue,
    ModelStep,
    NodeSet,
    Shrinking,
    Thinking,
    completed,
    counterpart,
    meets,
)
from otf.shrink.shortest_ways import ModelMap, ModelSteps
from otf.strategy.pool import PlanPatience, endless
from otf.strategy.renames import Renames

SPARE: Final = 20  # inputs for detours, in addition to two for each step


@dataclass(frozen=True, slots=True)
class StepPlan:
    """A candidate that takes given `steps`, each in the states where the failing path took it.

    The `ways` are a map of the model, on which the candidate finds the shortest inputs from one step to the next. If
    the system answers differently than planned, the candidate plans again. The `limit` of a plan leaves room for
    additional inputs, which a new plan may need.

    >>> from otf.core import Model, Oracle
    >>> from otf.shrink.shortest_ways import ModelMap
    >>> from otf.spec import Spec, goto
    >>> ways = ModelMap(Oracle(Model(Spec(lambda lit, inp: [goto(not lit)], False, ["press"]))))
    >>> StepPlan(ways.steps(ways.start), ways).limit
    23
    """

    steps: ModelSteps
    ways: ModelMap = field(compare=False)

    @property
    def limit(self) -> int:
        """Return the largest number of inputs that the candidate sends.

        A plan that sends inputs at once makes no detours.
        """
        return len(self.steps) if meets(self.steps) else 3 * len(self.steps) + SPARE

    @property
    def least(self) -> int:
        """Return the number of inputs that a candidate must send before a pass proves anything."""
        return len(self.steps)

    def chooser(self) -> Chooser:
        """Return a new chooser, which chooses the inputs while the candidate runs."""
        return _Following(self)


def again(issue: Issue, oracle: Oracle, patience: PlanPatience = endless) -> Candidate:
    """Return the candidate that repeats a failing path with the same inputs.

    If the system answers differently than before, the candidate plans a detour, as a `StepPlan` does. In a model with
    times, the candidate makes no detour, because a detour takes time and so changes the path. `patience` limits how
    long the system waits while the candidate plans.

    >>> from otf.core import Model, Oracle, Symbol
    >>> from otf.shrink import Issue, ModelStep
    >>> from otf.spec import Spec, goto
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit)], False, ["press"])))
    >>> node, press = oracle.model.initial, oracle.model.symbol("press")
    >>> again(Issue((ModelStep(frozenset([node]), press),)), oracle).limit
    1
    """
    ways = ModelMap(oracle, patience)
    if not meets(issue.steps) and (oracle.model.timed or not any(ways.open(step) for step in issue.steps)):
        return AllowedInputs(issue.inputs)
    ways.learn(issue.steps)
    return StepPlan(ways.clean(issue.steps), ways)


def joins(chooser: Chooser) -> Joins:
    """Return a function that says whether otf sends the last input of a plan at once with the input before it.

    >>> joins(AllowedInputs(()).chooser())(2, [], None)
    False
    """
    return lambda _number, _given, _another: isinstance(chooser, _Following) and chooser.joins


class _Following:
    """The chooser of a plan. It repeats a step that led elsewhere, since that may be the one that matters.

    `joins`: the last chosen input is sent at once with the one before it.
    """

    def __init__(self, plan: StepPlan) -> None:
        self._steps = plan.steps
        self._ways = plan.ways.for_runs()
        self._over = plan.ways.patience()
        # with timers, a detour would let time pass, and lead elsewhere for that reason
        self._spare = 0 if plan.ways.model.timed else plan.limit - len(plan.steps)
        self._at = 0
        self._given: ModelStep | None = None
        self._burst = 0
        self.joins: bool = False
        self.names: Renames | None = None

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None at the end of the plan."""
        here = frozenset(view.places)
        if self.names is not None:
            self._spare = 0  # states with names that the system chose never recur, so no detour leads there
        self._over = self._ways.patience()
        self._look_back(here)
        while self._at < len(self._steps):
            step = self._steps[self._at]
            inp = self._detour(here, step.nodes)
            if inp is None:
                inp, self._given = step.input if self.names is None else self.names.now(step.input, view), step
                self._at += 1
            fitting = inp if view.allows(inp) else self._alike(view, step)
            if fitting is not None:
                burst = 0 if self._given is None else self._given.burst
                self.joins, self._burst = 0 < burst == self._burst, burst
                return fitting
            self._given = None
        return None

    def _alike(self, view: View, step: ModelStep) -> Symbol | None:
        """Return the enabled input that corresponds to the step's, if the system has chosen other names."""
        then = self._ways.enabled_inputs(step.nodes)
        inp = counterpart(step.input, then if step.input in then else [step.input], view.specified)
        return inp if view.allows(inp) else None

    def _look_back(self, here: NodeSet) -> None:
        given, self._given = self._given, None
        if given is not None and self._spare and not _meet(here, given.target) and self._reach(here, given.nodes):
            self._spare -= 1
            self._at -= 1

    def _detour(self, here: NodeSet, nodes: NodeSet) -> Symbol | None:
        """Return the first input of the way to the nodes; None if there is no way, or if they are reached."""
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


CONFIDENCE: Final = 0.95
ROW: Final = 2  # failures in a row after which the next candidate is expected to fail too
MOST: Final = 50  # runs; for a failure rarer than one in seventeen runs, the confidence is lower


def after(original: Candidate, issue: Issue, search: Shrinking) -> Shrinking:
    """Yield the original first, and the candidates of the search only if it shows its issue's failure again."""
    answer = yield original
    if answer is None or answer.signature != issue.signature:
        return issue
    return (yield from search)


class Ahead:
    """Yields several candidates of a search at a time, so that a caller can run these candidates in parallel.

    `make` returns the search, and must return an equal search on each call. To get the next candidate before the
    earlier candidates have ended, `Ahead` guesses the results of the earlier candidates. `expected` returns the issue
    that a failing candidate most likely shows. `fails` is a candidate that most likely fails. The `bets` are the
    guessed results, one for each unfinished candidate except the last.

    >>> from otf.core import Symbol
    >>> from otf.shrink import AllowedInputs, Issue
    >>> def search():
    ...     for length in (3, 2, 1): yield AllowedInputs((Symbol("press", "press"),) * length)
    ...     return Issue(())
    >>> ahead = Ahead(search)
    >>> [candidate.limit for candidate in ahead.candidates(2)]
    [3, 2]
    >>> ahead.tell(None)
    >>> [candidate.limit for candidate in ahead.candidates(2)], ahead.done
    ([2, 1], False)
    """

    def __init__(
        self,
        make: Callable[[], Shrinking],
        expected: Callable[[Candidate], Issue | None] | None = None,
        fails: Candidate | None = None,
    ) -> None:
        self._make = make
        self._expected = expected
        self._fails = fails
        self.bets: list[Issue | None] = []
        self._search = make()
        self._answers: list[Issue | None] = []
        self._asked = deque[Candidate]()
        self._to_send = deque[Issue | None]([None])  # a search is started with None
        self._over = False

    @property
    def done(self) -> bool:
        """Return whether the search has ended and the caller has judged every candidate."""
        return self._over and not self._asked

    def candidates(self, most: int) -> list[Candidate]:
        """Return at most `most` candidates; the next call of `tell` judges the first of them."""
        return completed(self.upcoming(most))

    def upcoming(self, most: int) -> Thinking[list[Candidate]]:
        """Return the result of `candidates` as a generator, which pauses while it computes."""
        while len(self._asked) < most and not self._over:
            if not self._to_send:
                bet = self._bet() if self._asked else None
                self.bets += [bet] * bool(self._asked)
                self._to_send.append(bet)
            yield from self._forward(self._to_send.popleft())
        return [*self._asked][:most]

    def tell(self, answer: Issue | None) -> None:
        """Judge the next candidate.

        `answer` is the issue that the candidate showed, or None if the candidate passed.
        """
        self._answers.append(answer)
        self._asked.popleft()
        if not self.bets:
            self._to_send.append(answer)
        elif self.bets.pop(0) != answer:
            self._asked.clear()
            self.bets.clear()
            self._over = False
            self._search = self._make()
            self._to_send.extend([None, *self._answers])

    def _bet(self) -> Issue | None:
        last, candidate = self._answers[-ROW:], self._asked[-1]
        fails = candidate is self._fails or (len(last) == ROW and None not in last)
        return self._expected(candidate) if fails and self._expected is not None else None

    def _forward(self, answer: Issue | None) -> Thinking[None]:
        """Send an answer to the search; run its next candidate, unless the answer to that is known."""
        try:
            candidate = self._search.send(answer)
            while candidate is None:
                yield None
                candidate = self._search.send(None)
        except StopIteration:
            self._over = True
        else:
            if not self._to_send:
                self._asked.append(candidate)


def repeats(rate: float) -> int:
    """Return how often to repeat a path so that a failure with this `rate` shows with 95 % confidence; 50 at most.

    For example, if a failure shows in half of all repetitions, five passes in a row rule the failure out.

    >>> repeats(1.0), repeats(0.5), repeats(0.1)
    (1, 5, 29)
    """
    if rate >= 1:
        return 1
    return min(MOST, ceil(log(1 - CONFIDENCE) / log(1 - rate))) if rate > 0 else MOST
