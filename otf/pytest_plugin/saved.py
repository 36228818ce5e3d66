"""Failures of earlier runs, kept in pytest's cache: they are tried first, until they pass."""

from __future__ import annotations

import hashlib
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from otf.adapter import Bench
from otf.campaign import PathResult, Settings, Summary
from otf.campaign.saved import Saved
from otf.campaign.settings import header


class SavedOfTest:
    """The failures that one test has had; they belong to a bench with its parameters."""

    def __init__(self, item: pytest.Item, bench: Bench, settings: Settings) -> None:
        self._bench, self._out = bench, settings.out
        cache: Any = getattr(item.config, "cache", None)  # there is none where pytest is told to have none
        name = hashlib.sha256(item.nodeid.encode()).hexdigest()[:16]
        head = header(bench, replace(settings, mode="strict"), 0, strategy="script")
        self._saved = None if cache is None else Saved(cache.mkdir("otf") / name, head)

    def keep(self, summary: Summary) -> None:
        """Keep a trace of each kind of failure, the shortest."""
        for group in summary.failures.values():
            if self._saved is not None:
                self._saved.keep(group.signature, (group.shrunk or group.first).trace)

    async def again(self) -> PathResult | None:
        """Try them; return the first that is still there, and forget those that are not."""
        if self._saved is None:
            return None
        self._out.mkdir(parents=True, exist_ok=True)
        async with aclosing(self._saved.retried(self._bench, self._bench.oracle(), self._out)) as retried:
            async for each in retried:
                if each.result is not None:
                    return each.result
        return None
