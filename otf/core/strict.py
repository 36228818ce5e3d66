"""Pacings that wait for quiescence: after each input (strict), or after several at once (burst)."""

from __future__ import annotations

from dataclasses import dataclass, field

from otf.core.due import slow
from otf.core.pacing import Moment, Pause, Timers, learn_reply, silence
from otf.core.search import sent
from otf.core.timing import Timing


@dataclass(frozen=True, slots=True)
class Strict:
    """Sends one input, waits for quiescence, then sends the next.

    `timers` decides when it waits for spontaneous outputs.
    """

    timing: Timing
    timers: Timers = field(default_factory=Timers)

    def ready(self, moment: Moment) -> bool:
        """Return whether nothing has happened since quiescence."""
        return moment.quiet

    def pause(self, moment: Moment) -> Pause | None:
        """Return the wait for quiescence, or for a timer."""
        return self.timers.pause(self.timing, moment) if moment.quiet else silence(self.timing, moment)

    def settled(self, moment: Moment) -> None:
        """Let the timing learn from the replies."""
        learn_reply(self.timing, moment)


@dataclass(frozen=True, slots=True)
class Burst:
    """Sends up to `size` inputs without waiting, then waits for quiescence: a linearizability check.

    The possible states then cover every interleaving of the inputs in flight (Herlihy and Wing's histories, as sets).
    `timers` decides when it waits for spontaneous outputs.
    """

    timing: Timing
    size: int
    timers: Timers = field(default_factory=Timers)

    def ready(self, moment: Moment) -> bool:
        """Return whether one more input may be in flight."""
        if moment.quiet or moment.burst >= self.size:
            return moment.quiet
        return not moment.monitor.crowded and not self._slow(moment)

    def pause(self, moment: Moment) -> Pause | None:
        """Return the wait for quiescence once all inputs of the burst are sent."""
        if moment.quiet:
            return self.timers.pause(self.timing, moment)
        return None if moment.port is not None and self.ready(moment) else silence(self.timing, moment)

    def settled(self, moment: Moment) -> None:
        """Learn nothing from quiescence."""

    def _slow(self, moment: Moment) -> bool:
        """Return whether the system may be busy for longer than R with the next input.

        Until such an answer is due, it is not known when the system takes the other inputs.
        """
        monitor, port, inp = moment.monitor, moment.port, moment.next
        hypotheses = monitor.belief.hypotheses
        if port is not None and inp is not None:
            hypotheses = tuple(sent(hypotheses, port, inp, 0))
        return slow(monitor.oracle.model, hypotheses, self.timing.busy)
