"""The road of a step stays short: somebody who takes the project over has to hold it in the head."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.road import road

FILES = 25
FUNCTIONS = 121
OF_A_FIRST_RUN = 115  # files; 90 are the goal


@pytest.mark.real
@pytest.mark.skipif(sys.platform != "linux", reason="silence is observed on Linux only")
def test_a_warm_strict_step_enters_few_files_and_functions() -> None:
    """The conference, observed, the third path."""
    found = road()
    assert len(found.files) <= FILES, [*found.files]
    assert len(found.functions) <= FUNCTIONS, [code.co_qualname for code in found.functions]


def test_a_first_run_enters_no_file_that_it_does_not_need() -> None:
    """What a run has none of, such as a failure, a snapshot or earlier paths, costs a reader no file."""
    command = [sys.executable, "-m", "benchmarks.road", "--first"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    files = [line.partition(":")[0] for line in found if ".py: " in line]
    assert len(files) <= OF_A_FIRST_RUN, files
    assert "runner/path.py" in files
    absent = {
        "campaign/confirm.py",
        "campaign/believed.py",
        "shrink/defects.py",
        "adapter/board.py",
        "runner/boot_hook.py",
    }
    assert not absent.intersection(files)
