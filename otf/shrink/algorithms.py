"""The algorithms by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

from otf.core import InputMode, Oracle
from otf.errors import UsageError
from otf.shrink.cycles import cycles
from otf.shrink.ddmin import ddmin
from otf.shrink.elements import elements
from otf.shrink.halving import halving
from otf.shrink.issue import Issue, Shrinking
from otf.shrink.modelled import modelled
from otf.shrink.once import once, only
from otf.shrink.partial import partial

BEST: Final = "model"


@dataclass(frozen=True, slots=True)
class Setting:
    """What there is besides the issue: the oracle, which inputs may be offered, and a seed."""

    oracle: Oracle
    mode: InputMode = "uioco"
    seed: int = 0


Algorithm = Callable[[Issue, Setting], Shrinking]


def _both(issue: Issue, *, truncates: bool = False) -> Shrinking:
    issue = yield from cycles(issue)
    return (yield from elements(issue, truncates=truncates))


ALGORITHMS: Final[Mapping[str, Algorithm]] = {
    BEST: lambda issue, setting: modelled(issue, setting.oracle),
    "halving": lambda issue, setting: only(halving(issue, Random(setting.seed), setting.mode), issue.signature),
    "elements": lambda issue, _setting: only(elements(issue), issue.signature),
    "elements-truncated": lambda issue, _setting: only(elements(issue, truncates=True), issue.signature),
    "cycles": lambda issue, _setting: only(cycles(issue), issue.signature),
    "cycles+elements": lambda issue, _setting: only(_both(issue), issue.signature),
    "cycles+elements-truncated": lambda issue, _setting: only(_both(issue, truncates=True), issue.signature),
    "partial": lambda issue, setting: only(partial(issue, setting.oracle), issue.signature),
    "ddmin": lambda issue, _setting: only(ddmin(issue), issue.signature),
}


def shrinking(issue: Issue, setting: Setting, algorithm: str = BEST) -> Shrinking:
    """Return the shrinking of an issue by a named algorithm. Raises UsageError for a name that does not exist."""
    if algorithm not in ALGORITHMS:
        message = f"there is no algorithm {algorithm!r}; there are {', '.join(ALGORITHMS)}"
        raise UsageError(message)
    return once(ALGORITHMS[algorithm](issue, setting))
