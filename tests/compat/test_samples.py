"""PyModel's own sample directories, where they are given: `pytest tests/compat --data DIR`."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.pymodel import CASES, found
from otf.compat.pymodel import load


@pytest.fixture
def data(request: pytest.FixtureRequest) -> Path:
    """The folder `samples` of the fork."""
    given = request.config.getoption("--data")
    if given is None:
        pytest.skip("no --data DIR: the sample directories of PyModel's fork are not part of this project")
    return Path(str(given))


def test_every_exploration_has_the_numbers_of_pymodel(data: Path) -> None:
    """States, transitions, accepting, unsafe and finished states, and dead ends are those of its analyzer."""
    for case in CASES:
        assert found(data, case) == (*case.numbers, True), case


def test_every_sample_directory_loads(data: Path) -> None:
    """All eleven sample directories load, also modules that are not explored."""
    assert len({case.folder for case in CASES} | {"populations"}) == 11
    for config in ((), ("domains9",), ("domainsx",), ("filter3",), ("filter3_lc",)):
        spec = load("populations", *config, folder=data / "populations").spec
        assert [call.name for call in spec.inputs(spec.initial)] == ["add"]
