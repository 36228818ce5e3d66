"""Calibrating: measuring how fast a system answers, and the times that its bench may state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from otf.adapter import Bench
from otf.campaign.campaign import Campaign
from otf.campaign.settings import Settings
from otf.campaign.summary import Listener, Summary
from otf.trace.events import Event, Seen, Sent

ROOM: Final = 3  # times the longest reply: the machine will be busier one day
GENEROUS: Final = 0.5  # seconds of silence while measuring: a late output is to be measured, not missed


@dataclass(frozen=True, slots=True)
class Calibration:
    """The reply times, in seconds from each input to its last output, and the bounds that follow from them."""

    replies: tuple[float, ...]
    summary: Summary

    def quantile(self, share: float) -> float:
        """Return the time within which this share of the replies came; 0 if there were none."""
        ordered = sorted(self.replies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0

    @property
    def bound(self) -> float:
        """Return a value for both L and R: a reply takes at most 2L + R."""
        return ROOM * self.quantile(1.0) / 3

    @property
    def quiescence(self) -> float:
        """Return the quiescence time, 2L + R with the same room."""
        return 3 * self.bound


class _Stopwatch(Listener):
    """Measures from each input to the last output before the next."""

    def __init__(self) -> None:
        self.replies: list[float] = []
        self._sent = self._seen = 0.0

    def event(self, number: int, event: Event) -> None:  # noqa: ARG002 -- paths do not overlap here
        """Take an event; only one path runs at a time."""
        if isinstance(event, Seen):
            self._seen = event.at
            return
        if self._seen > self._sent:
            self.replies.append(self._seen - self._sent)
        self._seen = 0.0
        self._sent = event.at if isinstance(event, Sent) else float("inf")


async def calibrate(bench: Bench, settings: Settings) -> Calibration:
    """Run a campaign in strict mode with a long quiescence time, and return how fast the system answered."""
    stopwatch = _Stopwatch()
    slow = replace(bench, quiescence=max(GENEROUS, bench.quiescence or 0.0))
    campaign = Campaign(slow, replace(settings, mode="strict", burst=1, jobs=1, shrink=False), stopwatch)
    await campaign.run()
    return Calibration(tuple(stopwatch.replies), campaign.summary)
