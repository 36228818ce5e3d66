"""Testing a bench from Python: one call that raises on a failure, so that it is a test in one line."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import anyio

from otf.adapter import Bench
from otf.campaign.campaign import Campaign
from otf.campaign.results import FailureGroup, Summary
from otf.campaign.settings import Settings
from otf.errors import ContactError
from otf.trace.explain import explanation


class NonconformanceError(AssertionError):
    """A campaign found nonconformance; the message tells the first failure, `summary` has all."""

    def __init__(self, summary: Summary) -> None:
        self.summary = summary
        super().__init__("\n\n".join(map(_told, summary.failures.values())))


def run(bench: Bench, **settings: Any) -> Summary:  # noqa: ANN401 -- the fields of Settings
    """Test a bench with a campaign and return its summary; the settings are those of `Settings`.

    Raises NonconformanceError on a failure, ContactError where nothing could be decided because the system could not
    be reached, ModelError where the model is broken. Without `out`, traces are kept of what did not pass only, in a new
    folder among the system's temporary ones; the message names them. Must not be called from within an event loop.
    """
    if "out" in settings:
        return _decided(anyio.run(Campaign(bench, Settings(**settings)).run))
    folder = Path(tempfile.mkdtemp(prefix="otf-"))
    summary = _decided(anyio.run(Campaign(bench, Settings(out=folder, **settings)).run))
    shutil.rmtree(folder)  # where it failed, the folder stays for as long as its traces are needed
    return summary


def _decided(summary: Summary) -> Summary:
    if summary.failures:
        raise NonconformanceError(summary)
    if summary.verdict == "inconclusive":
        raise ContactError(summary.trouble or "; ".join(result.verdict.why for result in summary.inconclusive))
    return summary


def _told(group: FailureGroup) -> str:
    shrunk = group.shrunk
    told = shrunk or group.first
    return f"{explanation(told.verdict, told.events)}\ntrace: {told.trace}"
