"""What a test of a real system needs, and the reason for which it is skipped where that is not there."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Unpack

import pytest

from otf import run
from otf.adapter import Bench
from otf.campaign import InconclusiveError, SettingsKeywords, Summary
from otf.models.serving import found
from tests.debian import FILES, PROGRAMS, missing


def needs(*packages: str) -> pytest.MarkDecorator:
    """Return the mark that skips a test where one of these Debian packages is missing."""
    known = {*PROGRAMS.values(), *FILES.values()}
    assert known.issuperset(packages), packages
    gone = sorted(set(missing()) & set(packages))
    return pytest.mark.skipif(bool(gone), reason=f"Debian package not installed: {', '.join(gone)}")


def needs_module(name: str) -> pytest.MarkDecorator:
    """Return the mark that skips a test where a Python package is missing."""
    return pytest.mark.skipif(importlib.util.find_spec(name) is None, reason=f"Python package not installed: {name}")


def decided(bench: Bench, folder: Path, **settings: Unpack[SettingsKeywords]) -> Summary:
    """Return the summary of a campaign that decides. Raises InconclusiveError if the second one does not either.

    A busy machine may be to blame for an inconclusive campaign: it asks to be run again.
    """
    settings["out"] = folder / "first"
    try:
        return run(bench, **settings)
    except InconclusiveError:
        settings["out"] = folder / "second"
        return run(bench, **settings)


__all__ = ["decided", "found", "needs", "needs_module"]
