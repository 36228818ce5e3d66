"""Real systems are started and stopped, and nothing of them stays."""

import os
import subprocess
from pathlib import Path

import anyio
import pytest

from otf.adapter import Bench
from otf.cli.benches import load
from otf.models.serving import found
from tests.real.test_benches import SYSTEMS

CYCLES = 3


def open_descriptors() -> int:
    """Return how many descriptors this process has."""
    return len(list(Path("/proc/self/fd").iterdir()))


def children() -> list[str]:
    """Return the processes that this one has started and not buried."""
    command = [found("ps") or "/bin/ps", "-o", "pid=,comm=", "--ppid", str(os.getpid())]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    return [line for line in listed.stdout.splitlines() if not line.endswith(" ps")]


async def cycle(bench: Bench) -> None:
    """Start a system and stop it."""
    async with bench.open() as lines:
        assert lines


@pytest.mark.real
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="there is no /proc")
@pytest.mark.parametrize(("name", "parameters", "_traces", "_steps"), SYSTEMS)
def test_nothing_is_left_behind(name: str, parameters: dict[str, str], _traces: int, _steps: int) -> None:
    """After some starts and stops there are as many descriptors and children as before."""
    bench = load(name, parameters)
    anyio.run(cycle, bench)  # what Python itself opens once is open from here on
    before = open_descriptors(), children()
    for _ in range(CYCLES):
        anyio.run(cycle, bench)
    assert (open_descriptors(), children()) == before
