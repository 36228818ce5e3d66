"""The plain candidate: given inputs in their order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from otf.core import Chooser, Symbol
from otf.shrink.issue import ModelStep
from otf.strategy import Script


@dataclass(frozen=True, slots=True)
class AllowedInputs:
    """These inputs; those that the model does not allow (any more) are skipped, so that none takes others with it.

    With `truncates` the run ends before the first of them, as in the paper of Koopman, Achten and Plasmeijer.
    """

    symbols: tuple[Symbol, ...]
    truncates: bool = False

    @property
    def limit(self) -> int:
        """Return how many inputs it sends at most."""
        return len(self.symbols)

    def chooser(self) -> Chooser:
        """Return what chooses its inputs in one run."""
        return Script((symbol.value for symbol in self.symbols), truncates=self.truncates)


def inputs(*parts: Iterable[ModelStep], truncates: bool = False) -> AllowedInputs:
    """Return the candidate with the inputs of these steps."""
    return AllowedInputs(tuple(step.input for part in parts for step in part), truncates)
