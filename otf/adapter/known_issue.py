"""Departures of a system from its standard that are known: a campaign goes on past them, and counts them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from otf.trace.verdict import Failure


@dataclass(frozen=True, slots=True)
class KnownIssue:
    """A known departure: `shows` tells whether a failure is one of it, `says` tells people what it is.

    >>> KnownIssue(lambda failure: "Unknown command" in failure.seen, "it answers what it should ignore").says
    'it answers what it should ignore'
    """

    shows: Callable[[Failure], bool]
    says: str
