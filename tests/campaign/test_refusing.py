"""A system that refuses three coins of ten, as its model allows: the shrunk trace shows the failure in every re-run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from otf import Bench
from otf.campaign import Settings, rerun
from otf.core.walk import Act
from otf.models.refusing import REFUSING, moody
from otf.models.vending import Change, Cup, Text
from otf.models.vending_faults import Device
from otf.trace.reading import TraceReader, bounded
from tests.campaign.machine import judged, run
from tests.runner.playing import virtually

RERUNS = 30


def _bench(fault: str) -> Bench:
    random = Random(1)

    def make() -> Act:
        device = Device()

        def act(inp: object) -> Sequence[object]:
            nonlocal device
            device, outputs = moody(fault, random, device, inp)
            return outputs

        return act

    return Bench(REFUSING, system=make, name="refusing", types=(Change, Cup, Text))


@pytest.mark.parametrize(("fault", "steps"), [("sticky", 4), ("dear", 5), ("digit", 6)])
def test_it_shows_again_every_time(tmp_path: Path, fault: str, steps: int) -> None:
    """Shrunk to the fewest inputs for few transitions, with a rate of one; so is each re-run of it."""
    tested = _bench(fault)
    summary = run(tested, tmp_path, traces=1, steps=2000, seed=1)
    (shrunk,) = [group.shrunk for group in summary.failures.values()]
    assert shrunk is not None
    assert (shrunk.steps, shrunk.rate, shrunk.runs, shrunk.minimal) == (steps, 1.0, 4, True)
    with shrunk.trace.open("rb") as file:
        recorded = TraceReader(bounded(file), "shrunk").header
    events = judged(shrunk.trace, tested).events
    again = [
        virtually(lambda: rerun(tested, events, Settings(out=tmp_path / "again"), recorded)) for _ in range(RERUNS)
    ]
    failures = [each.verdict.failure for each in again]
    assert [failure.signature for failure in failures if failure] == [*summary.failures] * RERUNS
