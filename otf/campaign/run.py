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
from otf.errors import INCONCLUSIVE, ContactError, OtfError
from otf.trace.explain import explanation


class NonconformanceError(AssertionError):
    """A campaign found nonconformance; the message tells the first failure, `summary` has all."""

    def __init__(self, summary: Summary) -> None:
        self.summary = summary
        super().__init__("\n\n".join(map(_told, summary.failures.values())))


class InconclusiveError(OtfError):
    """A campaign had contact with the system and could decide nothing; the message tells why, `summary` has all."""

    exit_status = INCONCLUSIVE

    def __init__(self, summary: Summary) -> None:
        self.summary = summary
        super().__init__("; ".join(dict.fromkeys(result.verdict.why for result in summary.inconclusive)))


def run(bench: Bench, **settings: Any) -> Summary:  # noqa: ANN401 -- the fields of Settings
    """Test a bench with a campaign and return its summary; the settings are those of `Settings`.

    Raises NonconformanceError on a failure, ContactError where the system could not be reached, InconclusiveError where
    nothing could be decided for another reason, ModelError where the model is broken. Without `out`, traces are kept of
    what did not pass only, in a new folder among the system's temporary ones; the message names them. Must not be
    called from within an event loop.
    """
    if "out" in settings:
        return _passed(anyio.run(Campaign(bench, Settings(**settings)).run))
    folder = Path(tempfile.mkdtemp(prefix="otf-"))
    summary = _passed(anyio.run(Campaign(bench, Settings(out=folder, **settings)).run))
    shutil.rmtree(folder)  # where it failed, the folder stays for as long as its traces are needed
    return summary


def _passed(summary: Summary) -> Summary:
    if summary.failures:
        raise NonconformanceError(summary)
    return decided(summary)


def decided(summary: Summary) -> Summary:
    """Return a summary without failures. Raises ContactError or InconclusiveError where nothing was decided."""
    if summary.trouble:
        raise ContactError(summary.trouble)
    if summary.verdict == "inconclusive":
        raise InconclusiveError(summary)
    return summary


def _told(group: FailureGroup) -> str:
    shrunk = group.shrunk
    told = shrunk or group.first
    return f"{explanation(told.verdict, told.events)}\ntrace: {told.trace}"
