"""Trouble with the line: a path is gone again as often as the bench says, and then nothing was decided."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from otf.adapter import Arrival, Bench, Line, Trouble
from otf.adapters.inprocess import InprocessLine, open_inprocess
from otf.campaign import Campaign, Settings, Summary
from otf.codec import lines
from otf.models.coffee import Button, Coffee, Coin, Machine, coffee

CODEC = lines({Coin: "coin {cents}", Button: "button", Coffee: "coffee"}, port="line")


class Troubled(InprocessLine):
    """A line to a coffee machine whose cable is pulled out after the first input."""

    def receive(self) -> list[Arrival]:
        """Say that the cable is gone."""
        return [Trouble("the cable is gone")]


def driven(folder: Path, troubles: int, retries: int) -> tuple[Summary, int]:
    """A campaign of one path on a machine with trouble in so many starts; and how often it was started."""
    starts = 0

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        nonlocal starts
        starts += 1
        async with open_inprocess(lambda: Machine().take) as line:
            if starts <= troubles:
                line.__class__ = Troubled
            yield {"line": line}

    bench = Bench(
        coffee, codec=CODEC, connect=connect, outputs=("line",), retries=retries, name="cable", quiescence=0.01
    )
    return anyio.run(Campaign(bench, Settings(out=folder, traces=1, steps=10)).run), starts


@pytest.mark.parametrize(("troubles", "retries", "verdict"), [(1, 1, "pass"), (2, 2, "pass"), (2, 1, "inconclusive")])
def test_a_path_is_run_again(tmp_path: Path, troubles: int, retries: int, verdict: str) -> None:
    """A path is run again after trouble on its line; its result counts only if the trouble does not end."""
    summary, starts = driven(tmp_path, troubles, retries)
    assert (summary.verdict, summary.paths, starts) == (verdict, 1, min(troubles, retries) + 1)


def test_trouble_that_does_not_end_has_its_exit_status(tmp_path: Path) -> None:
    """Nothing was decided, and the path says why."""
    summary, _ = driven(tmp_path, 5, 0)
    assert summary.exit_status == 3
    assert summary.inconclusive[0].verdict.why == "the line was at fault: line: the cable is gone"
