"""Observing a campaign while it runs: the listener, and the chooser that notifies it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from otf.campaign.results import FailureGroup, PathResult
from otf.campaign.summary import Summary
from otf.core import Chooser, Symbol, View
from otf.trace.events import Event


class Listener:
    """Is notified of what happens in a campaign; this one does nothing, subclasses show progress.

    With several jobs paths run at the same time: `number` identifies the path.

    >>> import anyio
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from otf.campaign import Campaign, Settings
    >>> from otf.models.coffee import bench
    >>> class Names(Listener):
    ...     def path(self, result, summary):
    ...         print(result.number, result.verdict.outcome)
    >>> with TemporaryDirectory() as folder:
    ...     campaign = Campaign(bench(), Settings(out=Path(folder, "out"), traces=2, steps=10), Names())
    ...     _ = anyio.run(campaign.run)
    1 pass
    2 pass
    """

    def enabled(self, number: int, view: View) -> None:
        """Take the inputs that a path may send next, with the possible states."""

    def event(self, number: int, event: Event) -> None:
        """Take an event of a path."""

    def path(self, result: PathResult, summary: Summary) -> None:
        """Take a finished path."""

    def failed_start(self, number: int, why: str, pause: float) -> None:
        """Take a path that could not reach the system; it is driven again after a pause in seconds."""

    def shrinking(self, group: FailureGroup, length: int, transitions: int) -> None:
        """Take a step of shrinking: the length so far, and the transitions spent so far."""

    def failure(self, group: FailureGroup) -> None:
        """Take a kind of failure that is final: it was shrunk, or is not going to be."""


def callback(listener: Listener, name: Literal["event", "enabled"], number: int) -> Callable[[Any], None] | None:
    """Return the method of a listener for one path, None if its class does not override it."""
    method = getattr(listener, name)
    return None if getattr(method, "__func__", None) is getattr(Listener, name) else partial(method, number)


def listened(chooser: Chooser, enabled: Callable[[View], None] | None) -> Chooser:
    """Return a chooser that notifies `enabled` of each choice."""
    # every step makes a choice: with no listener, the strategy itself is asked
    return chooser if enabled is None else _Notifying(chooser, enabled)


class _Notifying:
    def __init__(self, chooser: Chooser, enabled: Callable[[View], None]) -> None:
        self._chooser = chooser
        self._enabled = enabled

    def choose(self, view: View) -> Symbol | None:
        self._enabled(view)
        return self._chooser.choose(view)
