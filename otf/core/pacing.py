"""Decides when to send: after quiescence (strict), or before quiescence is proven (eager).

Waiting for silence costs the most time. If no explanation has an output outstanding or possible, there is nothing to
wait for.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from otf.core.commands import Chooser
from otf.core.deadlines import answered
from otf.core.idling import Idling
from otf.core.memory import Symbol
from otf.core.monitor import Monitor
from otf.core.nodes import Node
from otf.core.timer_waits import FIRST, Timers
from otf.core.timing import ROUNDING, Timing
from otf.spec import Elapse, Idle
from otf.trace.events import Event, Seen, Sent, Taken
from otf.values.identity import light

PATIENCE: Final = 10
"""How many times as long as usual silence must last before it fails a path."""

RESTLESS: Final = 3
"""How many quiescence times with only outputs that windows demand show that a system never rests."""


@dataclass(slots=True)
class Times:
    """The times of the last events, in seconds since the start of the run.

    `reply`: the last output to the last input. `free`: the last event, except outputs that can only be spontaneous or
    that a time window demands.
    """

    event: float = 0.0
    input: float = 0.0
    reply: float = 0.0
    free: float = 0.0

    def note(self, event: Event, *, obliged: bool = False) -> None:
        """Note an event; conclusions of the tester are not events to wait for."""
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
    """The facts by which a pacing decides when to send; the session updates this one object throughout a path.

    `monitor` judges the path. `times` has the times of its events, in seconds. `quiet` is true if nothing has happened
    since quiescence; after a `restless` quiescence, spontaneous outputs may have come. `unasked` is true if the last
    output can only be spontaneous. `burst` has the number of inputs sent since quiescence, `last` is the last of them.
    `next` is the next input and `port` its port; both are None if there is none.

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
    unasked: bool = False
    burst: int = 0
    last: SentInput | None = None
    port: str | None = None
    next: Symbol | None = None

    @property
    def unproven(self) -> int:
        """Return how many inputs may still keep the system busy; it may also be busy with one that it has answered."""
        return max(1, min(self.burst, self.monitor.ledger.unproven + 1))


@light
class Pause:
    """A wait `until` a time (seconds since the start of the path); `means` says what silence until then proves.

    If `means` is "rested", the system has taken and answered every input, and only outputs with a time window are still
    due. `window` is the silence in the wait, in seconds. Silence that would fail a path must last many times as long.

    >>> Pause(until=0.5, means="rested", window=0.2).until
    0.5
    """

    until: float
    means: Literal["quiet", "rested", "taken"] = "quiet"
    window: float = 0.0


class Pacing(Protocol):
    """The interface of a rule for when otf sends the next input, and how long silence must last to be quiescence."""

    def ready(self, moment: Moment) -> bool:
        """Return whether the chooser may choose the next input now; its `port` is not known yet."""
        ...

    def pause(self, moment: Moment) -> Pause | None:
        """Return the wait before otf sends the next input; None if otf may send it at once."""
        ...

    def learn(self, moment: Moment) -> None:
        """Learn from quiescence that otf has just seen."""
        ...


def learn_reply(pacing: Eager | Strict, moment: Moment) -> None:
    """Let the timing learn from quiescence how long the answers to one input took; with several, that is unknown.

    A spontaneous output is not an answer, nor is one that comes while an input only waits. Learning from these would
    make the quiescence time longer than the pauses between retransmissions, and there would never be silence again.
    """
    if moment.last is not None and isinstance(moment.last.input.value, Elapse):
        return
    if moment.burst == 1 and moment.times.reply > moment.times.input and not _restless(moment):
        pacing.timing.learn(moment.times.reply - moment.times.input)


def _restless(moment: Moment) -> bool:
    """Return whether an output may have been spontaneous since the last input was sent."""
    model, last = moment.monitor.oracle.model, moment.last
    if model.alone:
        return False
    before = last.nodes if last is not None else ()
    then = [move.target for node in before for move in model.moves(node, last.input)] if last is not None else []
    nodes = {*before, *moment.monitor.states, *(each for each in then if each is not None)}
    return any(model.spontaneous(node) for node in nodes)


def silence(timing: Timing, moment: Moment) -> Pause:
    """Return the pause after which silence counts as quiescence.

    It ends at the latest of three times: the quiescence time (at least L) after the last event, 2L + nR after the last
    input, and L after everything sent was dealt with. Until then an output of a conforming system may be in flight,
    however short the quiescence time.
    """
    times, monitor = moment.times, moment.monitor
    trip = 2 * timing.latency + moment.unproven * timing.busy
    over = max(times.input + trip, monitor.ledger.done_by + timing.latency)
    # the last of several spontaneous outputs may arrive L after the first
    least = max(timing.quiescence, timing.latency)
    until = max(times.event + least, over)
    speaking = times.event > times.free and any(map(monitor.oracle.model.spontaneous, monitor.states))
    if speaking or monitor.belief.ticking:
        due = monitor.due() if monitor.belief.ticking else None
        # the outputs since the last event that counts were spontaneous and do not extend the time for an answer
        patience = 1 if speaking or (due is not None and due <= until) else RESTLESS
        rested = max(times.free + patience * least, over)
        if rested < until:
            # outputs in between do not extend the time in which an answer may still come
            now = max(rested, times.event)
            return Pause(now, "rested", max(0.0, least - (now - rested) / (PATIENCE - 1)))
    return Pause(until, "quiet", until - times.event)


def starving(timing: Timing, moment: Moment) -> Pause | None:
    """Return the wait for an output due in a state where no input is enabled; None if none is due, or not soon.

    A device that boots takes no input until it has sent its banner. If inputs were sent before, the wait is at most ten
    seconds or as long as the run so far. Otherwise each path that ends with a long timer would wait for it.
    """
    due, now = moment.monitor.due(), moment.times.event
    if due is None or (moment.monitor.sent and due - now > max(FIRST, now)):
        return None
    return _until_due(timing, due)


def at_rest(timers: Timers, timing: Timing, moment: Moment) -> Pause | None:
    """Return the wait of a system at rest for a timer; None if no output is due, or if this visit does not wait."""
    monitor, times = moment.monitor, moment.times
    if not monitor.belief.timed:
        return None
    due = timers.due(monitor, times.event, times.input, sends=moment.port is not None)
    return None if due is None else _until_due(timing, due)


def _until_due(timing: Timing, due: float) -> Pause:
    # an output at the last moment is still in time, so look after it
    return Pause(due + max(timing.latency, 2 * ROUNDING), window=timing.quiescence)


def hindrance(moment: Moment) -> str:
    """Return as text what keeps a run from sending an input now."""
    due = moment.monitor.pending() or moment.monitor.due()
    if due is not None:
        return f"an output is due, by {due:.3f} s of the run: see the windows (within=) and timers of the model"
    event = moment.times.event
    seen = f"the last output came at {event:.3f} s of the run" if event > moment.times.input else "no output came"
    return f"the system did not come to rest, and the model leaves open what answers an input ({seen})"


# silent inputs in flight: more would fill the peer's buffer, and the search considers each of them again
MOST: Final = 30
REMEMBERED: Final = 100_000  # transitions known to be followed by silence; a forgotten one is awaited once more


@dataclass(slots=True)
class Eager:
    """Sends the next input once all answers to the last have come, if quiescence was seen there once before.

    `proven` holds the transitions after which silence was observed, or the keys that the bench gives them
    (`Oracle.silence_of`); share it among the paths of a campaign. While inputs on other ports are not proven taken,
    the pacing waits until they must have been: L after the last, plus R for each that may come before it.
    """

    timing: Timing
    proven: set[Hashable] = field(default_factory=set[Hashable])
    timers: Timers = field(default_factory=Timers)
    idling: Idling | None = None
    # the last input found proven, since each step checks it several times
    _trusted: SentInput | None = None
    # the last input after which the run waits for spontaneous outputs
    _awaited: SentInput | None = None

    def ready(self, moment: Moment) -> bool:
        """Return whether a conforming system has no more answers."""
        if moment.quiet:
            return True
        # cached answers first: most calls come between an input and its answer
        monitor = moment.monitor
        return (
            monitor.belief.answered is not False
            and self._sure(moment)
            and answered(monitor.oracle.model, monitor.belief)
        )

    def pause(self, moment: Moment) -> Pause | None:
        """Return the wait for quiescence, or for the inputs on another port to be taken."""
        if moment.quiet:
            return at_rest(self.timers, self.timing, moment)
        if moment.port is None or not self.ready(moment):
            return silence(self.timing, moment)
        monitor = moment.monitor
        in_flight = monitor.belief.in_flight
        if (not in_flight or in_flight == frozenset((moment.port,))) and monitor.ledger.unproven < MOST:
            return None
        # spontaneous outputs emitted before they were taken must have been seen, too
        later = 0.0 if monitor.oracle.model.alone else self.timing.latency
        return Pause(monitor.ledger.taken_by + later, "taken")

    def learn(self, moment: Moment) -> None:
        """Remember that there was silence after the last transition."""
        learn_reply(self, moment)
        if len(self.proven) > moment.monitor.oracle.model.memory.weights.room(REMEMBERED):
            self.proven.clear()
            self._trusted = None
        if moment.last is not None:
            oracle = moment.monitor.oracle
            for node in moment.last.nodes:
                self.proven.update(
                    (oracle.silence_of(node, moment.last.input), oracle.answers_of(node, moment.last.input))
                )

    def _sure(self, moment: Moment) -> bool:
        last = moment.last
        if last is None or last is self._trusted:
            return last is not None
        if last is self._awaited:
            return False
        proven, inp, oracle = self.proven, last.input, moment.monitor.oracle
        # nothing answers a wait
        for node in () if isinstance(inp.value, Idle) else last.nodes:
            if oracle.silence_of(node, inp) not in proven and oracle.answers_of(node, inp) not in proven:
                return False
        if self.timers.listens(moment.monitor, moment.times.event):
            self._awaited = last
            return False
        self._trusted = last
        return True


@dataclass(frozen=True, slots=True)
class Strict:
    """A pacing that sends an input, waits for quiescence, and only then sends the next input.

    `timing` has the times of the bench, and the `timers` say when `Strict` waits for spontaneous outputs. `idling`, if
    there is one, offers inputs of waiting. A path whose last input comes early still lasts at
    least `lasts` seconds. The `gaps` are the shortest waits after the first input, the second input and so on, in
    seconds. With `lasts` and `gaps`, a repeated path gives the system as much time as the first path did, for example
    until a session times out.

    >>> Strict(Timing(0.05), lasts=2.0).lasts
    2.0
    """

    timing: Timing
    timers: Timers = field(default_factory=Timers)
    lasts: float = 0.0
    gaps: Sequence[float] = ()
    idling: Idling | None = None

    def ready(self, moment: Moment) -> bool:
        """Return whether nothing has happened since quiescence."""
        return moment.quiet

    def pause(self, moment: Moment) -> Pause | None:
        """Return the wait for quiescence, or for a timer."""
        if not moment.quiet:
            return silence(self.timing, moment)
        pause = at_rest(self.timers, self.timing, moment) if moment.monitor.belief.timed else None
        if pause is None and (self.lasts or self.gaps) and moment.times.event < (least := self._least(moment)):
            return Pause(least)
        return pause

    def _least(self, moment: Moment) -> float:
        if moment.port is None:
            return self.lasts
        sent = moment.monitor.sent
        return moment.times.input + self.gaps[sent - 1] if 0 < sent <= len(self.gaps) else 0.0

    learn = learn_reply


def idle(pacing: Pacing, moment: Moment, chooser: Chooser) -> Symbol | None:
    """Return a wait in place of the next input, or an input on a way to a wait; None for neither."""
    last, idling = moment.last, pacing.idling if isinstance(pacing, (Eager, Strict)) else None
    if last is None or idling is None:
        return None
    found, monitor = idling.choose(moment.monitor, last.nodes, last.input, moment.times.event), moment.monitor
    if found is None or isinstance(found.value, Idle):
        return found
    # the chooser counts what is sent
    return chooser.choose(monitor.oracle.view(monitor.belief).only([found]))
