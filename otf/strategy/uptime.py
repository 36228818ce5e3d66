"""The goal of a long uptime: a campaign ends once one of its paths has lasted so long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from otf.core import Chooser, Symbol, View
    from otf.strategy.kinds import Maker, StrategyKind
    from otf.strategy.pool import Pool, VisitCounts

UPTIME: Final = "uptime"


def lasting(kind: StrategyKind, seconds: float, clock: Callable[[], float]) -> StrategyKind:
    """Return the strategy; a path ends once it has lasted so many seconds, and no other path begins then.

    Give its paths no bound of inputs. A path that fails earlier ends as always, and the next one begins at 0. `clock`
    returns seconds.

    >>> from otf.strategy.kinds import script
    >>> lasting(script(["press"]), 3600.0, clock=lambda: 0.0).done()
    False
    """
    goal = _Goal(seconds, clock)
    return replace(kind, makers=tuple(goal.maker(each) for each in kind.makers), done=lambda: goal.reached)


@dataclass(slots=True)
class _Goal:
    seconds: float
    clock: Callable[[], float]
    reached: bool = False

    def maker(self, maker: Maker) -> Maker:
        def make(pool: Pool, visits: VisitCounts) -> Chooser:
            return _Lasting(maker(pool, visits), self)

        return make


@dataclass(slots=True)
class _Lasting:
    chooser: Chooser
    goal: _Goal
    since: float | None = None

    def choose(self, view: View) -> Symbol | None:
        """Return the choice of the other chooser, None once the path has lasted long enough."""
        now = self.goal.clock()
        if self.since is None:
            self.since = now
        self.goal.reached = self.goal.reached or now - self.since >= self.goal.seconds
        return None if self.goal.reached else self.chooser.choose(view)
