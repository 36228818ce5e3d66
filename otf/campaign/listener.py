"""Who is told what happens in a campaign, while it happens."""

from __future__ import annotations

from otf.campaign.results import FailureGroup, PathResult, Summary
from otf.core import View
from otf.trace.events import Event


class Listener:
    """Is told what happens in a campaign; this one does nothing, others show progress.

    With several jobs paths run at once: `number` says which one it is.
    """

    def offered(self, number: int, view: View) -> None:
        """Take what a path may send next, with the states that are possible now."""

    def event(self, number: int, event: Event) -> None:
        """Take an event of a path."""

    def path(self, result: PathResult, summary: Summary) -> None:
        """Take a finished path."""

    def shrinking(self, group: FailureGroup, length: int, transitions: int) -> None:
        """Take a step of shrinking: the length that is reached, and what it took so far."""
