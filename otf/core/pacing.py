"""When to send: what a pacing is asked, and what it decides on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from otf.core.memory import Symbol
from otf.core.monitor import Monitor
from otf.core.nodes import Node
from otf.core.timing import ROUNDING, Timing
from otf.trace.events import Event, Seen, Sent, Taken
from otf.values.light import light

PATIENCE: Final = 10
"""Silence that would fail is waited out this many times as long before it is believed."""

RESTLESS: Final = 3
"""Quiescence times in which a system has only made what windows oblige it to, after which it is taken not to rest."""


@dataclass(slots=True)
class Times:
    """When things happened last, in seconds since the start of the run.

    `reply`: the last output to the last input. `free`: the last event, those outputs aside that windows of time oblige
    the system to make by itself.
    """

    event: float = 0.0
    input: float = 0.0
    reply: float = 0.0
    free: float = 0.0

    def note(self, event: Event, *, obliged: bool = False) -> None:
        """Note an event; what the tester concludes by itself is none that anything waits for."""
        at = event.at
        if isinstance(event, Seen):
            self.reply = at
        elif isinstance(event, Sent):
            self.input, self.reply = at, 0.0
        elif isinstance(event, Taken):
            return
        self.event = max(self.event, at)
        if not obliged:
            self.free = self.event


@light
class SentInput:
    """An input that was sent, and the places in which it was to be taken."""

    nodes: tuple[Node, ...]
    input: Symbol


@dataclass(slots=True)
class Moment:
    """What a pacing decides on: the same object throughout a run, which a session changes as the run goes on.

    `quiet`: quiescence was seen and nothing has happened since. `burst`: inputs sent since quiescence. `last`: the last
    of them. `port`: that of the next input, None where there is none. `next`: that input.
    """

    monitor: Monitor
    times: Times
    quiet: bool = False
    burst: int = 0
    last: SentInput | None = None
    port: str | None = None
    next: Symbol | None = None


@light
class Pause:
    """Wait until a time (seconds since the start); then silence means quiescence, or that all inputs were taken.

    `rested`: all inputs were taken and answered, and what comes is only what a window of time obliges.
    `window`: the quiescence time in it (seconds); silence that would fail is waited out many times as long.
    """

    until: float
    means: Literal["quiet", "rested", "taken"] = "quiet"
    window: float = 0.0


class Pacing(Protocol):
    """Says when the next input may be chosen and sent, and how long silence has to last to be believed."""

    def ready(self, moment: Moment) -> bool:
        """Tell whether the next input may be chosen now (`port` is not known yet)."""
        ...

    def pause(self, moment: Moment) -> Pause | None:
        """Return what is to be waited for before the next input is sent, None where it may be sent at once."""
        ...

    def settled(self, moment: Moment) -> None:
        """Take that quiescence was seen."""
        ...


def learn_reply(timing: Timing, moment: Moment) -> None:
    """Let the timing learn how long the answers to one input took; of several together nobody can say.

    What comes unasked is no answer. Learnt from that, a window would become longer than the pauses between
    retransmissions, and there would never be silence again.
    """
    if moment.burst == 1 and moment.times.reply > moment.times.input and not _restless(moment):
        timing.learn(moment.times.reply - moment.times.input)


def _restless(moment: Moment) -> bool:
    """Tell whether something may have come unasked since the last input was sent."""
    model, last = moment.monitor.oracle.model, moment.last
    before = last.nodes if last is not None else ()
    then = [move.target for node in before for move in model.moves(node, last.input)] if last is not None else []
    nodes = {*before, *moment.monitor.states, *(each for each in then if each is not None)}
    return any(model.spontaneous(node) for node in nodes)


def silence(timing: Timing, moment: Moment) -> Pause:
    """Return the pause after which silence is quiescence.

    The latest of: the quiescence time after the last event and no less than L, 2L + nR after the last input, and L
    after everything sent was dealt with: until then an output of a conforming system may be on its way, however short
    the quiescence time.
    """
    # an input that its output has proven taken may keep the system busy all the same: one more than are unproven
    times, monitor = moment.times, moment.monitor
    inputs = max(1, min(moment.burst, monitor.ledger.unproven + 1))
    settled = max(times.input + timing.settled(inputs), monitor.ledger.done_by + timing.latency)
    # of outputs that came unasked the last may be L behind the first
    least = max(timing.quiescence, timing.latency)
    until = max(times.event + least, settled)
    if monitor.belief.ticking:
        due = monitor.due()
        # where something must come before there can be silence, silence is not waited for
        patience = 1 if due is not None and due <= until else RESTLESS
        rested = max(times.free + patience * least, settled)
        if rested < until:
            # what comes meanwhile does not prolong the time in which an answer may still come
            now = max(rested, times.event)
            return Pause(now, "rested", max(0.0, least - (now - rested) / (PATIENCE - 1)))
    return Pause(until, "quiet", until - times.event)


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
