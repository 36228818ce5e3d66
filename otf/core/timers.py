"""Timers of the system: now and then they are waited for instead of being forestalled by the next input.

A tester that always sends at once sees no timer of the system go off, and never learns that one is dead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from otf.core.clock import ROUNDING
from otf.core.nodes import Node
from otf.core.pacing import Moment, Pause
from otf.core.timing import Timing

REMEMBERED: Final = 100_000  # places; where one is forgotten the counting begins anew


@dataclass(slots=True)
class Timers:
    """Waits in each timed state the first, second, fourth, eighth … time that a run comes through it.

    Keep it over the paths of a campaign: what costs a second of waiting each time is soon waited for less often.
    `last`: what must come after the last input is waited for too, as where a run that failed so is driven again.
    """

    last: bool = False
    passed: dict[tuple[Node, ...], int] = field(default_factory=dict[tuple[Node, ...], int])
    _asked: tuple[int, bool] = (-1, False)
    # the places whose timers were waited for since the last input: what goes on for ever ends no run
    _ended: set[tuple[Node, ...]] = field(default_factory=set[tuple[Node, ...]])

    def pause(self, timing: Timing, moment: Moment) -> Pause | None:
        """Return the wait for what must come unasked, None where nothing must or it is not waited for this time."""
        # until its answer must have come, the system may be busy with an input, whatever else it may have done
        due = moment.monitor.pending()
        if due is None:
            due = moment.monitor.due()
            if due is None or not self._wait(moment):
                return None
        # at the last moment it might still be on time: the look comes after it
        return Pause(due + max(timing.latency, 2 * ROUNDING), window=timing.quiescence)

    def _wait(self, moment: Moment) -> bool:
        if self._asked[0] != moment.monitor.events:
            nodes = moment.monitor.states
            if len(self.passed) > REMEMBERED:
                self.passed.clear()
            self.passed[nodes] = self.passed.get(nodes, 0) + 1
            # the powers of two have one bit
            often = self._last(nodes) if moment.port is None else self.passed[nodes].bit_count() == 1
            if moment.port is not None:
                self._ended.clear()
            self._asked = (moment.monitor.events, often)
        return self._asked[1]

    def _last(self, nodes: tuple[Node, ...]) -> bool:
        fresh = self.last and nodes not in self._ended
        self._ended.add(nodes)
        return fresh
