"""When the inputs of a path are sent: the pace of a campaign's paths, and of a run that is repeated."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from otf.adapter import Bench
from otf.campaign.bursts import alike
from otf.campaign.settings import Mode
from otf.core import Monitor, Oracle, Pacing, Timing
from otf.core.burst import Burst, Joins
from otf.core.idling import Idling
from otf.core.pacing import Eager, Strict
from otf.core.timer_waits import Timers
from otf.trace.clock import pauses
from otf.trace.events import Event


@dataclass(frozen=True, slots=True)
class Pace:
    """When the inputs of a campaign's paths are sent.

    `proven` and `timers` are shared by all paths: what is known to be quiet, and the timers that were waited for.
    `clients` and `joins` say which inputs are sent at once. A strict path `lasts` so many seconds at least, and waits
    for the `gaps` after its inputs.
    """

    mode: Mode
    burst: int
    timing: Timing
    proven: set[Hashable] = field(default_factory=set[Hashable])
    timers: Timers = field(default_factory=Timers)
    waits: bool = True
    clients: frozenset[str] = frozenset()
    joins: Joins | None = None
    lasts: float = 0.0
    gaps: Sequence[float] = ()
    idling: Idling | None = None

    @property
    def doubtful(self) -> bool:
        """Return whether failures need a strict re-run: eager mode relies on the stated bounds more than strict mode.

        A system in this process answers before it returns, so neither mode waits for it. A burst is not a faster strict
        run but another test: a strict re-run would not confirm it.
        """
        return self.waits and self.mode == "eager" and self.burst == 1

    def pacing(self) -> Pacing:
        """Return the pacing for one path."""
        if self.burst > 1:
            timers = Timers(last=self.timers.last)
            return Burst(self.timing, self.burst, timers, self.clients, self.joins, alike)
        if self.mode == "strict":
            return Strict(self.timing, self.timers, self.lasts, self.gaps, self.idling)
        return Eager(self.timing, self.proven, self.timers, self.idling)


def repeating(oracle: Oracle, bench: Bench, events: Sequence[Event], burst: int, joins: Joins | None = None) -> Pace:
    """Return the pace that drives a run again: with times it pauses as long between inputs, and waits for no timer.

    A wait that the run did not make lets a state end that the failure needs, and then a faulty system passes.
    """
    gaps = timed_pauses(oracle, events)
    return Pace("strict", burst, bench.timing, timers=Timers(last=True, between=not gaps), joins=joins, gaps=gaps)


def timed_pauses(oracle: Oracle, events: Sequence[Event]) -> Sequence[float]:
    """Return the seconds from each input to the next one; empty for a model without times."""
    monitor = Monitor(oracle)
    # that a model has times shows at the first of them
    for event in events:
        if oracle.model.timed or monitor.tell(event) is not None:
            break
    return pauses(events) if oracle.model.timed else ()


def is_doubtful(bench: Bench, mode: Mode, size: int) -> bool:
    """Return whether failures in bursts of this size need a strict re-run: see `Pace`; of a faster system, all do."""
    pace = Pace(mode, size, bench.timing, waits=bench.system is None)
    return pace.doubtful or bench.at_speed(1).by_reset() is not bench
