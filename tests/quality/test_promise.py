"""The promise: a conforming system is never failed, in any mode; what is wrong and can be seen is found.

`python -m benchmarks.soundness --runs 100000` does the same on demand, with more runs.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import soundness
from benchmarks.controls import CONTROLS
from benchmarks.seeded import FIELDS, hunt
from benchmarks.subjects import SUBJECTS
from benchmarks.trials import BOUND, controlled, sound
from otf.simulate.system import MutationKind

RUNS, SEED = 160, 7
FAULTS = [(name, kind) for name, kinds in FIELDS for kind in kinds]


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_conforming_system_is_never_failed(name: str) -> None:
    """By strict, eager and burst pacing, whatever the latencies inside the bounds; 2,080 runs in all."""
    cells = list(sound(RUNS, SEED, [name]))
    assert [case for cell in cells for case in cell.alarms] == []
    assert sum(cell.runs for cell in cells) >= RUNS
    assert sum(cell.verdicts["pass"] for cell in cells) >= 0.98 * RUNS


@pytest.mark.parametrize("name", CONTROLS)
def test_without_a_rule_there_are_false_alarms(name: str) -> None:
    """Each rule is needed: without it systems that conform are failed, and with it none is."""
    control = controlled(name, 100, SEED)
    assert control.without > 0
    assert control.kept == 0


@pytest.mark.parametrize(("name", "kind"), FAULTS)
def test_a_seeded_fault_is_found(name: str, kind: MutationKind) -> None:
    """Wrong, missing and surplus outputs, wrong next states; late, early and dead timers; strictly and eagerly."""
    assert [found for found in hunt(name, kind, 1, SEED, BOUND) if found.steps is None] == []


def test_the_figures_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file says how many runs there were, what failed of them and of the controls, what was seeded and missed."""
    soundness.main(["--runs", "1", "--controls", "10", "--faults", "0", "--json", str(tmp_path / "figures.json")])
    figures = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert {"runs", "false_alarms", "control_false_alarms", "seeded", "missed"} <= figures.keys()
    assert figures["runs"] >= 500
    assert figures["false_alarms"] == 0 < figures["control_false_alarms"]
    assert "false_alarms 0" in capsys.readouterr().out
