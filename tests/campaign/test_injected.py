"""Injected faults in a campaign: they are in the trace, and a failure is shrunk to the fault that matters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio

from otf.adapter import Bench
from otf.adapters import Faults, inject
from otf.campaign import Campaign, Settings, Summary
from otf.campaign import rerun as drive_again
from otf.channels import lossy
from otf.models.coffee import bench as coffee
from otf.trace.events import Event
from otf.trace.reading import TraceReader
from otf.trace.tagged import Registry


def noisy(bench: Bench) -> Bench:
    """The bench with a line that loses every fifth message."""
    return inject(replace(bench, quiescence=0.005), {"line": Faults(drop=0.2)})


def driven(bench: Bench, folder: Path, traces: int = 5) -> Summary:
    """A campaign on a bench."""
    return anyio.run(Campaign(bench, Settings(out=folder, traces=traces, steps=20, seed=3)).run)


def read(trace: Path, bench: Bench) -> tuple[TraceReader, list[Event]]:
    """A trace and its events."""
    with trace.open("rb") as file:
        reader = TraceReader(file.readlines(), trace.name)
        return reader, [told.event for told in reader.events(Registry(bench.known_types))]


def test_a_failure_is_shrunk_to_one_fault(tmp_path: Path) -> None:
    """With the plain model a lost message fails; the shrunk trace names that one fault, and shows it again."""
    bench = noisy(coffee())
    summary = driven(bench, tmp_path)
    assert summary.verdict == "fail"
    for group in summary.failures.values():
        assert group.shrunk is not None
        reader, events = read(group.shrunk.trace, bench)
        assert reader.header.faults is not None
        assert len(reader.header.faults) == 1
        assert '"faults":["line ' in group.shrunk.trace.read_text()
        settings = Settings(out=tmp_path / "again", seed=reader.header.seed)
        again = anyio.run(drive_again, bench, events, settings, reader.header)
        assert again.verdict.failure is not None
        assert again.verdict.failure.signature == group.signature


def test_a_model_of_the_net_allows_for_it(tmp_path: Path) -> None:
    """With the model under `lossy` the same machine behind the same line passes."""
    bench = coffee()
    net = lossy(bench.spec, inputs=["line"], outputs=["line"])
    assert driven(noisy(replace(bench, spec=net, inputs="uioco")), tmp_path).verdict == "pass"
