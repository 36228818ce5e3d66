"""How long a system has rested since the last event: the quiescence time counts that, and nothing else.

By the clock on the wall, a chain of short timers, new threads and new processes outlives any quiescence time on a busy
machine; while all threads sleep, only the timers pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from otf.adapter.rest.calls import ANYTIME

TICKS: Final = 200
"""Rests within one wait that timers ended, after which the system is taken to tick for ever."""


@dataclass(slots=True)
class Stillness:
    """The rest that is still wanted, `left` seconds of it.

    It is believed as soon as no thread can wake within what is left. A thread that may is waited for, and then a new
    rest is needed: what is left grows less only by the time for which all threads certainly slept.
    """

    left: float
    ticks: int = 0
    _wanted: float = field(init=False)
    _since: float | None = None
    _due: float = ANYTIME

    def __post_init__(self) -> None:
        """Remember what was wanted."""
        self._wanted = self.left

    def rest(self, began: float, ended: float, due: float, *, still: bool) -> bool:
        """Take a rest that was observed between two moments; return whether silence is believed.

        `due`: the earliest moment at which a thread may wake. `still`: no thread ran since the rest before.
        """
        self._count(began, still=still)
        if not still:
            self.ticks += 1
        self._since, self._due = ended, due
        if due > ended + max(self.left, 0.0):
            return True
        # a wake-up that nothing is known about is not waited for longer than that; one that should have come, twice
        # as long: its interrupt may be late
        return self.left <= (0.0 if due == ANYTIME else -self._wanted)

    def broken(self, at: float) -> None:
        """Record that a thread was seen to run at that moment."""
        self._count(at, still=False)
        self._since = None

    @property
    def ticking(self) -> bool:
        """Whether timers end the rests again and again."""
        return self.ticks > TICKS

    def _count(self, until: float, *, still: bool) -> None:
        if self._since is not None:
            # a sleep that nothing but a timer can end lasted until that timer at least
            asleep = until if still else min(until, self._due)
            self.left -= max(asleep - self._since, 0.0)
