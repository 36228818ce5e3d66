"""Every test of the plugin runs pytest in a folder of its own."""

import pytest

from tests.plugin.session import Session


@pytest.fixture
def session(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Session:
    """Return a folder for tests, in which pytest can be run."""
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    return Session(pytester)
