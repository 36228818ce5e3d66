"""Negative controls: testers that break one rule each, so that conforming systems fail: the rule is needed.

Each is paired with the same tester that keeps the rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from benchmarks.campaigns import TESTERS, Tester
from otf.core import Monitor, Oracle, Timing
from otf.core.belief import Belief, EventResult, Ledger
from otf.core.explainer import EventName, Explainer, finder
from otf.core.hypothesis import Hypothesis, QueuedInput, with_input
from otf.core.pacing import Eager, Moment, Pause, Strict
from otf.core.search import Search
from otf.trace.events import Event, Seen, Sent
from otf.trace.verdict import Verdict


class OneWay(Strict):
    """Believes in silence L + nR after the last input, as if outputs took no time on their way."""

    def pause(self, moment: Moment) -> Pause | None:
        """Return the wait for quiescence, one latency too short."""
        if moment.quiet:
            return super().pause(moment)
        inputs = max(1, moment.monitor.ledger.unproven)
        until = moment.times.input + self.timing.latency + inputs * self.timing.busy
        return Pause(max(moment.times.event, until))


class LastInput(Monitor):
    """Attributes every output to the last input: assumes that an output comes after all inputs were taken."""

    def __init__(self, oracle: Oracle) -> None:
        """Begin at the start of a run."""
        super().__init__(oracle)
        self.explainer: Explainer = _ByTheLastInput(oracle)


class _ByTheLastInput(Explainer):
    def _name(self, event: Event, ledger: Ledger) -> EventName:
        name = super()._name(event, ledger)
        return ("last", *name) if isinstance(event, Seen) else name

    def _search(self, belief: Belief, ledger: Ledger, event: Event, name: EventName) -> EventResult:
        if not isinstance(event, Seen):
            return super()._search(belief, ledger, event, name)
        find = finder(self.oracle.model, event, 0)

        def last(search: Search, now: Iterable[Hypothesis]) -> list[Hypothesis]:
            return [then for then in find(search, now) if not then.flight]

        return self.find(belief, last, self.clock(event, ledger))


class AtOnce(Monitor):
    """Takes each input at once, in the order in which they were sent: one state instead of all interleavings."""

    _dealt: float = 0.0

    def __init__(self, oracle: Oracle) -> None:
        """Begin at the start of a run."""
        super().__init__(oracle)
        self.explainer: Explainer = _TakingAtOnce(oracle)

    def tell(self, event: Event) -> Verdict | None:
        """Judge one event; inputs that count as taken may still keep the system busy."""
        if isinstance(event, Sent):
            self._dealt = max(event.at + self.oracle.timing.latency, self._dealt) + self.oracle.timing.busy
        verdict = super().tell(event)
        self.ledger = self.ledger._replace(done_by=self._dealt)
        return verdict


class _TakingAtOnce(Explainer):
    def _search(self, belief: Belief, ledger: Ledger, event: Event, name: EventName) -> EventResult:
        # an explainer does not search for an input: by itself it makes no moves
        if not isinstance(event, Sent):
            return super()._search(belief, ledger, event, name)
        inp, port, number = self.oracle.model.symbol(event.input), event.port, len(ledger.inputs) + 1

        def take(search: Search, now: Iterable[Hypothesis]) -> list[Hypothesis]:
            in_flight = with_input(now, port, inp, number)
            return [
                step.then for each in in_flight for step in search.moves.taking(each, port, QueuedInput(inp, number))
            ]

        return self.find(belief, take, self.clock(event, ledger))


class Unproven(Eager):
    """Waits for silence only where it must: so only the rule for changing ports is tried."""

    def _sure(self, moment: Moment) -> bool:
        return moment.last is not None


class Rushing(Unproven):
    """Changes to another port without waiting until the inputs in flight were taken."""

    def pause(self, moment: Moment) -> Pause | None:
        """Return no wait where eager mode only waits for inputs to be taken."""
        pause = super().pause(moment)
        return pause if pause is None or pause.means == "quiet" else None


class OneLatency(Unproven):
    """Changes to another port L after the last input: all inputs have arrived then, but may not be taken yet."""

    def pause(self, moment: Moment) -> Pause | None:
        """Return a wait that ignores the inputs that may be before the last one."""
        pause = super().pause(moment)
        if pause is None or pause.means == "quiet":
            return pause
        return Pause(moment.times.input + self.timing.latency, "taken")


class Careful(Unproven):
    """Changes to another port after L + nR, n being all inputs since quiescence: its monitor knows none in flight."""

    _waited: int = 0

    def pause(self, moment: Moment) -> Pause | None:
        """Return the wait until all inputs were taken, once for each change to another port."""
        pause = super().pause(moment)
        last, sent = moment.last, moment.monitor.sent
        into = moment.monitor.oracle.model.routes.into
        if pause is not None or moment.quiet or last is None or into(last.input.value) == moment.port:
            return pause
        if self._waited == sent:
            return None
        self._waited = sent
        return Pause(moment.times.input + self.timing.latency + moment.burst * self.timing.busy, "taken")


@dataclass(frozen=True)
class Control:
    """A tester without a rule, the same one with the rule, and the subjects on which it makes a difference."""

    without: Tester
    kept: Tester
    subjects: tuple[str, ...]


def _no_latency(timing: Timing) -> Timing:
    return Timing(timing.quiescence, 0.0, timing.busy)


UNPROVEN: Final = Tester(lambda timing, notes: Unproven(timing, notes.proven, notes.timers))
RUSHING: Final = Tester(lambda timing, notes: Rushing(timing, notes.proven, notes.timers))
CAREFUL: Final = Tester(lambda timing, notes: Careful(timing, notes.proven, notes.timers))
NO_EMITS: Final = ("conference", "random, deterministic", "random, open")

CONTROLS: Final[Mapping[str, Control]] = {
    "silence believed after L + nR instead of 2L + nR": Control(
        Tester(lambda timing, notes: OneWay(timing, notes.timers)),
        TESTERS["strict"],
        ("random, open", "random, restless"),
    ),
    "outputs always counted to the last input": Control(
        replace(TESTERS["burst 2"], monitor=LastInput), TESTERS["burst 2"], NO_EMITS
    ),
    "ports changed after L instead of L + nR": Control(
        Tester(lambda timing, notes: OneLatency(timing, notes.proven, notes.timers)), UNPROVEN, NO_EMITS
    ),
    "ports changed at once, inputs taken in the order sent": Control(
        replace(RUSHING, monitor=AtOnce), replace(CAREFUL, monitor=AtOnce), NO_EMITS
    ),
    "deadlines without latency": Control(
        replace(TESTERS["strict"], judging=_no_latency), TESTERS["strict"], ("altbit, timed", "random, timed")
    ),
}
"""What each rule is worth. Ports changed at once do no harm by themselves: the monitor thinks of every order."""
