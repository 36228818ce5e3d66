"""Decides when a run waits for the system's timers, so that it sees each of them expire, in little time."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Final

from otf.core.monitor import Monitor
from otf.core.nodes import Node
from otf.core.timing import FOREVER
from otf.trace.clock import message

REMEMBERED: Final = 100_000  # timed states; all counts start anew beyond this
FIRST: Final = 10.0  # seconds that distant timers may take at first
NEW: Final = 8  # new states with the same timers that are all awaited
HEARD: Final = 1.0  # seconds that waits for outputs that may never come may take at first
LISTENING: Final = 0.1  # the share of all time that these waits may take later
SHARE: Final = 0.5  # the share of all time that distant timers may take later


@dataclass(slots=True)
class Timers:
    """Waits for timers of the system now and then: on the first, second, fourth, eighth … visit to each timed state.

    A tester that always sends at once never sees a timer expire, and never learns that one is dead. If several timers
    run, it waits for the one due first. It counts visits for each of the others separately, so that a message each
    second does not hide a watchdog of five seconds. Beyond their first ten seconds, such distant timers take at most
    half of the time.

    Share one object among the paths of a campaign: then a wait that costs a second each time soon becomes rare. With
    `last`, a run also waits after its last input for all timers that run, up to `patience` seconds after that input; a
    failing run is driven again like this. With `only` it waits for the timers of that message alone, however long.
    Without `between` it waits only for these; `first` adds those before any
    input.
    """

    last: bool = False
    between: bool = True
    first: bool = False
    patience: float = FOREVER
    only: str = ""
    passed: dict[tuple[Hashable, ...], int] = field(default_factory=dict[tuple[Hashable, ...], int])
    # until when to wait for each timer, but for stalls; None: whichever is due first
    _awaited: dict[str | int | None, float] = field(default_factory=dict[str | int | None, float])
    _decided: int = -1
    # the states whose timers were awaited since the last input: a timer that repeats must not keep the run alive
    _ended: set[tuple[Node, ...]] = field(default_factory=set[tuple[Node, ...]])
    # the timers of the last new state, and when the last input before it was sent
    _new: tuple[tuple[str, ...], float] = ((), 0.0)
    _clock: float = 0.0
    _ran: float = 0.0
    _waited: float = 0.0
    _listened: float = 0.0

    def due(self, monitor: Monitor, now: float, sent: float, *, sends: bool) -> float | None:
        """Return by when the awaited timer has expired; None if no output is due, or if this visit does not wait.

        `now` is the time of the last event, `sent` the time of the last input. `sends`: an input comes next.
        """
        # until its answer is due, the system may be busy with an input, whatever else it has done
        pending = monitor.pending()
        if pending is not None:
            return pending
        due = monitor.due()
        return due if due is not None and self._waits(monitor, now, sent, due, sends=sends) else None

    def _waits(self, monitor: Monitor, now: float, sent: float, due: float, *, sends: bool) -> bool:
        # a stall does not count as a visit
        events = monitor.events - monitor.stalls
        if self._decided != events:
            self._decided = events
            self._count(now)
            self._decide(monitor, now, sent, due, sends=sends)
        return bool(self._awaited)

    def listens(self, monitor: Monitor, now: float) -> bool:
        """Return whether this visit waits for spontaneous outputs that may come at any time, or never.

        Beyond the first second, these waits take at most a tenth of the time.
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
        # the clock starts anew with each run
        self._ran += now - self._clock if now >= self._clock else now
        self._clock = now

    def _decide(self, monitor: Monitor, now: float, sent: float, due: float, *, sends: bool) -> None:
        # a stall makes what is due come later by its length, so these times leave out the stalls
        running = {name: until - monitor.stalled for name, until in monitor.timers().items()}
        due, now = due - monitor.stalled, now - monitor.stalled
        known = {name: min(until, running.get(name, now)) for name, until in self._awaited.items()}
        self._awaited = {name: until for name, until in known.items() if until > now}
        # without counters: a numbered message leads to ever new states
        places = tuple(dict.fromkeys(map(monitor.oracle.model.place, monitor.states)))
        if not sends:
            if self.last and places not in self._ended:
                late, every = sent - monitor.stalled + self.patience, {**running, None: due}.items()
                self._awaited.update(
                    each for each in every if (message(each[0]) == self.only if self.only else each[1] <= late)
                )
            self._ended.add(places)
            return
        self._ended.clear()
        if self.between or (self.first and not monitor.sent):
            if len(self.passed) > monitor.oracle.model.memory.weights.room(REMEMBERED):
                self.passed.clear()
            if self._visit(places) and (self.passed[places] > 1 or self._is_early(running, sent)):
                self._awaited[None] = due
            for name, until in running.items():
                if until > due and name not in self._awaited and self._visit((*places, name)):
                    self._await(name, until, now)

    def _await(self, name: str | int | None, until: float, now: float) -> None:
        """Wait for a distant timer if there is time left for it."""
        more = until - max([now, *self._awaited.values()])
        if more <= 0 or self._waited + more <= max(FIRST, SHARE * self._ran):
            self._waited += max(0.0, more)
            self._awaited[name] = until

    def _is_early(self, running: Iterable[str | int | None], sent: float) -> bool:
        """Return whether to wait for the timers of a new state: of the first few, then ever fewer, and once per input.

        A device that counts its heartbeats is in a new state after each. Waiting in every state would leave no time for
        inputs.
        """
        name = "new", *sorted(map(str, running))
        again = self._new == (name, sent)
        self._new = name, sent
        return not again and (self._visit(name) or self.passed[name] <= NEW)

    def _visit(self, name: tuple[Hashable, ...]) -> bool:
        """Count a visit to a state; return whether the timer is awaited on this one."""
        visits = self.passed[name] = self.passed.get(name, 0) + 1
        # only powers of two have a single bit
        return visits.bit_count() == 1
