"""The road of a step stays short: somebody who takes the project over has to hold it in the head."""

from __future__ import annotations

import sys

import pytest

from benchmarks.road import road

FILES = 25
FUNCTIONS = 121


@pytest.mark.real
@pytest.mark.skipif(sys.platform != "linux", reason="silence is observed on Linux only")
def test_a_warm_strict_step_enters_few_files_and_functions() -> None:
    """The conference, observed, the third path."""
    found = road()
    assert len(found.files) <= FILES, [*found.files]
    assert len(found.functions) <= FUNCTIONS, [code.co_qualname for code in found.functions]
