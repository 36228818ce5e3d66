"""The enabled inputs of a state, to draw from by index: a long list is not looked through in each state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from otf.core.memory import Symbol
from otf.spec.offering import INPUTS, limited

FEW: Final = 32
"""Inputs up to which all are compared; of more, as many are drawn and compared."""

KEPT: Final = 1_000
"""Inputs up to which the list of one state is remembered, once the state has come again."""

ITERATED: Final = 10_000
"""Inputs taken of an iterable that is no sequence: of those after them none would ever be drawn."""


class EnabledInputs:
    """A sequence of inputs whose symbols are made when they are drawn.

    In a list of more than `FEW` that a function of the state returns, an input that is there twice is drawn twice as
    often: to find that out, all would have to be compared. `kept`: whether a state or a view may hold on to it: all
    states share it, or it is short.
    """

    __slots__ = ("_all", "_at", "_size", "kept")

    def __init__(self, size: int, at: Callable[[int], Symbol], *, kept: bool = False) -> None:
        self._size = size
        self._at = at
        self._all: tuple[Symbol, ...] | None = None
        self.kept: bool = kept

    @staticmethod
    def fixed(symbols: Iterable[Symbol]) -> EnabledInputs:
        """Return inputs whose symbols are made already."""
        made = tuple(symbols)
        return EnabledInputs(len(made), made.__getitem__, kept=True)

    def __len__(self) -> int:
        """Return how many there are, with repetitions."""
        return self._size

    def __getitem__(self, index: int) -> Symbol:
        """Return one input. Raises ModelError if the model's sequence raises."""
        return self._at(index)

    @property
    def all(self) -> tuple[Symbol, ...]:
        """Return every input once, in the order of the model. Raises ModelError if there are more than `INPUTS`."""
        if self._all is None:
            self._all = tuple(dict.fromkeys(map(self._at, limited(range(self._size), INPUTS, "inputs"))))
        return self._all


NO_INPUTS: Final = EnabledInputs.fixed(())
