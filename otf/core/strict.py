"""Strict pacing: an input only after quiescence."""

from __future__ import annotations

from dataclasses import dataclass, field

from otf.core.pacing import Moment, Pause, listened, silence
from otf.core.timers import Timers
from otf.core.timing import Timing


@dataclass(frozen=True, slots=True)
class Strict:
    """One input, then everything that follows it until silence, then the next input.

    `timers` says when it waits for what must come unasked.
    """

    timing: Timing
    timers: Timers = field(default_factory=Timers)

    def ready(self, moment: Moment) -> bool:
        """Tell whether nothing has happened since quiescence."""
        return moment.quiet

    def pause(self, moment: Moment) -> Pause | None:
        """Return the wait for quiescence, or for a timer."""
        return self.timers.pause(self.timing, moment) if moment.quiet else silence(self.timing, moment)

    def settled(self, moment: Moment) -> None:
        """Let the timing learn."""
        listened(self.timing, moment)
