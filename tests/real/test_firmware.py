"""A firmware whose start is tested: flashed, reset, dipped, switched off and on; six faults of its start are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from otf.models.serving import found
from otf.trace.events import Sent
from tests.real.firmware.bench import FAULTS, bench
from tests.real.needs import decided, needs

pytestmark = [
    pytest.mark.real,
    needs("qemu-system-arm"),
    pytest.mark.skipif(found("arm-none-eabi-gcc") is None, reason="Debian package not installed: gcc-arm-none-eabi"),
]


def test_the_board_is_as_it_should_be(tmp_path: Path) -> None:
    """Each path begins with power-on, and the banner is in its window."""
    summary = decided(bench(tmp_path), tmp_path / "out", traces=3, steps=10, seed=1)
    assert summary.verdict == "pass"


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_the_start_are_found_and_shrunk(tmp_path: Path, fault: str) -> None:
    """Each shows after a few inputs."""
    summary = decided(bench(tmp_path, fault), tmp_path / "out", traces=20, steps=15, seed=1, stop_first=True)
    (group,) = summary.failures.values()
    assert group.shrunk is not None
    assert sum(isinstance(each, Sent) for each in group.shrunk.events) <= 8, group.shrunk.events
