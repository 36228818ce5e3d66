"""A firmware whose start is tested: flashed, reset, dipped, switched off and on; six faults of its start are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from otf import NonconformanceError, run
from otf.models.serving import found
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


SHORT = 8
SOME = ("early",)
"""Faults that the first path shows; the others need more of them."""


@pytest.mark.parametrize(
    "fault", [each if each in SOME else pytest.param(each, marks=pytest.mark.slow) for each in FAULTS]
)
def test_faults_of_the_start_are_found_and_shrunk(tmp_path: Path, fault: str) -> None:
    """Each shows after a few inputs."""
    with pytest.raises(NonconformanceError) as raised:
        run(bench(tmp_path, fault), out=tmp_path / "out", traces=200, steps=15, seed=1, stop_first=True)
    (group,) = raised.value.summary.failures.values()
    assert group.shrunk is not None
    assert group.shrunk.steps <= SHORT
