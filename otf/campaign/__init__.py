"""A campaign drives many paths against fresh copies of a system, groups the failures by kind, and shrinks them."""

from typing import TYPE_CHECKING

from otf._exports import fetching
from otf.campaign.run import InconclusiveError, NonconformanceError, require_decided, run

if TYPE_CHECKING:
    from otf.campaign.again import rerun
    from otf.campaign.campaign import Campaign
    from otf.campaign.results import FailureGroup, PathResult, Retried, Shrunk
    from otf.campaign.settings import Budget, Settings, SettingsKeywords
    from otf.campaign.shrinking import Shrinker
    from otf.campaign.summary import Listener, Summary

__all__ = [
    "Budget",
    "Campaign",
    "FailureGroup",
    "InconclusiveError",
    "Listener",
    "NonconformanceError",
    "PathResult",
    "Retried",
    "Settings",
    "SettingsKeywords",
    "Shrinker",
    "Shrunk",
    "Summary",
    "require_decided",
    "rerun",
    "run",
]

if not TYPE_CHECKING:
    __getattr__ = fetching(__name__)
