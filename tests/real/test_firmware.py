"""A firmware whose start is tested: flashed, reset, dipped, switched off and on; six faults of its start are found."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from otf import NonconformanceError, run
from otf.models.serving import found
from tests.real.firmware.bench import FAULTS, bench, build
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


PAGE = Path(__file__).parents[2] / "docs" / "howto-boards.md"


@pytest.mark.slow
def test_the_bench_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From an ELF and a datasheet to a verdict: the firmware passes, and one whose watchdog's flag stays is found."""
    (found,) = re.findall(r"<!-- file: board.py -->\n```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "board.py").write_text(found, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    given = [
        sys.executable,
        "-m",
        "otf",
        "run",
        "board.py",
        "--traces",
        "2",
        "--steps",
        "12",
        "--seed",
        "1",
        "--stop-first",
        "--no-shrink",
    ]
    for fault, status in (("none", 0), ("stale", 1)):
        image = build(tmp_path, fault)
        done = subprocess.run([*given, "--set", f"elf={image}"], check=False, capture_output=True, text=True)
        assert done.returncode == status, done.stdout


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
