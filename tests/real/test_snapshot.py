"""U-Boot in QEMU from a snapshot: what a path changed is gone in the next, and a path needs no boot."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.snapshots import bench
from otf.adapter import Line
from otf.adapter.kept import keeping
from otf.models.serving import until_told
from otf.models.uboot.messages import PORT, PROMPT
from otf.trace.verdict import Outcome
from tests.real.needs import decided, needs

TWICE = 2


async def typed(line: Line, command: bytes) -> bytes:
    """What the board says to a command."""
    await line.send(command)
    return await until_told(line, lambda data: data.endswith(PROMPT), 20.0)


@pytest.mark.real
@needs("qemu-system-arm", "qemu-utils", "u-boot-qemu")
@pytest.mark.anyio
async def test_each_path_begins_in_the_state_behind_the_boot(tmp_path: Path) -> None:
    """Variables that a path set are gone in the next, and QEMU is the same."""
    made, values = bench(tmp_path), list[bytes]()
    async with keeping():
        for _ in range(TWICE):
            async with made.open() as lines:
                values.append(await typed(lines[PORT], b"printenv a"))
                await typed(lines[PORT], b"setenv a 5")
                assert made.life is not None
                assert made.life.lasting.saved
    assert values == [b'printenv a\r\n## Error: "a" not defined\r\n=> '] * TWICE


@pytest.mark.real
@needs("qemu-system-arm", "qemu-utils", "u-boot-qemu")
def test_paths_from_a_snapshot_and_from_resets_pass(tmp_path: Path) -> None:
    """Every third path is driven both ways."""
    summary = decided(bench(tmp_path, both=3), tmp_path / "out", traces=4, steps=4, seed=1)
    outcome: Outcome = summary.verdict
    assert outcome == "pass"
