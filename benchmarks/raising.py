"""A system in this process that raises, ends or falls silent at a random input."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Final

import anyio

from otf.adapter import Ending
from otf.adapters.inprocess import Reply, inprocess
from otf.campaign import Campaign, Settings
from tests.e2e.counting import STEPS, Counting
from tests.e2e.harmed import LOOPS

LAST: Final = 30  # the last input at which it does: each failure is driven again strictly
COMES_TO: Final = {"raise": "ended", "end": "ended", "silent": "missing"}


def raising(random: Random, loop: str) -> tuple[str, str]:
    """Strike once; return the verdict, and the word for its right result."""
    how, at = random.choice(list(COMES_TO)), random.randrange(1, LAST)
    bench = replace(Counting("inprocess").bench, connect=None, ports={"p": inprocess(lambda: counting(how, at))})
    backend, options = LOOPS[loop]
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(out=Path(folder), traces=1, steps=STEPS, shrink=False)
        summary = anyio.run(Campaign(bench, settings).run, backend=backend, backend_options=options)
    kinds = {signature.kind for signature in summary.failures}
    return summary.verdict, COMES_TO[how] if kinds == {COMES_TO[how]} else ""


def counting(how: str, at: int) -> Callable[[bytes], Reply | None]:
    """Return a counter that is harmed at this input."""
    number = 0

    def take(_: bytes) -> Reply | None:
        nonlocal number
        number += 1
        if number < at:
            return b"count %d" % (number % 4)
        if how == "raise":
            raise ValueError("struck")
        return Ending("exit status 3") if how == "end" else None

    return take
