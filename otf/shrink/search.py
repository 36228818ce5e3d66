"""What all means of our own search share: the best so far, the evidence of passed runs, and when to give up.

Evidence shows which candidates need no run of their own, and which guesses are not worth one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from enum import Enum, auto
from typing import Final, TypeAlias

from otf.codec.malformed import Malformed
from otf.core import Symbol
from otf.shrink.issue import Candidate, Issue, ModelStep, NodeSet, Thinking, Trait, Traits, kind, meets
from otf.shrink.plan import StepPlan
from otf.shrink.shortest_ways import ModelMap, ModelSteps
from otf.values.strategies import simplicity

LONGEST: Final = 8  # steps of a walk to look for in the middle of runs
NodeInput: TypeAlias = tuple[NodeSet, Symbol]


class _Runs(dict[NodeInput, "_Runs"]):
    """Runs as a tree: their first steps, the steps that followed each, and so on."""

    def put(self, given: Iterable[NodeInput]) -> None:
        known = self
        for each in given:
            known = known.setdefault(each, _Runs())


class Evidence:
    """Walks that passed. The issue up to its last step is one: evidence of hundreds of transitions at no cost."""

    def __init__(self) -> None:
        self._runs = _Runs()
        self._tails = set[tuple[NodeInput, ...]]()

    def learn(self, steps: Iterable[ModelStep]) -> None:
        """Add a walk from the start that passed."""
        given = [step[:2] for step in steps]
        self._runs.put(given)
        for begin in range(len(given)):
            ends = range(begin + 1, min(len(given), begin + LONGEST) + 1)
            self._tails.update(tuple(given[begin:end]) for end in ends)

    def passes(self, steps: Iterable[ModelStep]) -> bool:
        """Return whether some run began with this walk, and did not fail there."""
        known = self._runs
        for step in steps:
            if step[:2] not in known:
                return False
            known = known[step[:2]]
        return True

    def passed(self, steps: Sequence[ModelStep]) -> bool:
        """Return whether these steps passed anywhere in a run.

        The system may have been in another state then. So this ranks guesses, but rules out no candidate made from a
        failing one.
        """
        return tuple(step[:2] for step in steps) in self._tails


class Harmless:
    """Counts each kind of transition before a step like the failing one, in runs that passed.

    A system that remembers or counts such transitions would have failed then, unless it forgets. So this only shows
    which guesses are not worth a run.
    """

    def __init__(self, traits: Traits, wanted: frozenset[Trait]) -> None:
        self._traits = traits
        self._wanted = wanted
        self._times = Counter[Trait]()

    def learn(self, steps: Iterable[ModelStep]) -> None:
        """Add a walk from the start that passed."""
        before = Counter[Trait]()
        for step in steps:
            if self._wanted <= self._traits.fine(step):
                self._times |= before
            before.update(self._traits.of(step))

    def known(self, trait: Trait, times: int) -> bool:
        """Return whether that many transitions of a kind did no harm."""
        return self._times[trait] >= times


FEW: Final = 3  # passed candidates in a row after which their cost counts
MANY: Final = 12  # passed candidates in a row that end a means
COST: Final = 80  # transitions that these may cost, besides two for each step of the best


class AttemptResult(Enum):
    """The result of trying a candidate."""

    FAILED = auto()  # with the signature of the issue: it is now the best
    OTHERWISE = auto()  # it failed with another signature
    PASSED = auto()
    SPARED = auto()  # not run: it is no improvement, or is known to pass


Attempt: TypeAlias = Generator[Candidate | None, Issue | None, AttemptResult]
Attempts: TypeAlias = Generator[Candidate | None, Issue | None, bool]


class ShrinkSearch:
    """The state of a search for a shorter path, such as the best path so far; all methods of shortening share it."""

    def __init__(self, issue: Issue, ways: ModelMap) -> None:
        self.best: Issue = issue
        # in a race, a single pass is no evidence, and a walk that sends nothing at once shows nothing
        self.races: bool = meets(issue.steps)
        self.ways = ways
        self._waits: bool = not self._hurries(issue.steps)
        self.traits: Traits = Traits(ways.model)
        self.evidence: Evidence = Evidence()
        self.harmless: Harmless = Harmless(self.traits, self.wanted)
        self.spent: Counter[str] = Counter()
        # with data in the states, all nodes on a walk are new, and asking each for its inputs costs most
        self._ranks = {inp: at for at, inp in enumerate(ways.enabled_inputs(ways.start))}
        self._means = ""
        self._learn(issue)
        self._row = 0
        self._cost = 0

    @property
    def last(self) -> ModelStep:
        """Return the failing step."""
        return self.best.steps[-1]

    @property
    def tired(self) -> bool:
        """Return whether so many candidates passed in a row that the search should try another means.

        Without such a cap the last candidates of a search, all of which pass, would cost most of all.
        """
        return self._row >= MANY or (self._row >= FEW and self._cost > COST + 2 * len(self.best))

    def begin(self, means: str) -> None:
        """Start another means: reset the counts. `spent` holds the transitions that each means took altogether."""
        self._means = means
        self._row = self._cost = 0

    def attempt(self, steps: Iterable[ModelStep], *, simpler: bool = False, as_long: bool = False) -> Attempt:
        """Try a candidate unless it is known to pass; it must be shorter, or with `simpler` as long and simpler.

        With `as_long`, the caller knows that it is simpler.
        """
        walk = self._cut(self.ways.along(steps))
        better = as_long and len(walk) == len(self.best)
        if not walk or self._passes(walk) or not (better or self._better(walk, simpler=simpler)):
            return AttemptResult.SPARED
        self.spent[self._means] += len(walk)
        answer = yield StepPlan(walk, self.ways)
        return self._note(walk, answer)

    def fails(self, steps: Iterable[ModelStep], *, simpler: bool = False, as_long: bool = False) -> Attempts:
        """Try a candidate; return whether it is now the best."""
        return (yield from self.attempt(steps, simpler=simpler, as_long=as_long)) is AttemptResult.FAILED

    def rank(self, steps: Iterable[ModelStep]) -> int:
        """Return how simple the inputs are: the sum of their ranks; less is simpler."""
        return sum(self.rank_of(step) for step in steps)

    def bears(self, step: ModelStep) -> bool:
        """Return whether a step can fail as the issue does: a signature has the same types."""
        if self.ends_anywhere:
            return True
        return (
            self.traits.label(step) == self.traits.label(self.last) if step.nodes else kind(step.input) in self.wanted
        )

    @property
    def ends_anywhere(self) -> bool:
        """Return whether a timer's output may be late or missing: the last input is not to blame for that."""
        signature = self.best.signature
        return self.ways.model.timed and signature is not None and signature.kind in {"late", "missing"}

    @property
    def wanted(self) -> frozenset[Trait]:
        """Return the traits of a step that does the same kind of thing as the failing one."""
        return self.traits.coarse(self.last)

    def _passes(self, walk: ModelSteps) -> bool:
        if self.races:
            return not meets(walk) or (self._waits and self._hurries(walk))
        return self.evidence.passes(walk)

    def _hurries(self, steps: Iterable[ModelStep]) -> bool:
        """Return whether a client sends two inputs at once: if none did, it may have to await each answer."""
        sent = Counter((step.burst, self.ways.model.port(step.input)) for step in steps if step.burst)
        return max(sent.values(), default=0) > 1

    def _cut(self, walk: tuple[ModelStep, ...]) -> tuple[ModelStep, ...]:
        end = len(walk)
        while end and not self.bears(walk[end - 1]):
            end -= 1
        return walk[:end]

    def _better(self, walk: tuple[ModelStep, ...], *, simpler: bool) -> bool:
        if len(walk) != len(self.best):
            return len(walk) < len(self.best)
        return simpler and self.rank(walk) < self.rank(self.best.steps)

    def _note(self, walk: tuple[ModelStep, ...], answer: Issue | None) -> AttemptResult:
        same = answer is not None and answer.signature == self.best.signature
        if answer is not None:
            self._learn(answer)
            run = self.ways.clean(answer.steps)
            # a run with detours may fail because of them, so the run itself counts, not the plan
            if same and (len(run) <= len(walk) or len(run) < len(self.best)):
                self.best = Issue(run, answer.signature)
                self._row = self._cost = 0
                return AttemptResult.FAILED
        self._row += 1
        self._cost += len(walk)
        if answer is None:
            self.evidence.learn(walk)
            self.harmless.learn(walk)
        return AttemptResult.PASSED if answer is None or same else AttemptResult.OTHERWISE

    def _learn(self, issue: Issue) -> None:
        self.ways.learn(issue.steps)
        # what a timer does not do may be caused long before it shows
        if not self.ends_anywhere:
            self.evidence.learn(issue.steps[:-1])
            self.harmless.learn(issue.steps[:-1])

    def rank_of(self, step: ModelStep) -> int:
        """Return how simple an input is: its rank in the model's order, at the start or else in these nodes.

        Of malformed inputs, one with fewer bytes is simpler. A value that a strategy's sample lacks has the rank of the
        sample's next value.
        """
        known = self._ranks.get(step.input)
        if known is not None:
            return known
        if isinstance(step.input.value, Malformed):
            return len(step.input.value.raw)
        offered = self.ways.enabled_inputs(step.nodes)
        if step.input in offered:
            return offered.index(step.input)
        if not getattr(self.ways.model.spec.inputs, "strategies", ()):
            return len(offered)
        mine = simplicity(step.input.value)
        return next((at for at, each in enumerate(offered) if mine < simplicity(each.value)), len(offered))


def joined(ways: ModelMap, goals: Iterable[ModelStep], nodes: NodeSet | None = None) -> Thinking[ModelSteps]:
    """Return the goals with the shortest ways between them, from the start by default; empty if there are none."""
    here, walk = ways.start if nodes is None else nodes, list[ModelStep]()
    for goal in goals:
        way = (yield from ways.path(here, goal.nodes)) if goal.nodes else ()
        if way is None:
            return ()
        walk += [*way, goal]
        here = goal.target
    return tuple(walk)
