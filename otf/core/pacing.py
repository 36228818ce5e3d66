"""When to send: the protocol of a pacing, the pauses before an input, and timers that are waited for now and then."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from otf.core.memory import Symbol
from otf.core.monitor import Monitor
from otf.core.nodes import Node
from otf.core.timing import FOREVER, ROUNDING, Timing
from otf.spec import Elapse
from otf.trace.events import Event, Seen, Sent, Taken
from otf.values.identity import light

PATIENCE: Final = 10
"""Silence that would fail a run is believed only after this many times the usual wait."""

RESTLESS: Final = 3
"""Quiescence times with nothing but outputs that windows oblige, after which the system counts as never at rest."""


@dataclass(slots=True)
class Times:
    """The times of the last events, in seconds since the start of the run.

    `reply`: the last output to the last input. `free`: the last event, except outputs that can only be spontaneous, or
    that windows of time oblige the system to emit.
    """

    event: float = 0.0
    input: float = 0.0
    reply: float = 0.0
    free: float = 0.0

    def note(self, event: Event, *, obliged: bool = False) -> None:
        """Note an event; conclusions of the tester do not count as events to wait for."""
        at = event.at
        if isinstance(event, Seen):
            self.reply = at
        elif isinstance(event, Sent):
            self.input, self.reply = at, 0.0
            at += event.took
        elif isinstance(event, Taken):
            return
        self.event = max(self.event, at)
        if not obliged:
            self.free = self.event


@light
class SentInput:
    """An input that was sent, and the nodes in which it was to be taken."""

    nodes: tuple[Node, ...]
    input: Symbol


@dataclass(slots=True)
class Moment:
    """The facts that a pacing decides on: one object throughout a run, updated by the session.

    `quiet`: quiescence was seen and nothing has happened since, or nothing but spontaneous outputs if it was
    `restless`. `burst`: inputs sent since quiescence. `last`: the last
    of them. `port`: that of the next input, None if there is none. `next`: that input.

    >>> from otf.core import Model, Monitor, Oracle
    >>> from otf.core.pacing import Times
    >>> from otf.spec import Spec, goto
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit, "on" if not lit else "off")], False, ["press"])))
    >>> moment = Moment(Monitor(oracle), Times(), quiet=True)
    >>> moment.quiet, moment.burst
    (True, 0)
    """

    monitor: Monitor
    times: Times
    quiet: bool = False
    restless: bool = False
    burst: int = 0
    last: SentInput | None = None
    port: str | None = None
    next: Symbol | None = None


@light
class Pause:
    """A wait until a time (seconds since the start); silence until then means quiescence, or that inputs were taken.

    `rested`: all inputs were taken and answered, and only outputs that a window of time obliges come. `window`: the in
    it (seconds); silence that would fail is waited out many times as long.

    >>> Pause(until=0.5, means="rested", window=0.2).until
    0.5
    """

    until: float
    means: Literal["quiet", "rested", "taken"] = "quiet"
    window: float = 0.0


class Pacing(Protocol):
    """Decides when the next input may be chosen and sent, and how long silence must last to be believed."""

    def ready(self, moment: Moment) -> bool:
        """Return whether the next input may be chosen now (`port` is not known yet)."""
        ...

    def pause(self, moment: Moment) -> Pause | None:
        """Return the wait before the next input is sent, None if it may be sent at once."""
        ...

    def learn(self, moment: Moment) -> None:
        """Learn from quiescence, which was seen now."""
        ...


def learn_reply(timing: Timing, moment: Moment) -> None:
    """Let the timing learn how long the answers to one input took; for several together, that is not known.

    A spontaneous output is no answer, and neither is one that comes while an input only waits. Learnt from such
    outputs, a window would become longer than the pauses between retransmissions, and there would never be silence
    again.
    """
    if moment.last is not None and isinstance(moment.last.input.value, Elapse):
        return
    if moment.burst == 1 and moment.times.reply > moment.times.input and not _restless(moment):
        timing.learn(moment.times.reply - moment.times.input)


def _restless(moment: Moment) -> bool:
    """Return whether an output may have been spontaneous since the last input was sent."""
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
    # an input proven taken by its output may still keep the system busy: one more than are unproven
    times, monitor = moment.times, moment.monitor
    inputs = max(1, min(moment.burst, monitor.ledger.unproven + 1))
    over = max(times.input + timing.round_trip(inputs), monitor.ledger.done_by + timing.latency)
    # the last of several spontaneous outputs may arrive L after the first
    least = max(timing.quiescence, timing.latency)
    until = max(times.event + least, over)
    speaking = times.event > times.free and any(map(monitor.oracle.model.spontaneous, monitor.states))
    if speaking or monitor.belief.ticking:
        due = monitor.due() if monitor.belief.ticking else None
        # what came after the last event that counts was spontaneous: it does not prolong the time for an answer
        patience = 1 if speaking or (due is not None and due <= until) else RESTLESS
        rested = max(times.free + patience * least, over)
        if rested < until:
            # outputs meanwhile do not prolong the time in which an answer may still come
            now = max(rested, times.event)
            return Pause(now, "rested", max(0.0, least - (now - rested) / (PATIENCE - 1)))
    return Pause(until, "quiet", until - times.event)


def starving(timing: Timing, moment: Moment) -> Pause | None:
    """Return the wait for an output that is due where no input is enabled; None if none is, or it is far off.

    A device that boots takes no input until its banner came. Where inputs were sent before, the wait takes no longer
    than the run so far, beyond ten seconds: else each path that ends with a long timer would wait for it.
    """
    due, now = moment.monitor.due(), moment.times.event
    if due is None or (moment.monitor.sent and due - now > max(FIRST, now)):
        return None
    return _until_due(timing, due)


def _until_due(timing: Timing, due: float) -> Pause:
    # an output at the last moment is still in time: look after it
    return Pause(due + max(timing.latency, 2 * ROUNDING), window=timing.quiescence)


def hindrance(moment: Moment) -> str:
    """Return what keeps a run from sending an input now, in words."""
    due = moment.monitor.pending() or moment.monitor.due()
    if due is not None:
        return f"an output is due, by {due:.3f} s of the run: see the windows (within=) and timers of the model"
    event = moment.times.event
    seen = f"the last output came at {event:.3f} s of the run" if event > moment.times.input else "no output came"
    return f"the system did not come to rest, and the model leaves open what answers an input ({seen})"


REMEMBERED: Final = 100_000  # timed states; counting starts anew for a forgotten one
FIRST: Final = 10.0  # seconds that may be spent on distant timers at once
NEW: Final = 8  # new states with the same timers, which are all awaited
HEARD: Final = 1.0  # seconds that may be spent at once on spontaneous outputs that may never come
LISTENING: Final = 0.1  # of all time, which may be spent on them later
SHARE: Final = 0.5  # of all time, which may be spent on them later


@dataclass(slots=True)
class Timers:
    """Waits for timers of the system now and then: on the first, second, fourth, eighth … visit to each timed state.

    A tester that always sends at once never sees a timer of the system expire, and never learns that one is dead. Of
    several timers the one that is due first is awaited, and the others on visits that are counted for each of them: a
    message that comes each second must not hide a watchdog of five seconds. Such distant timers take at most half of
    the time, beyond their first ten seconds.

    Keep the object over the paths of a campaign: a wait that costs a second each time soon becomes rare. `last`:
    all timers that run after the last input are waited for too, as when a run that failed so is driven again; no longer
    than `patience` seconds after that input. Without `between`, only these are.
    """

    last: bool = False
    between: bool = True
    patience: float = FOREVER
    passed: dict[tuple[Hashable, ...], int] = field(default_factory=dict[tuple[Hashable, ...], int])
    # the timers that are awaited, and until when; None: whichever is due first
    _awaited: dict[str | int | None, float] = field(default_factory=dict[str | int | None, float])
    _decided: int = -1
    # the states whose timers were waited for since the last input: one that repeats must not keep the run alive
    _ended: set[tuple[Node, ...]] = field(default_factory=set[tuple[Node, ...]])
    # the timers of the last new state, and when the last input before it was sent
    _new: tuple[tuple[str, ...], float] = ((), 0.0)
    _clock: float = 0.0
    _ran: float = 0.0
    _waited: float = 0.0
    _listened: float = 0.0

    def pause(self, timing: Timing, moment: Moment) -> Pause | None:
        """Return the wait for a timer; None if no output is due, or this visit does not wait."""
        if not moment.monitor.belief.timed:
            return None
        # until the answer is due, the system may be busy with an input, whatever else it may have done
        due = moment.monitor.pending()
        if due is None:
            due = moment.monitor.due()
            if due is None or not self._waits(moment, due):
                return None
        return _until_due(timing, due)

    def _waits(self, moment: Moment, due: float) -> bool:
        # a stall is no visit
        events = moment.monitor.events - moment.monitor.stalls
        if self._decided != events:
            self._decided = events
            self._count(moment.times.event)
            self._decide(moment, due)
        return bool(self._awaited)

    def listens(self, moment: Moment) -> bool:
        """Return whether this visit waits for spontaneous outputs that may come at any time, or never.

        These waits take at most a tenth of the time, beyond the first second.
        """
        nodes, oracle = moment.monitor.states, moment.monitor.oracle
        if oracle.model.spec.emits is None or not any(map(oracle.model.spontaneous, nodes)):
            return False
        self._count(moment.times.event)
        if not self._visit(("listens", *nodes)) or self._listened > max(HEARD, LISTENING * self._ran):
            return False
        self._listened += oracle.timing.quiescence
        return True

    def _count(self, now: float) -> None:
        # the clock of another run begins anew
        self._ran += now - self._clock if now >= self._clock else now
        self._clock = now

    def _decide(self, moment: Moment, due: float) -> None:
        running = moment.monitor.timers()
        self._awaited = {
            name: until for name, until in self._awaited.items() if name in running and until > moment.times.event
        }
        # without counters: a numbered message brings ever new states
        places = tuple(dict.fromkeys(map(moment.monitor.oracle.model.place, moment.monitor.states)))
        if moment.port is None:
            if self.last and places not in self._ended:
                late = moment.times.input + self.patience
                self._awaited.update((name, until) for name, until in {**running, None: due}.items() if until <= late)
            self._ended.add(places)
            return
        self._ended.clear()
        if self.between:
            if len(self.passed) > REMEMBERED:
                self.passed.clear()
            if self._visit(places) and (self.passed[places] > 1 or self._is_early(running, moment.times.input)):
                self._awaited[None] = due
            for name, until in running.items():
                if until > due and name not in self._awaited and self._visit((*places, name)):
                    self._await(name, until)

    def _await(self, name: str | int | None, until: float) -> None:
        """Wait for a distant timer, if there is time for it."""
        more = until - max([self._clock, *self._awaited.values()])
        if more <= 0 or self._waited + more <= max(FIRST, SHARE * self._ran):
            self._waited += max(0.0, more)
            self._awaited[name] = until

    def _is_early(self, running: Iterable[str | int | None], sent: float) -> bool:
        """Return whether so few states were new that their timers are awaited, once after each input.

        A device that counts is never in a state twice: of its states the first are awaited, then ever fewer, and none
        right after another, or its heartbeat would leave no time for an input.
        """
        name = "new", *sorted(map(str, running))
        again = self._new == (name, sent)
        self._new = name, sent
        return not again and (self._visit(name) or self.passed[name] <= NEW)

    def _visit(self, name: tuple[Hashable, ...]) -> bool:
        """Count a visit to a state; return whether it is one on which the timer is awaited."""
        visits = self.passed[name] = self.passed.get(name, 0) + 1
        # the powers of two have one bit
        return visits.bit_count() == 1
