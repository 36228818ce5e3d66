"""Halving: search by length alone. Random runs of half the length, and of three quarters where none of them fails.

Koopman, Achten and Plasmeijer, "Model-Based Shrinking for State Based Testing", section 3: what their tool did before.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from random import Random
from typing import Final

from otf.core import Chooser, InputMode
from otf.shrink.issue import Candidate, Issue, Shrinking
from otf.strategy import Pool, Uniform

TRACES: Final = 100  # for each length, as the paper's tool does by default


@dataclass(frozen=True, slots=True)
class Wander:
    """A random run of at most this length."""

    seed: int
    limit: int
    mode: InputMode

    def chooser(self) -> Chooser:
        """Return what chooses its inputs in one run."""
        return Uniform(Pool(self.mode, Random(self.seed)))


def halving(issue: Issue, random: Random, mode: InputMode) -> Shrinking:
    """Yield random runs: half as long as the last that failed, or half-way between that and what is too short."""
    too_short = 0
    while len(issue) - too_short > 1:
        length = (len(issue) + too_short) // 2
        found = yield from _any(length, random, mode)
        if found is None:
            too_short = length
        else:
            issue = found
    return issue


def _any(length: int, random: Random, mode: InputMode) -> Generator[Candidate, Issue | None, Issue | None]:
    for _ in range(TRACES):
        found = yield Wander(random.getrandbits(64), length, mode)
        if found is not None:
            return found
    return None
