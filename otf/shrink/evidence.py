"""What runs that passed tell: which candidates need no run of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from otf.core import Symbol
from otf.shrink.issue import ModelStep, NodeSet
from otf.shrink.traits import Trait, Traits

LONGEST: Final = 8  # steps of a tail that is looked for in the middle of runs
NodeInput: TypeAlias = tuple[NodeSet, Symbol]


class _Runs(dict[NodeInput, "_Runs"]):
    """Runs by their first steps, what followed, and so on."""

    def put(self, given: Iterable[NodeInput]) -> None:
        known = self
        for each in given:
            known = known.setdefault(each, _Runs())


class Evidence:
    """Walks that passed. The issue itself is one of them, up to its last step: hundreds of transitions for nothing."""

    def __init__(self) -> None:
        self._runs = _Runs()
        self._tails = set[tuple[NodeInput, ...]]()

    def learn(self, steps: Iterable[ModelStep]) -> None:
        """Take a walk from the start that passed."""
        given = [step[:2] for step in steps]
        self._runs.put(given)
        for begin in range(len(given)):
            ends = range(begin + 1, min(len(given), begin + LONGEST) + 1)
            self._tails.update(tuple(given[begin:end]) for end in ends)

    def passes(self, steps: Iterable[ModelStep]) -> bool:
        """Tell whether a walk from the start is how a run began that went on without the failure."""
        known = self._runs
        for step in steps:
            if step[:2] not in known:
                return False
            known = known[step[:2]]
        return True

    def passed(self, steps: Sequence[ModelStep]) -> bool:
        """Tell whether these steps passed anywhere in a run.

        The system may have been in another state then. So this orders guesses, and rules out no candidate that was made
        from a failing one.
        """
        return tuple(step[:2] for step in steps) in self._tails


class Harmless:
    """How often each kind of transition came, in runs that passed, before a step like the one that fails.

    A system that remembers, or counts, such transitions would have failed then, unless it forgets: so this tells which
    guesses are not worth a run, and no more.
    """

    def __init__(self, traits: Traits, wanted: frozenset[Trait]) -> None:
        self._traits = traits
        self._wanted = wanted
        self._times = Counter[Trait]()

    def learn(self, steps: Iterable[ModelStep]) -> None:
        """Take a walk from the start that passed."""
        before = Counter[Trait]()
        for step in steps:
            if self._wanted <= self._traits.fine(step):
                self._times |= before
            before.update(self._traits.of(step))

    def known(self, trait: Trait, times: int) -> bool:
        """Tell whether so many transitions of a kind did no harm."""
        return self._times[trait] >= times
