"""What a test of a real system needs, and the reason for which it is skipped where that is not there."""

from __future__ import annotations

import importlib.util

import pytest

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


__all__ = ["found", "needs", "needs_module"]
