"""A process that died while the machine ran out of memory may have been killed for that: the system is not blamed."""

from __future__ import annotations

from pathlib import Path

import pytest

from otf.runner import driving
from otf.runner.driving import excused, killed_for_memory
from otf.trace.verdict import Failure, FailureKind, Signature, Verdict


def failed(kind: FailureKind) -> Verdict:
    """A verdict with a failure of this kind."""
    return Verdict("fail", Failure(Signature(kind, "", "", "", ""), 1, 1, "", "the port ended: killed by SIGKILL", "p"))


@pytest.mark.parametrize("kind", ["ended", "missing", "late"])
def test_a_death_while_memory_was_short(kind: FailureKind) -> None:
    """A system that has gone, or is late, may have been killed by the kernel: that is inconclusive, and says why."""
    verdict = excused(failed(kind), 2)
    assert verdict.outcome == "inconclusive"
    assert verdict.why.startswith("the port ended: killed by SIGKILL, but the machine ran out of memory meanwhile and")


@pytest.mark.parametrize("kind", ["wrong", "unasked", "undecodable", "flood", "early"])
def test_what_lack_of_memory_does_not_bring(kind: FailureKind) -> None:
    """An output that the system sent still counts."""
    assert excused(failed(kind), 2).failed


def test_a_death_while_there_was_memory() -> None:
    """Where nothing was killed for memory, a death is a failure, and a pass is a pass anyway."""
    assert excused(failed("ended"), 0).failed
    assert excused(Verdict("pass"), 1).outcome == "pass"


def test_how_many_were_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel counts them; without its count there are none."""
    monkeypatch.setattr(driving, "_COUNTS", tmp_path / "vmstat")
    assert killed_for_memory() == 0
    (tmp_path / "vmstat").write_text("pgfault 12\noom_kill 3\nthp_split 1\n", encoding="ascii")
    assert killed_for_memory() == 3
    (tmp_path / "vmstat").write_text("pgfault 12\n", encoding="ascii")
    assert killed_for_memory() == 0
