"""Timers of the system that a run waits for now and then: all of them are seen to expire, and few cost time."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Final

from otf.core.monitor import Monitor
from otf.core.nodes import Node
from otf.core.timing import FOREVER

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
    than `patience` seconds after that input. Without `between`, only these; with `first`, those before any input, too.
    """

    last: bool = False
    between: bool = True
    first: bool = False
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

    def due(self, monitor: Monitor, now: float, sent: float, *, sends: bool) -> float | None:
        """Return by when the awaited timer has expired; None if no output is due, or this visit does not wait.

        `now` is the time of the last event, `sent` that of the last input; `sends`: an input comes next.
        """
        # until the answer is due, the system may be busy with an input, whatever else it may have done
        pending = monitor.pending()
        if pending is not None:
            return pending
        due = monitor.due()
        return due if due is not None and self._waits(monitor, now, sent, due, sends=sends) else None

    def _waits(self, monitor: Monitor, now: float, sent: float, due: float, *, sends: bool) -> bool:
        # a stall is no visit
        events = monitor.events - monitor.stalls
        if self._decided != events:
            self._decided = events
            self._count(now)
            self._decide(monitor, now, sent, due, sends=sends)
        return bool(self._awaited)

    def listens(self, monitor: Monitor, now: float) -> bool:
        """Return whether this visit waits for spontaneous outputs that may come at any time, or never.

        These waits take at most a tenth of the time, beyond the first second.
        """
        nodes, oracle = monitor.states, monitor.oracle
        if oracle.model.alone or not any(map(oracle.model.spontaneous, nodes)):
            return False
        self._count(now)
        if not self._visit(("listens", *nodes)) or self._listened > max(HEARD, LISTENING * self._ran):
            return False
        self._listened += oracle.timing.quiescence
        return True

    def _count(self, now: float) -> None:
        # the clock of another run begins anew
        self._ran += now - self._clock if now >= self._clock else now
        self._clock = now

    def _decide(self, monitor: Monitor, now: float, sent: float, due: float, *, sends: bool) -> None:
        running = monitor.timers()
        self._awaited = {name: until for name, until in self._awaited.items() if name in running and until > now}
        # without counters: a numbered message brings ever new states
        places = tuple(dict.fromkeys(map(monitor.oracle.model.place, monitor.states)))
        if not sends:
            if self.last and places not in self._ended:
                late = sent + self.patience
                self._awaited.update((name, until) for name, until in {**running, None: due}.items() if until <= late)
            self._ended.add(places)
            return
        self._ended.clear()
        if self.between or (self.first and not monitor.sent):
            if len(self.passed) > REMEMBERED:
                self.passed.clear()
            if self._visit(places) and (self.passed[places] > 1 or self._is_early(running, sent)):
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
