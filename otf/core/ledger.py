"""The ledger: when each input of a run was sent, by when it was taken, until when it was dealt with; the last step."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final, NamedTuple

from otf.core.belief import Belief
from otf.core.timing import FOREVER, Span, Timing, is_later
from otf.trace.events import Closed, Seen, Sent, Stalled


class InFlight(NamedTuple):
    """An input that is perhaps not taken: its number in the run, its port, from when to when it may be dealt with."""

    number: int
    port: str
    span: Span


SPAN: Final = attrgetter("span")


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

    def then(self, event: Sent, timing: Timing) -> Ledger:
        """Return the ledger with one more input: taken when it has arrived, and those before it are dealt with."""
        # the system may have got it at once, or when all of it was handed over
        # bounds are only added to: less R, a sum may be rounded to less than the input takes to arrive
        taken = max(event.at + event.took + timing.latency, self.done_by)
        done, number = taken + timing.busy, self.sent + 1
        # an input on another port may be taken first
        before = self.inputs and [
            each
            if each.port == event.port or is_later(event.at, each.span.b)
            else each._replace(span=Span(each.span.a, each.span.b + timing.busy))
            for each in self.inputs
        ]
        return Ledger((*before, InFlight(number, event.port, Span(event.at, done))), number, taken, done)

    def keep(self, ranks: tuple[int, ...]) -> Ledger:
        """Return the ledger with only the inputs that still matter, by their numbers in a belief."""
        if len(ranks) == len(self.inputs):
            return self
        # made anew, since `_replace` takes four times as long, and nearly every output needs this
        inputs = tuple([self.inputs[rank - 1] for rank in ranks])
        return Ledger(inputs, self.sent, self.taken_by, self.done_by)

    def finish(self, at: float) -> Ledger:
        """Return the ledger after all inputs were dealt with by a time."""
        return self if self.done_by <= at else Ledger(self.inputs, self.sent, self.taken_by, at)

    def over(self, at: float) -> Ledger:
        """Return the ledger without inputs: none matters any more, and all were dealt with by a time."""
        if not self.inputs:
            return self.finish(at)
        return Ledger((), self.sent, self.taken_by, min(self.done_by, at))

    def delay(self, stall: Stalled) -> Ledger:
        """Return the ledger after a stall: inputs that were on their way may be taken and dealt with later."""

        def later(by: float) -> float:
            return by if is_later(stall.begun, by) else by + stall.seconds

        inputs = tuple(each._replace(span=Span(each.span.a, later(each.span.b))) for each in self.inputs)
        return Ledger(inputs, self.sent, later(self.taken_by), later(self.done_by))

    def upto(self, number: int) -> int:
        """Return how many of its inputs are among the first `number` of the run."""
        return bisect_right(self.inputs, number, key=lambda each: each.number)


@dataclass(slots=True)
class FailedStep:
    """The events since everything was last settled: the belief at the start, the inputs, the outputs so far.

    `last` holds the inputs of the step before: they cause the spontaneous outputs after silence.
    """

    before: Belief
    # no factories of typed lists: they take ten times as long as bare lists, and every step has two
    inputs: list[Sent]
    outputs: list[Seen | Closed]
    last: list[Sent] = field(default_factory=list[Sent])

    def next(self, belief: Belief) -> FailedStep:
        """Return the step after quiescence: this one as long as an output is due in a window."""
        return FailedStep(belief, [], [], self.inputs or self.last) if belief.settled else self
