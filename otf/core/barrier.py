"""Barriers: a ping whose answer on a FIFO port proves that everything before it has arrived, instead of a wait.

The ports with inputs in flight are pinged first: their answers prove these inputs taken. Then the others: the outputs
of those inputs were emitted before the answers, and arrive before them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


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
class Round:
    """The pings of one barrier: first those of the ports in `begun`, then of all other ports."""

    barrier: Barrier
    begun: tuple[str, ...]
    _waiting: set[str] = field(default_factory=set[str])
    _sent: set[str] = field(default_factory=set[str])

    def next(self) -> str | None:
        """Return the port to ping now, None while answers are outstanding."""
        first = [port for port in self.begun if port in self.barrier.pings and port not in self._sent]
        if first:
            return first[0]
        if self._waiting:
            return None
        return next((port for port in self.barrier.pings if port not in self._sent), None)

    def sent(self, port: str) -> None:
        """Note that a port was pinged."""
        self._sent.add(port)
        self._waiting.add(port)

    def answered(self, port: str) -> None:
        """Note that a port has answered."""
        self._waiting.discard(port)

    @property
    def done(self) -> bool:
        """Return whether all ports have answered."""
        return not self._waiting and self._sent >= set(self.barrier.pings)
