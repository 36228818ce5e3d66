"""Every test of the plugin runs pytest in a folder of its own."""

import pytest

# the modules that a run inside a test imports go with it, but `otf` keeps what it fetched from them: the next run would
# have two of every class
import otf.adapters
import otf.campaign
import otf.models.coffee
import otf.pytest_plugin.running
import otf.pytest_plugin.talking  # noqa: F401
from tests.plugin.session import Session


@pytest.fixture
def session(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Session:
    """Return a folder for tests, in which pytest can be run."""
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    return Session(pytester)
