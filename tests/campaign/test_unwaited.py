"""A failure that shows only where timers are not waited for, and its shrinking."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio

from otf.adapter import Bench
from otf.adapters import inprocess
from otf.campaign import Shrinker, Shrunk
from otf.campaign.pace import Pace
from otf.campaign.paths import PathRun
from otf.campaign.settings import Settings, header
from otf.core.timer_waits import Timers
from otf.strategy import Script
from tests.campaign.test_elapse import BRIEF, CODEC, TIMED, Get
from tests.runner.playing import virtually


class Store:
    """A store that does not have a key while it is fresh; it expires after 0.1 s."""

    def __init__(self) -> None:
        self._kept = -1.0

    def answer(self, data: bytes) -> bytes:
        """Answer a line."""
        age = anyio.current_time() - self._kept
        if data == b"get":
            return b"no" if self._kept < 0 or age < 0.05 or age > 0.1 else b"yes"
        self._kept = anyio.current_time()
        return b"ok"


BENCH = Bench.on_ports(TIMED, CODEC, {"db": inprocess(lambda: Store().answer)}, name="store", quiescence=0.004)


def test_the_run_is_driven_again_as_it_failed(tmp_path: Path) -> None:
    """Whoever waits until the key expires between the inputs never sees that it was missing before."""

    async def shrunk() -> Shrunk:
        inputs, oracle = [Get(), BRIEF, Get()], BENCH.oracle()
        head = header(BENCH, Settings(out=tmp_path), 1)
        timers = Timers(last=True, between=False)
        pacing = Pace("strict", 1, BENCH.timing, timers=timers).pacing()
        run = PathRun(BENCH, oracle, replace(head, mode="strict"), tmp_path / "path-0001.jsonl")
        failing = await run.run(Script(inputs), len(inputs), pacing)
        assert failing.verdict.failed
        return await Shrinker(bench=BENCH, oracle=oracle, header=head).run(failing)

    found = virtually(shrunk)
    assert (found.steps, found.before, found.minimal) == (2, 1.0, True)
