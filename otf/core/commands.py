"""A session's commands to its runner, the chooser of its inputs, and the pings of a barrier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from otf.core.memory import Symbol
from otf.core.nodes import Node
from otf.core.view import View
from otf.errors import refuse
from otf.trace.events import Seen
from otf.trace.verdict import Failure, Verdict
from otf.values.arguments import misfits
from otf.values.identity import light


@light
class Send:
    """The command to send `input` to `port` now; `port` is "" if the bench has none, or if the input only waits.

    >>> from otf.core import Symbol
    >>> Send(Symbol("press", "press"), "panel").input.value
    'press'
    """

    input: Symbol
    port: str = ""


@dataclass(frozen=True, slots=True)
class Ping:
    """The command to send a barrier's ping (`input`) to `port`, and then to call the session's `pinged`.

    When the answer to the ping comes, the runner calls the session's `pong`; otf does not judge the answer.

    >>> Ping("tcp", "are you there?").port
    'tcp'
    """

    port: str
    input: object


@light
class Wait:
    """The command to wait for outputs until the path is `until` seconds old, and then to call the session's `silence`.

    A bench may have an observer, which watches whether the system is idle. `rest` is true if the wait may end early
    when the observer sees the system idle. `restless` is true if the wait ends at `until` even if the system is busy.
    If `restless` is false, the wait goes on until the observer sees the system idle.

    >>> Wait(until=0.25).until
    0.25
    """

    until: float
    rest: bool = False
    restless: bool = False


@dataclass(frozen=True, slots=True)
class Stop:
    """The command to end the path with this `verdict`.

    >>> from otf.trace import Verdict
    >>> Stop(Verdict("pass")).verdict.outcome
    'pass'
    """

    verdict: Verdict


SessionCommand: TypeAlias = Send | Ping | Wait | Stop
"""A command of a session to the runner: send an input or a ping, wait, or stop.

>>> def told(command: SessionCommand) -> str:
...     return f"send {command.value!r}" if isinstance(command, Send) else "wait or stop"
"""

GoesPast: TypeAlias = Callable[[tuple[Node, ...], Symbol, Failure], bool]
"""A function of a failure, its input and its nodes: whether the path continues, because the failure is known."""


class Chooser(Protocol):
    """The interface of an object that chooses the inputs of a path: a strategy, or a list of inputs to send."""

    def choose(self, view: View) -> Symbol | None:
        """Return the next input of the path, or None to end the path."""
        ...


@dataclass(frozen=True, slots=True)
class Barrier:
    """A barrier has a ping for each port: an input that the system answers without changing its state.

    `pings` maps each port to its ping. `pong(port, output)` returns whether an output is the answer to a ping. A port
    without a ping must send no spontaneous outputs, since otf cannot know whether the port is quiet. The model must
    mention neither pings nor their answers.

    If `pings` is empty, `pong(port, output)` returns whether an output ends the system's answer, as a shell's prompt
    does. If `pings` is empty, the system must send nothing before the first input, nor between the end of an answer and
    the next input.

    >>> barrier = Barrier({"tcp": b"ping"}, lambda port, output: output == b"pong")
    >>> barrier.pong("tcp", b"pong")
    True
    """

    pings: Mapping[str, object]
    pong: Callable[[str, Any], bool]

    def __post_init__(self) -> None:
        """Raise UsageError for pings that are no dict, and for a pong that is no such function."""
        refuse("Barrier: ", misfits(Barrier, (("pings", self.pings), ("pong", self.pong))))


@dataclass(slots=True)
class Pings:
    """The pings of a run, in rounds: first to the ports with inputs in flight, then to all others.

    The answer to a ping on a FIFO port proves that everything before it has arrived. Answers on the first ports prove
    that the inputs were taken. The system emitted their outputs before that, so these arrive before the answers on the
    other ports. If several ports come first, an input on one of them may cause an output on another after that one's
    answer; so all are pinged again. `begun`: a round is in progress. A round ends with the next event that is not an
    output.
    """

    barrier: Barrier
    begun: bool = False
    _first: tuple[str, ...] = ()
    _sent: set[str] = field(default_factory=set[str])
    _waiting: set[str] = field(default_factory=set[str])
    # pings overtaken by an input are still answered
    _unanswered: Counter[str] = field(default_factory=Counter[str])

    def next(self, in_flight: Iterable[str]) -> Ping | None:
        """Return the next ping, or None while answers are outstanding; a round begins with the ports `in_flight`."""
        if not self.begun:
            self.begun, self._sent, self._waiting = True, set(), set()
            self._first = tuple(sorted(self.barrier.pings.keys() & in_flight))
        pings, found = self.barrier.pings, next((port for port in self._first if self._left(port)), None)
        if found is None and not self._waiting:
            if len(self._first) > 1:
                self._first, self._sent = (), set()
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
        """Note an output if it is the answer to a ping, and return whether it is."""
        port = seen.port
        if not self._unanswered[port] or not self.barrier.pong(port, seen.output):
            return False
        self._unanswered[port] -= 1
        if not self._unanswered[port]:
            self._waiting.discard(port)
        return True

    def ends(self, seen: Seen) -> bool:
        """Return whether an output ends an answer, so that no ping is needed."""
        return not self.barrier.pings and self.barrier.pong(seen.port, seen.output)

    @property
    def done(self) -> bool:
        """Return whether all ports have answered in this round."""
        return self.begun and not self._waiting and not self._first[1:] and self._sent >= set(self.barrier.pings)
