"""Evidence from runs that passed: which candidates need no run of their own, and which guesses are not worth one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from otf.core import Symbol
from otf.shrink.issue import ModelStep, NodeSet
from otf.shrink.traits import Trait, Traits

LONGEST: Final = 8  # steps of a walk that is looked for in the middle of runs
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
        """Return whether some run began with this walk from the start, and did not fail there."""
        known = self._runs
        for step in steps:
            if step[:2] not in known:
                return False
            known = known[step[:2]]
        return True

    def passed(self, steps: Sequence[ModelStep]) -> bool:
        """Return whether these steps passed anywhere in a run.

        The system may have been in another state then. So this ranks guesses, and rules out no candidate that was made
        from a failing one.
        """
        return tuple(step[:2] for step in steps) in self._tails


class Harmless:
    """Counts of each kind of transition before a step like the one that fails, in runs that passed.

    A system that remembers or counts such transitions would have failed then, unless it forgets. So this shows which
    guesses are not worth a run, and no more.
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
        """Return whether so many transitions of a kind did no harm."""
        return self._times[trait] >= times
