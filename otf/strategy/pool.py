"""From which inputs one is chosen: the input mode of the bench."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import assert_never

from otf.core import InputMode, Symbol, View

HALF = 0.5


@dataclass(frozen=True, slots=True)
class Pool:
    """The inputs that a mode offers: the specified ones, all, or by the toss of a coin either these or the others.

    Half of each is what finds most: specified inputs reach the deep states, unspecified ones what should be ignored
    there. `random` is the path's own, so that a seed gives one path.
    """

    mode: InputMode
    random: Random

    def of(self, view: View) -> tuple[Symbol, ...]:
        """Return the inputs to choose from now; empty where nothing may be offered."""
        match self.mode:
            case "uioco" | "any":
                return view.specified
            case "all":
                return view.specified + view.others
            case "mixed":
                first, second = view.specified, view.others
                if self.random.random() < HALF:
                    first, second = second, first
                return first or second
            case _:
                assert_never(self.mode)
