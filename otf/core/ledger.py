"""The inputs that still matter: when each was sent, by when it was taken, until when it kept the system busy."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from otf.core.timing import FOREVER, Span, Timing
from otf.trace.events import Sent


def done_by(before: float, at: float, timing: Timing) -> float:
    """Return by when an input sent then is dealt with: it has arrived, and those before it are done."""
    return max(at + timing.latency, before) + timing.busy


class InFlight(NamedTuple):
    """An input that is perhaps not taken: its number in the run, its port, from when to when it may be dealt with."""

    number: int
    port: str
    span: Span


class Ledger(NamedTuple):
    """Facts about the inputs of a run, replaced at each event; a ledger itself never changes.

    `inputs` are those that a belief still refers to, which numbers them from 1. `taken_by` and `done_by` bound the
    times at which the last input was taken, and all inputs were dealt with, in seconds since the start of the run.
    """

    inputs: tuple[InFlight, ...] = ()
    sent: int = 0
    taken_by: float = -FOREVER
    done_by: float = -FOREVER

    @property
    def unproven(self) -> int:
        """Return how many inputs are not proven taken, including those after the first of them."""
        return self.sent - self.inputs[0].number + 1 if self.inputs else 0

    @property
    def spans(self) -> tuple[Span, ...]:
        """Return when each of its inputs was sent and by when it was dealt with."""
        return tuple(each.span for each in self.inputs)

    def then(self, event: Sent, timing: Timing) -> Ledger:
        """Return the ledger with one more input: taken when it has arrived, and those before it are dealt with."""
        done = done_by(self.done_by, event.at, timing)
        number = self.sent + 1
        # an input on another port may be taken first
        before = (
            each if each.port == event.port or each.span.b < event.at else _longer(each, timing.busy)
            for each in self.inputs
        )
        return Ledger((*before, InFlight(number, event.port, Span(event.at, done))), number, done - timing.busy, done)

    def kept(self, ranks: tuple[int, ...]) -> Ledger:
        """Return the ledger with only the inputs that still matter, by their numbers in a belief."""
        if len(ranks) == len(self.inputs):
            return self
        return self._replace(inputs=tuple(self.inputs[rank - 1] for rank in ranks))

    def done(self, at: float) -> Ledger:
        """Return the ledger after all inputs were dealt with by a time."""
        return self if self.done_by <= at else self._replace(done_by=at)

    def upto(self, number: int) -> int:
        """Return how many of its inputs are among the first `number` of the run."""
        return bisect_right(self.inputs, number, key=lambda each: each.number)


def _longer(each: InFlight, busy: float) -> InFlight:
    return each._replace(span=Span(each.span.a, each.span.b + busy))
