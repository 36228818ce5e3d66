"""A device with cyclic messages and a session timer: live, from its logs, and in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from typer.testing import CliRunner

from otf.adapter import Bench
from otf.campaign import Campaign, Settings, Summary
from otf.cli.app import app
from otf.errors import INCONCLUSIVE, UsageError
from otf.models.session_device import MUTANTS, bench
from otf.models.session_server import Device
from tests.models.virtual import in_memory, virtually
from tests.real.needs import needs


def virtual(fault: str = "none", make: Callable[[], asyncio.Protocol] | None = None) -> Bench:
    """Return the bench of the device in this process."""
    return replace(bench(fault=fault), connect=in_memory(make or (lambda: Device(fault)), "line"))


def campaign(tested: Bench, out: Path, traces: int, *, seed: int = 1, shrink: bool = True) -> Summary:
    """Run a campaign in virtual time."""
    settings = Settings(out=out, traces=traces, steps=20, seed=seed, keep="failures", stop_first=True, shrink=shrink)
    return virtually(Campaign(tested, settings).run)


# 10,000 paths in pieces: a test may take two minutes
SEEDS: Final = [pytest.param(1_000, seed, marks=pytest.mark.slow) for seed in range(2, 12)]


@pytest.mark.parametrize(("traces", "seed"), [(20, 1), *SEEDS])
def test_the_device_conforms_in_virtual_time(traces: int, seed: int, tmp_path: Path) -> None:
    """Cyclic messages, sessions that end, sessions that go on: all in their windows, and no time passes."""
    summary = campaign(virtual(), tmp_path / "out", traces, seed=seed)
    assert (summary.verdict, summary.paths, summary.steps) == ("pass", traces, 20 * traces)


@pytest.mark.parametrize("fault", MUTANTS)
def test_each_mutant_is_found_in_virtual_time(fault: str, tmp_path: Path) -> None:
    """By a message that comes too early or late, or by a session that should have ended."""
    summary = campaign(virtual(fault), tmp_path / "out", 200, shrink=False)
    assert summary.verdict == "fail"


async def by_streams(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve as the device does, written with streams; it knows no more than to refuse."""
    while await reader.readline():
        await asyncio.sleep(0.001)
        writer.write(b"refused\n")
        await writer.drain()
    writer.close()


class Refusing(asyncio.StreamReaderProtocol):
    """The protocol that `asyncio.start_server` makes for a handler."""

    def __init__(self) -> None:
        super().__init__(asyncio.StreamReader(), by_streams)


def test_a_handler_of_streams_runs_in_virtual_time_too(tmp_path: Path) -> None:
    """`Begin` must not be refused; that it was, is seen."""
    summary = campaign(virtual(make=Refusing), tmp_path / "out", 1, shrink=False)
    assert [str(signature).partition(":")[0] for signature in summary.failures] == ["wrong"]


def test_an_unknown_fault_is_refused() -> None:
    """With those that there are."""
    with pytest.raises(UsageError, match="it has endless"):
        bench(fault="odd")


@pytest.mark.real
@pytest.mark.parametrize("traces", [2, pytest.param(100, marks=pytest.mark.slow)])
def test_the_device_conforms_live_and_its_logs_are_judged_alike(traces: int, tmp_path: Path) -> None:
    """As a child process over TCP; each trace is judged again without it."""
    out = tmp_path / "out"
    command = ["run", "session_device", "--traces", str(traces), "--steps", "10", "--jobs", "5", "--seed", "1"]
    ran = CliRunner().invoke(app, [*command, "--no-saved", "--out", str(out)])
    if ran.exit_code == INCONCLUSIVE:
        pytest.skip("the machine was too busy to decide all paths, and none of them failed")
    assert ran.exit_code == 0, ran.output
    traced = sorted(map(str, out.glob("path-*.jsonl")))
    assert len(traced) == traces
    assert CliRunner().invoke(app, ["replay", *traced]).exit_code == 0


@pytest.mark.real
@needs("faketime")
def test_the_device_lives_faster(tmp_path: Path) -> None:
    """Five times as fast it conforms, and its trace says at which speed it was recorded and is judged again."""
    out = tmp_path / "out"
    command = ["run", "session_device", "--speed", "5", "--traces", "2", "--steps", "10", "--seed", "1"]
    ran = CliRunner().invoke(app, [*command, "--no-saved", "--out", str(out)])
    assert ran.exit_code == 0, ran.output
    trace = out / "path-0001.jsonl"
    assert '"speed":5.0' in trace.read_text(encoding="utf-8").splitlines()[0]
    assert CliRunner().invoke(app, ["replay", str(trace)]).exit_code == 0
