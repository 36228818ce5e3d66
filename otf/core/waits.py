"""What a run waits for before an input: quiescence (strict), quiescence not yet proven (eager), or a barrier.

Waiting for silence costs the most time. If every explanation of what was seen says that no output is outstanding or
possible, there is nothing to wait for. And a barrier is a ping whose answer on a FIFO port proves that everything
before it has arrived. The ports with inputs in flight are pinged first: their answers prove these inputs taken. Then
the others: the outputs of those inputs were emitted before the answers, and arrive before them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from otf.core.commands import Ping
from otf.core.deadlines import answered
from otf.core.pacing import Moment, Pause, SentInput, Timers, learn_reply, silence
from otf.core.timing import Timing
from otf.trace.events import Seen

# silent inputs in flight: more would fill the peer's buffer, and the search considers each of them again
MOST: Final = 30
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
    # the last input after which spontaneous outputs are waited for
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
            return self.timers.pause(self.timing, moment)
        if moment.port is None or not self.ready(moment):
            return silence(self.timing, moment)
        monitor = moment.monitor
        in_flight = monitor.belief.in_flight
        if (not in_flight or in_flight == frozenset((moment.port,))) and monitor.ledger.unproven < MOST:
            return None
        # what was emitted spontaneously before they were taken must have been seen, too
        later = 0.0 if monitor.oracle.model.spec.emits is None else self.timing.latency
        return Pause(monitor.ledger.taken_by + later, "taken")

    def learn(self, moment: Moment) -> None:
        """Remember that there was silence after the last transition."""
        learn_reply(self.timing, moment)
        if len(self.proven) > REMEMBERED:
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
        for node in last.nodes:
            if oracle.silence_of(node, inp) not in proven and oracle.answers_of(node, inp) not in proven:
                return False
        if self.timers.listens(moment):
            self._awaited = last
            return False
        self._trusted = last
        return True


@dataclass(frozen=True, slots=True)
class Strict:
    """Sends one input, waits for quiescence, then sends the next.

    `timers` decides when it waits for spontaneous outputs. After the last input a run goes on until `lasts`, in seconds
    since its start: what a system does by its own clock comes as late as before, also where its inputs went faster.
    `gaps` has how long it waits at least after the first input, the second and so on, in seconds: where an earlier run
    waited, a session may have ended.
    """

    timing: Timing
    timers: Timers = field(default_factory=Timers)
    lasts: float = 0.0
    gaps: Sequence[float] = ()

    def ready(self, moment: Moment) -> bool:
        """Return whether nothing has happened since quiescence."""
        return moment.quiet

    def pause(self, moment: Moment) -> Pause | None:
        """Return the wait for quiescence, or for a timer."""
        if not moment.quiet:
            return silence(self.timing, moment)
        pause = self.timers.pause(self.timing, moment)
        if pause is None and (self.lasts or self.gaps) and moment.times.event < (least := self._least(moment)):
            return Pause(least)
        return pause

    def _least(self, moment: Moment) -> float:
        if moment.port is None:
            return self.lasts
        sent = moment.monitor.sent
        return moment.times.input + self.gaps[sent - 1] if 0 < sent <= len(self.gaps) else 0.0

    def learn(self, moment: Moment) -> None:
        """Let the timing learn from the replies."""
        learn_reply(self.timing, moment)


@dataclass(frozen=True, slots=True)
class Barrier:
    """For each port an input that the system answers without a change of state, and a test that recognises the answer.

    `pings` has one input for each port; a port without one is not proven, and must have no spontaneous outputs.
    `pong(port, output)` returns whether an output is such an answer. The model must not mention either.

    >>> barrier = Barrier({"tcp": b"ping"}, lambda port, output: output == b"pong")
    >>> barrier.pong("tcp", b"pong")
    True
    """

    pings: Mapping[str, object]
    pong: Callable[[str, Any], bool]


@dataclass(slots=True)
class Pings:
    """The pings of a run, in rounds: first to the ports with inputs in flight, then to all others.

    `begun`: a round is under way. It ends with the next event that is no output.
    """

    barrier: Barrier
    begun: bool = False
    _first: tuple[str, ...] = ()
    _sent: set[str] = field(default_factory=set[str])
    _waiting: set[str] = field(default_factory=set[str])
    # pings overtaken by an input are answered all the same
    _unanswered: Counter[str] = field(default_factory=Counter[str])

    def next(self, in_flight: Iterable[str]) -> Ping | None:
        """Return the next ping, None while answers are outstanding; a round begins with the ports `in_flight`."""
        if not self.begun:
            self.begun, self._first, self._sent, self._waiting = True, tuple(sorted(in_flight)), set(), set()
        pings, found = self.barrier.pings, next((port for port in self._first if self._left(port)), None)
        if found is None and not self._waiting:
            found = next(filter(self._left, pings), None)
        return None if found is None else Ping(found, pings[found])

    def _left(self, port: str) -> bool:
        return port in self.barrier.pings and port not in self._sent

    def sent(self, port: str) -> None:
        """Note that a port was pinged."""
        self._unanswered[port] += 1
        self._sent.add(port)
        self._waiting.add(port)

    def answered(self, seen: Seen) -> bool:
        """Return whether an output is the answer to a ping, and note it."""
        port = seen.port
        if not self._unanswered[port] or not self.barrier.pong(port, seen.output):
            return False
        self._unanswered[port] -= 1
        if not self._unanswered[port]:
            self._waiting.discard(port)
        return True

    @property
    def done(self) -> bool:
        """Return whether all ports have answered in this round."""
        return self.begun and not self._waiting and self._sent >= set(self.barrier.pings)
