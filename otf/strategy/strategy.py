"""A strategy at work: one chooser after another for the paths of a campaign."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from random import Random

from otf.core import Chooser, InputMode
from otf.errors import UsageError
from otf.strategy.kinds import STRATEGIES, StrategyKind
from otf.strategy.pool import Pool
from otf.strategy.visits import VisitCounts


@dataclass(slots=True)
class Strategy:
    """A strategy at work in one campaign, by name or as a `StrategyKind`; what was visited is kept over the paths."""

    name: str | StrategyKind
    mode: InputMode
    seed: int
    visits: VisitCounts = field(default_factory=VisitCounts)
    kind: StrategyKind = field(init=False)

    def __post_init__(self) -> None:
        """Find the kind. Raises UsageError for a name that does not exist, with the nearest that does."""
        self.kind = known(self.name)

    def path(self, number: int) -> Chooser:
        """Return the chooser of a path, counted from 1; the same seed and number give the same choices."""
        makers = self.kind.makers
        random = Random(f"{self.seed}/{number}")
        return makers[(number - 1) % len(makers)](Pool(self.mode, random), self.visits)


def known(name: str | StrategyKind) -> StrategyKind:
    """Return the strategy of that name. Raises UsageError for one that does not exist, with the nearest that does."""
    if isinstance(name, StrategyKind):
        return name
    if name in STRATEGIES:
        return STRATEGIES[name]
    near = get_close_matches(name, STRATEGIES, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(STRATEGIES)}"
    message = f"there is no strategy {name!r}; {hint}"
    raise UsageError(message)
