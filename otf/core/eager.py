"""Eager pacing: the next input at once where a conforming system is silent anyway.

Waiting for silence costs the most time. If every explanation of what was seen says that no output is outstanding or
possible, there is nothing to wait for.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

from otf.core.due import silent
from otf.core.pacing import Moment, Pause, SentInput, Timers, learn_reply, silence
from otf.core.timing import Timing

MOST: Final = (
    30  # silent inputs in flight: more would fill the peer's buffer, and the search considers each of them again
)
REMEMBERED: Final = 100_000  # transitions known to be followed by silence; a forgotten one is waited for once more


@dataclass(slots=True)
class Eager:
    """Sends the next input as soon as all answers to the last are there, if quiescence was seen there once before.

    `proven` holds the transitions of the model after which silence was observed, or what the bench remembers them under
    (`Oracle.silence_of`): keep it over the paths of a campaign.
    Before an input goes to another port than inputs not proven taken, the pacing waits until they must have been taken:
    L after the last, and R for each that may still have been before it.
    """

    timing: Timing
    proven: set[Hashable] = field(default_factory=set[Hashable])
    timers: Timers = field(default_factory=Timers)
    # the last input that was found proven: it is checked several times a step
    _trusted: SentInput | None = None

    def ready(self, moment: Moment) -> bool:
        """Return whether a conforming system has no more outputs."""
        if moment.quiet:
            return True
        # cached answers first: most calls come between an input and its answer
        monitor = moment.monitor
        return (
            monitor.belief.silent is not False and self._sure(moment) and silent(monitor.oracle.model, monitor.belief)
        )

    def pause(self, moment: Moment) -> Pause | None:
        """Return the wait for quiescence, or for the inputs on another port to be taken."""
        if moment.quiet:
            return self.timers.pause(self.timing, moment)
        if moment.port is None or not self.ready(moment):
            return silence(self.timing, moment)
        monitor = moment.monitor
        in_flight = monitor.belief.in_flight
        if (not in_flight or in_flight == frozenset((moment.port,))) and monitor.ledger.unproven < MOST:
            return None
        return Pause(monitor.ledger.taken_by, "taken")

    def settled(self, moment: Moment) -> None:
        """Remember that there was silence after the last transition."""
        learn_reply(self.timing, moment)
        if len(self.proven) > REMEMBERED:
            self.proven.clear()
            self._trusted = None
        if moment.last is not None:
            silence_of = moment.monitor.oracle.silence_of
            self.proven.update(silence_of(node, moment.last.input) for node in moment.last.nodes)

    def _sure(self, moment: Moment) -> bool:
        last = moment.last
        if last is None or last is self._trusted:
            return last is not None
        proven, inp, silence_of = self.proven, last.input, moment.monitor.oracle.silence_of
        for node in last.nodes:
            if silence_of(node, inp) not in proven:
                return False
        self._trusted = last
        return True
