"""What was harmless: transitions after which the kind of step that fails was taken, and passed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from otf.shrink.issue import ModelStep
from otf.shrink.traits import Trait, Traits


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
