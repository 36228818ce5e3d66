"""The commands of a session to its runner, and the chooser that gives the session its inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from otf.core.memory import Symbol
from otf.core.nodes import Node
from otf.core.view import View
from otf.trace.verdict import Failure, Verdict
from otf.values.identity import light


@light
class Send:
    """Send this input to its port now; "" if the bench names no port, or if the input only waits.

    >>> from otf.core import Symbol
    >>> Send(Symbol("press", "press"), "panel").input.value
    'press'
    """

    input: Symbol
    port: str = ""


@dataclass(frozen=True, slots=True)
class Ping:
    """Send this input of a barrier now and confirm it with `pinged`; its answer goes to `pong` and is not judged.

    >>> Ping("tcp", "are you there?").port
    'tcp'
    """

    port: str
    input: object


@light
class Wait:
    """Wait for an output until this time (seconds since the start of the run); then call `silence`.

    >>> Wait(until=0.25).until
    0.25
    """

    until: float


@dataclass(frozen=True, slots=True)
class Stop:
    """The run is over.

    >>> from otf.trace import Verdict
    >>> Stop(Verdict("pass")).verdict.outcome
    'pass'
    """

    verdict: Verdict


SessionCommand: TypeAlias = Send | Ping | Wait | Stop


GoesPast: TypeAlias = Callable[[tuple[Node, ...], Symbol, Failure], bool]
"""Is told of a failure at an input in these nodes; returns whether the run goes on past it, as it is known."""


class Chooser(Protocol):
    """Chooses inputs: a strategy, or a script."""

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, or None to end the path."""
        ...
