"""The times of a bench, stated or learnt."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

ENOUGH: Final = 30  # replies before anything is learnt from them
KEPT: Final = 1000  # the latest replies, of which the slowest hundredth is the measure
MANY: Final = 8  # silence is believed after this many times as long as a slow reply takes


@dataclass(slots=True)
class Timing:
    """The times of a bench, in seconds.

    `quiescence`: how long silence lasts to be believed. `latency` (L): the longest way of a message through a port.
    `busy` (R): the longest time that the system is busy with one input.
    """

    quiescence: float = 0.1
    latency: float = 0.002
    busy: float = 0.002

    def settled(self, inputs: int) -> float:
        """Return how long after the last of `inputs` unproven inputs everything has been taken and seen: 2L + nR."""
        return 2 * self.latency + inputs * self.busy

    def heard(self, reply: float) -> None:
        """Take that the last output of a step came so many seconds after its input; stated times stay as they are."""


@dataclass(slots=True)
class Learnt(Timing):
    """Times whose quiescence is learnt from how fast the system answers; what is stated is where it begins.

    A multiple of what all but a hundredth of the replies take, and never shorter than 2L + R: with bounds that hold, a
    window learnt too short costs a second look, never a verdict.
    """

    replies: deque[float] = field(default_factory=lambda: deque[float](maxlen=KEPT))
    _heard: int = 0

    def heard(self, reply: float) -> None:
        """Learn from a reply; now and then, since sorting takes time."""
        self.replies.append(reply)
        self._heard += 1
        if self._heard % ENOUGH == 0:
            self.quiescence: float = max(self.settled(1), MANY * self.quantile(0.99))

    def quantile(self, share: float) -> float:
        """Return the time within which this share of the replies came."""
        ordered = sorted(self.replies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
