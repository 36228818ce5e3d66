"""Barriers: a ping whose answer on a FIFO port proves that everything before it has arrived, instead of a wait.

The ports with inputs in flight are pinged first: their answers prove these inputs taken. Then the others: what those
inputs brought there was emitted before, and arrives before the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Barrier:
    """For each port an input that the system answers without any change of state, and how to know the answer.

    `pings` has one input a port; a port without one is not proven, and nothing may come there unasked for. `pong(port,
    output)` tells whether an output is such an answer; the model knows nothing of either.
    """

    pings: Mapping[str, object]
    pong: Callable[[str, Any], bool]


@dataclass(slots=True)
class Round:
    """The pings of one barrier on their way: first those of `begun`, then of all other ports."""

    barrier: Barrier
    begun: tuple[str, ...]
    _waiting: set[str] = field(default_factory=set[str])
    _sent: set[str] = field(default_factory=set[str])

    def next(self) -> str | None:
        """Return the port to be pinged now, None where answers are to be waited for."""
        first = [port for port in self.begun if port in self.barrier.pings and port not in self._sent]
        if first:
            return first[0]
        if self._waiting:
            return None
        return next((port for port in self.barrier.pings if port not in self._sent), None)

    def sent(self, port: str) -> None:
        """Take that a port was pinged."""
        self._sent.add(port)
        self._waiting.add(port)

    def answered(self, port: str) -> None:
        """Take that a port has answered."""
        self._waiting.discard(port)

    @property
    def done(self) -> bool:
        """Tell whether all ports have answered."""
        return not self._waiting and self._sent >= set(self.barrier.pings)
