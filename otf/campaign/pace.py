"""The pace of a campaign: its mode and burst size as a pacing for each path."""

from __future__ import annotations

from dataclasses import dataclass, field

from otf.campaign.settings import Mode
from otf.core import Node, Pacing, Symbol, Timing
from otf.core.eager import Eager
from otf.core.pacing import Timers
from otf.core.strict import Burst, Strict


@dataclass(frozen=True, slots=True)
class Pace:
    """When the inputs of a campaign's paths are sent; what was proven quiet, and waited for, is kept over the paths."""

    mode: Mode
    burst: int
    timing: Timing
    proven: set[tuple[Node, Symbol]] = field(default_factory=set[tuple[Node, Symbol]])
    timers: Timers = field(default_factory=Timers)
    waits: bool = True

    @property
    def doubtful(self) -> bool:
        """Tell whether a failure is run again strictly: eager mode relies on the stated bounds more than strict mode.

        A system that answers before it returns is waited for in no mode. A burst is no shortcut but a test of its own:
        run strictly it would be another.
        """
        return self.waits and self.mode == "eager" and self.burst == 1

    def pacing(self) -> Pacing:
        """Return the pacing for one path."""
        if self.burst > 1:
            return Burst(self.timing, self.burst)
        if self.mode == "strict":
            return Strict(self.timing, self.timers)
        return Eager(self.timing, self.proven, self.timers)
